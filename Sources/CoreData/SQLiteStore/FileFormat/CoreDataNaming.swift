/// The names that Core Data gives to tables, columns and indexes. `Documentation/StoreFormat.md`
/// has the rules.
struct CoreDataNaming: TableNaming {
    var key: String { "Z_PK" }
    var entity: String { "Z_ENT" }
    var numbersSingleEntities: Bool { true }
    var followsNumbers: Bool { true }
    var version: String { "Z_OPT" }
    var reservedTables: [String: String] {
        ["Z_PRIMARYKEY": "Core Data", "Z_METADATA": "Core Data", "Z_MODELCACHE": "Core Data"]
    }

    func table(_ root: EntityLayout) -> String { "Z" + root.name.uppercased() }

    func column(_ property: PropertySlot) -> String { "Z" + property.columnName.uppercased() }

    func hiddenKey(_ relationship: PropertySlot, of owner: SQLEntity) -> String {
        "Z\(owner.number)\(relationship.name.uppercased())"
    }

    func entityColumn(ofKey column: String, to destinationNumber: Int) -> String {
        "Z\(destinationNumber)_\(column.dropFirst())"
    }

    func positionColumn(ofKey column: String) -> String { Self.positionPrefix + column.dropFirst() }

    /// The prefix of columns that hold positions.
    static let positionPrefix = "Z_FOK_"

    func joinTable(_ relationship: NSRelationshipDescription, of owner: SQLEntity) -> String {
        "Z_\(owner.number)\(relationship.name.uppercased())"
    }

    func joinColumn(_ relationship: NSRelationshipDescription, inverse: NSRelationshipDescription, of owner: SQLEntity)
        -> String
    {
        "Z_\(owner.number)\(inverse.name.uppercased())"
    }

    var numbersJoinColumns: Bool { true }

    func reflexiveColumns(_ column: String) -> (owner: String, destination: String) { (column, Self.reflexive) }

    static let reflexive = "REFLEXIVE"

    func positionColumn(ofJoinColumn column: String) -> String {
        Self.positionPrefix + (column == Self.reflexive ? column[...] : column.dropFirst(2))
    }

    func keyIndex(_ table: String, _ column: String) -> String { "\(table)_\(column)_INDEX" }
    func entityIndex(_ table: String) -> String { "\(table)_Z_ENT_INDEX" }
    func joinIndex(_ table: String, _ column: String) -> String { "\(table)_\(column)_INDEX" }
    func index(_ name: String, of entity: String) -> String { "Z_\(entity)_\(name)" }
    func uniqueIndex(_ constraint: [String], of entity: String) -> String {
        "Z_\(entity)_UNIQUE_" + constraint.joined(separator: "_")
    }
}
