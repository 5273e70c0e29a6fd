import CoreData

/// Infers a model from the tables of a store that contains no model.
///
/// Properties have the names of the columns in lower case, because the tables do not keep their
/// spelling. Types are the declared ones. The columns of subentities are in the table of their root
/// entity and cannot be assigned to the subentities: the root entity has them all.
struct InferredModel {
    private let contents: StoreCatalog
    private let reader: SQLiteReader
    private var descriptions: [Int: NSEntityDescription] = [:]

    init(_ contents: StoreCatalog, reader: SQLiteReader) {
        self.contents = contents
        self.reader = reader
    }

    mutating func model() throws -> NSManagedObjectModel {
        for entity in contents.entities where contents.table(of: entity) != nil {
            let description = NSEntityDescription()
            description.name = entity.name
            descriptions[entity.number] = description
        }
        linkHierarchy()
        for entity in contents.entities where descriptions[entity.number]?.superentity == nil {
            guard let description = descriptions[entity.number], let table = contents.table(of: entity) else {
                continue
            }
            description.properties = try properties(of: table)
        }
        addJoins()
        addHiddenKeys()
        let model = NSManagedObjectModel()
        model.entities = contents.entities.compactMap { descriptions[$0.number] }
        return model
    }

    private func linkHierarchy() {
        var subentities: [Int: [NSEntityDescription]] = [:]
        for entity in contents.entities where entity.superNumber != 0 && !isInCycle(entity) {
            guard let description = descriptions[entity.number] else { continue }
            subentities[entity.superNumber, default: []].append(description)
        }
        for (number, list) in subentities { descriptions[number]?.subentities = list }
    }

    /// Whether the superentities of an entity form a cycle, which occurs only in a damaged store.
    private func isInCycle(_ entity: StoreCatalog.Entity) -> Bool {
        var seen: Set<Int> = [entity.number]
        var next = entity.superNumber
        while next != 0 {
            if !seen.insert(next).inserted { return true }
            next = contents.entities.first { $0.number == next }?.superNumber ?? 0
        }
        return false
    }

    // MARK: Columns

    private func properties(of table: String) throws -> [NSPropertyDescription] {
        let columns = contents.columns(of: table)
        var properties: [NSPropertyDescription] = []
        var names: Set<String> = []
        for column in columns where column.name.uppercased().hasPrefix("Z") && !column.name.hasPrefix("Z_") {
            // `Z10_QUOTE` holds the entity number of the destination of `ZQUOTE`.
            if Self.entityNumber(inColumn: column.name) != nil { continue }
            if hiddenKey(column, in: table) != nil { continue }
            let name = column.name.dropFirst().lowercased()
            guard !name.isEmpty, names.insert(name).inserted else { continue }
            if let destination = try destination(of: column, in: table) {
                properties.append(relationship(name, to: destination, maxCount: 1))
            } else {
                let attribute = NSAttributeDescription()
                attribute.name = name
                attribute.attributeType = try type(of: column, in: table)
                properties.append(attribute)
            }
        }
        return properties
    }

    private func type(of column: StoreCatalog.Column, in table: String) throws -> NSAttributeType {
        switch column.type {
        case "INTEGER": return .integer64AttributeType
        case "FLOAT", "REAL", "DOUBLE": return .doubleAttributeType
        case "TIMESTAMP": return .dateAttributeType
        case "DECIMAL": return .decimalAttributeType
        case "VARCHAR": return .stringAttributeType
        default: return try holdsOnlyUUIDs(column, in: table) ? .UUIDAttributeType : .binaryDataAttributeType
        }
    }

    /// A query of the first rows of a table, which show what a column holds.
    private func firstRows(_ table: String) -> String {
        "(SELECT * FROM \(SQLiteReader.identifier(table)) LIMIT \(2 * RowSample.size))"
    }

    /// Whether a column of bytes has values in the first rows, and all of them 16 bytes long.
    private func holdsOnlyUUIDs(_ column: StoreCatalog.Column, in table: String) throws -> Bool {
        let name = SQLiteReader.identifier(column.name)
        let row = try reader.rows(
            "SELECT count(*), min(length(\(name))), max(length(\(name))) FROM \(firstRows(table)) "
                + "WHERE \(name) IS NOT NULL"
        ).first
        return row?[1].integer == 16 && row?[2].integer == 16
    }

    // MARK: Relationships

    /// Returns the entity number in a name such as `Z10_QUOTE`.
    private static func entityNumber(inColumn name: String) -> Int? {
        numbered(name, after: "Z").flatMap { $0.name.first == "_" ? $0.number : nil }
    }

    /// Returns the destination entity of a to-one column, if the tables show it; nil for an
    /// attribute.
    private func destination(of column: StoreCatalog.Column, in table: String) throws -> NSEntityDescription? {
        guard column.type == "INTEGER" else { return nil }
        let tail = "_" + column.name.dropFirst()
        for other in contents.columns(of: table) where other.name.hasSuffix(tail) {
            if let number = Self.entityNumber(inColumn: other.name), other.name == "Z\(number)\(tail)" {
                return descriptions[number]
            }
        }
        guard contents.indexNames.contains("\(table)_\(column.name)_INDEX") else { return nil }
        let name = column.name.dropFirst()
        if let sameName = contents.entities.first(where: { $0.name.uppercased() == name }) {
            return descriptions[sameName.number]
        }
        // If the store has one hierarchy, that is the only possible destination. Old frameworks
        // named the index of an attribute in the same way, though: in doubt the column is an
        // attribute.
        let roots = contents.entities.filter { $0.superNumber == 0 }
        guard roots.count == 1, isBehindIntegers(column, in: table), try leadsToOtherRows(column, in: table) else {
            return nil
        }
        return descriptions[roots[0].number]
    }

    /// Whether a column has the position of a relationship's column: after all integers of its
    /// entity. For a table with subentities, whose integers follow, this is unknown.
    private func isBehindIntegers(_ column: StoreCatalog.Column, in table: String) -> Bool {
        if contents.entities.contains(where: { $0.superNumber != 0 }) { return true }
        let following = contents.columns(of: table).drop { $0.name != column.name }.prefix { $0.type == "INTEGER" }
        return following.allSatisfy { other in
            other.name.hasPrefix("Z_") || Self.entityNumber(inColumn: other.name) != nil
                || contents.indexNames.contains("\(table)_\(other.name)_INDEX")
        }
    }

    /// Whether a column has values in the first rows, and all of them are keys of other rows of the
    /// table.
    private func leadsToOtherRows(_ column: StoreCatalog.Column, in table: String) throws -> Bool {
        let (name, rows) = (SQLiteReader.identifier(column.name), SQLiteReader.identifier(table))
        let row = try reader.rows(
            "SELECT count(*), count(CASE WHEN t.Z_PK <> t.\(name) AND EXISTS (SELECT 1 FROM \(rows) d WHERE d.Z_PK = "
                + "t.\(name)) THEN 1 END) "
                + "FROM \(firstRows(table)) t WHERE t.\(name) IS NOT NULL"
        ).first
        guard let count = row?[0].integer else { return false }
        return count > 0 && row?[1].integer == count
    }

    private func relationship(_ name: String, to destination: NSEntityDescription, maxCount: Int)
        -> NSRelationshipDescription
    {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        relationship.maxCount = maxCount
        return relationship
    }

    /// Reads many-to-many relationships from join tables such as `Z_4CARS(Z_4OWNERS, Z_1CARS)`. A
    /// column has the name of the relationship whose destinations it holds.
    private func addJoins() {
        for (table, columns) in contents.tables.sorted(by: { $0.key < $1.key }) {
            guard let owner = Self.numbered(table), let ownerEntity = descriptions[owner.number] else { continue }
            let sides = columns.filter { !$0.name.hasPrefix("Z_FOK_") }.compactMap { column in
                Self.numbered(column.name).map { (column: column.name, side: $0) }
            }
            guard sides.count == 2,
                let second = sides.first(where: { $0.side.name == owner.name || $0.side.name == owner.name + "1" }),
                let first = sides.first(where: { $0.column != second.column }), first.side.number == owner.number,
                let destination = descriptions[second.side.number]
            else { continue }
            let ordered = columns.contains { $0.name == "Z_FOK_" + second.column.dropFirst(2) }
            let forward = relationship(owner.name.lowercased(), to: destination, maxCount: 0)
            forward.isOrdered = ordered
            guard add(forward, to: ownerEntity) else { continue }
            // The column of a relationship without an inverse has the owner's name.
            if first.side.name == (ownerEntity.name ?? "").uppercased() { continue }
            let backward = relationship(first.side.name.lowercased(), to: ownerEntity, maxCount: 0)
            backward.isOrdered = columns.contains { $0.name == "Z_FOK_" + first.column.dropFirst(2) }
            guard add(backward, to: destination) else { continue }
            forward.inverseRelationship = backward
            backward.inverseRelationship = forward
        }
    }

    /// Returns the relationship without an inverse for a column such as `Z3ITEMS`, which holds the
    /// owner: a to-many relationship of entity 3.
    private func hiddenKey(
        _ column: StoreCatalog.Column, in table: String
    ) -> (owner: NSEntityDescription, name: String)? {
        guard column.type == "INTEGER", let (number, name) = Self.numbered(column.name, after: "Z"), name.first != "_",
            contents.indexNames.contains("\(table)_\(column.name)_INDEX"), let owner = descriptions[number]
        else { return nil }
        return (owner, name.lowercased())
    }

    private func addHiddenKeys() {
        for entity in contents.entities where entity.superNumber == 0 {
            guard let destination = descriptions[entity.number], let table = contents.table(of: entity) else {
                continue
            }
            let columns = contents.tables[table] ?? []
            for column in columns {
                guard let key = hiddenKey(column, in: table) else { continue }
                let found = relationship(key.name, to: destination, maxCount: 0)
                found.isOrdered = columns.contains { $0.name == "Z_FOK_" + column.name.dropFirst() }
                _ = add(found, to: key.owner)
            }
        }
    }

    private func add(_ relationship: NSRelationshipDescription, to entity: NSEntityDescription) -> Bool {
        guard entity.propertiesByName[relationship.name] == nil else { return false }
        entity.properties += [relationship]
        return true
    }

    /// Returns the parts of a name such as `Z_4CARS`.
    private static func numbered(_ name: String, after prefix: String = "Z_") -> (number: Int, name: String)? {
        guard name.hasPrefix(prefix) else { return nil }
        let rest = name.dropFirst(prefix.count)
        let digits = rest.prefix(while: \.isNumber)
        guard let number = Int(digits), rest.count > digits.count else { return nil }
        return (number, String(rest.dropFirst(digits.count)))
    }
}
