/// Names of tables and columns as people who write SQL by hand would choose them.
struct SnakeCaseNaming: TableNaming {
    var key: String { "id" }
    var entity: String { "entity" }
    var numbersSingleEntities: Bool { false }
    var version: String { "version" }
    var reservedTables: [String: String] { ["keys": "OpenCoreData"] }

    static func words(_ name: String) -> String {
        var result = ""
        for character in name.replacingOccurrences(of: ".", with: "_") {
            if character.isUppercase, !result.isEmpty, result.last != "_" { result += "_" }
            result += character.lowercased()
        }
        return result
    }

    func table(_ root: EntityLayout) -> String { Self.words(root.name) }
    func column(_ property: PropertySlot) -> String { Self.words(property.name) + (property.kind == .toOne ? "_id" : "") }
    func hiddenKey(_ relationship: PropertySlot, of owner: SQLEntity) -> String {
        Self.words(owner.layout.name) + "_" + Self.words(relationship.name) + "_id"
    }
    func entityColumn(ofKey column: String, to destinationNumber: Int) -> String { column.dropLast(3) + "_entity" }
    func positionColumn(ofKey column: String) -> String { column.dropLast(3) + "_pos" }
    func joinTable(_ relationship: NSRelationshipDescription, of owner: SQLEntity) -> String {
        Self.words(owner.layout.name) + "_" + Self.words(relationship.name)
    }
    func joinColumn(_ relationship: NSRelationshipDescription, inverse: NSRelationshipDescription, of owner: SQLEntity) -> String {
        Self.words(owner.layout.name) + "_" + Self.words(relationship.name) + "_id"
    }
    func reflexiveColumn(_ relationship: NSRelationshipDescription, of owner: SQLEntity) -> String { "owner_id" }
    func positionColumn(ofJoinColumn column: String) -> String { column.dropLast(3) + "_pos" }
    func keyIndex(_ table: String, _ column: String) -> String { "\(table)_\(column)" }
    func entityIndex(_ table: String) -> String { "\(table)_entity" }
    func joinIndex(_ table: String, _ column: String) -> String { "\(table)_\(column)" }
    func index(_ name: String, of entity: String) -> String { Self.words(entity) + "_" + Self.words(name) }
    func uniqueIndex(_ constraint: [String], of entity: String) -> String {
        Self.words(entity) + "_unique_" + constraint.map(Self.words).joined(separator: "_")
    }
}
