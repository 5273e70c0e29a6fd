import CoreData

/// The members of a to-many relationship for objects in the order in which they are read.
///
/// The pairs of all objects are read side by side with the objects, in one statement.
final class LinkedIdentities {
    struct Plan {
        let link: StoreInspection.ToManyLink
        /// The names of the entities that members can have, by number.
        let entities: [Int64: String]
        /// The column that names members; nil if their keys do.
        let memberName: ObjectPlaces.NameColumn?
        /// The table, entity number and column by which owners are in order; nil for their keys.
        let owners: (table: String, number: Int, column: String)?

        fileprivate var statement: String {
            let owner = "l." + SQLiteReader.identifier(link.ownerColumn)
            let member = "l." + SQLiteReader.identifier(link.memberColumn)
            let isInMember = link.table == link.memberTable && link.memberColumn == "Z_PK"
            let alias = isInMember ? "l" : "m"
            var source = "\(SQLiteReader.identifier(link.table)) l"
            // Pairs without a member lead to nothing.
            if !isInMember { source += " JOIN \(SQLiteReader.identifier(link.memberTable)) m ON m.Z_PK = \(member)" }
            var order = [owner]
            if let owners {
                source += " JOIN \(SQLiteReader.identifier(owners.table)) o ON o.Z_PK = \(owner)"
                source += " AND o.Z_ENT = \(owners.number)"
                order = ["o.\(owners.column)", owner]
            }
            let name = memberName.map { "\(alias).\($0.column)" }
            order += [link.orderColumn.map { "l." + SQLiteReader.identifier($0) }, name, member].compactMap { $0 }
            return "SELECT \(owner), \(member), \(alias).Z_ENT, \(name ?? "NULL") FROM \(source) "
                + "WHERE \(owner) IS NOT NULL ORDER BY \(order.joined(separator: ", "))"
        }
    }

    private let rows: SQLiteReader.Cursor
    private let plan: Plan
    private let decoder: ValueDecoder
    private let only: String?
    private let name: ObjectNameField?
    private var next: [SQLiteReader.Value]?

    init(_ plan: Plan, _ reader: SQLiteReader, _ decoder: ValueDecoder) throws {
        self.plan = plan
        self.decoder = decoder
        rows = try reader.cursor(plan.statement)
        only = plan.entities.count == 1 ? plan.entities.values.first : nil
        name = plan.memberName.map { ObjectNameField(place: 3, type: $0.type) }
        next = try rows.next()
    }

    /// Returns the identities of an object's members.
    ///
    /// - Parameter key: the key of an object behind that of the call before, in the order of
    ///   owners.
    func members(of key: Int64) throws -> [JSONValue] {
        var members: [JSONValue] = []
        while let row = next {
            // Values of other types are no keys; they come after all numbers.
            guard let owner = row[0].integer, owner == key || (plan.owners == nil && owner < key) else { break }
            if owner == key, let member = row[1].integer,
                let entity = only ?? row[2].integer.flatMap({ plan.entities[$0] })
            {
                members.append(.string(ObjectNameField.text(entity, member, name, row, decoder)))
            }
            next = try rows.next()
        }
        return members
    }
}
