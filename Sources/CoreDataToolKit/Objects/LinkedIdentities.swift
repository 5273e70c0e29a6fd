import CoreData

/// The members of a to-many relationship for objects in the order of their keys.
///
/// The pairs of all objects are read side by side with the objects, in one statement.
final class LinkedIdentities {
    struct Plan {
        let link: StoreInspection.ToManyLink
        /// The names of the entities that members can have, by number.
        let entities: [Int64: String]

        fileprivate var statement: String {
            let owner = "l." + SQLiteReader.identifier(link.ownerColumn)
            let member = "l." + SQLiteReader.identifier(link.memberColumn)
            let order = link.orderColumn.map { "l.\(SQLiteReader.identifier($0)), " } ?? ""
            let table = SQLiteReader.identifier(link.table)
            if link.table == link.memberTable, link.memberColumn == "Z_PK" {
                return "SELECT \(owner), \(member), l.Z_ENT FROM \(table) l WHERE \(owner) IS NOT NULL "
                    + "ORDER BY \(owner), \(order)\(member)"
            }
            // Pairs without a member lead to nothing.
            return "SELECT \(owner), \(member), m.Z_ENT FROM \(table) l "
                + "JOIN \(SQLiteReader.identifier(link.memberTable)) m ON m.Z_PK = \(member) "
                + "WHERE \(owner) IS NOT NULL ORDER BY \(owner), \(order)\(member)"
        }
    }

    private let rows: SQLiteReader.Cursor
    private let entities: [Int64: String]
    private let only: String?
    private var next: [SQLiteReader.Value]?

    init(_ plan: Plan, _ reader: SQLiteReader) throws {
        rows = try reader.cursor(plan.statement)
        entities = plan.entities
        only = entities.count == 1 ? entities.values.first : nil
        next = try rows.next()
    }

    /// Returns the identities of an object's members.
    ///
    /// - Parameter key: a greater key than in the call before.
    func members(of key: Int64) throws -> [JSONValue] {
        var members: [JSONValue] = []
        while let row = next {
            // Values of other types are no keys; they come after all numbers.
            guard let owner = row[0].integer, owner <= key else { break }
            if owner == key, let member = row[1].integer,
                let entity = only ?? row[2].integer.flatMap({ entities[$0] })
            {
                members.append(.string("\(entity)/p\(member)"))
            }
            next = try rows.next()
        }
        return members
    }
}
