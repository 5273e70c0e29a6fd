import CoreData
import Foundation

/// The names of external tables and their columns, from the model's user info.
///
/// Where the user info has no name, the name is one that people write by hand.
struct ExternalNaming: TableNaming {
    /// The user info keys that hold names.
    enum Word {
        /// On an entity: its table. The key of the root entity counts.
        static let table = "ocd.table"
        /// On an entity: the column of keys.
        static let key = "ocd.key"
        /// On an entity: the column of versions.
        static let version = "ocd.version"
        /// On an entity: the sequence that keys are taken from.
        static let sequence = "ocd.sequence"
        /// On an entity: the column of entity numbers. On a relationship: the column with the
        /// entity number of the destination.
        static let entity = "ocd.entity"
        /// On an entity of a hierarchy: its number.
        static let entityNumber = "ocd.entityNumber"
        /// On an attribute: its column. On a relationship: the column of the keys that it refers
        /// to.
        static let column = "ocd.column"
        /// On one side of a many-to-many relationship: the join table.
        static let joinTable = "ocd.joinTable"
        /// On an ordered relationship: the column of positions.
        static let position = "ocd.position"
    }

    /// The server's own column in each row: the number of the transaction that wrote the row.
    static let transactionColumn = "xmin"

    private let standard = SnakeCaseNaming()
    let catalog: PostgreSQLCatalog
    /// Whether rows are only read, so that they need no versions.
    let isReadOnly: Bool

    static func text(_ word: String, _ userInfo: [AnyHashable: Any]?) -> String? {
        (userInfo?[word] as? String).flatMap { $0.isEmpty ? nil : $0 }
    }

    private func name(_ word: String, _ property: NSPropertyDescription) -> String? {
        Self.text(word, property.userInfo)
    }

    // MARK: Columns of every table

    var key: String { standard.key }
    var entity: String { standard.entity }
    var numbersSingleEntities: Bool { false }
    var followsNumbers: Bool { false }
    var version: String { Self.transactionColumn }
    var reservedTables: [String: String] { [:] }

    func key(of root: EntityLayout) -> String { Self.text(Word.key, root.entity.userInfo) ?? key }
    func entity(of root: EntityLayout) -> String { Self.text(Word.entity, root.entity.userInfo) ?? entity }
    func version(of root: EntityLayout) -> String {
        if let name = Self.text(Word.version, root.entity.userInfo) { return name }
        // A view has no such column.
        return isReadOnly && !catalog.isTable(table(root)) ? key(of: root) : version
    }

    func writesVersions(of root: EntityLayout) -> Bool {
        guard let column = Self.text(Word.version, root.entity.userInfo) else { return false }
        return column != Self.transactionColumn && catalog.type(column, of: table(root)) != WireType.xid
    }

    // MARK: Entities and properties

    func table(_ root: EntityLayout) -> String { Self.text(Word.table, root.entity.userInfo) ?? standard.table(root) }
    func column(_ property: PropertySlot) -> String {
        name(Word.column, property.property) ?? standard.column(property)
    }
    func hiddenKey(_ relationship: PropertySlot, of owner: SQLEntity) -> String {
        name(Word.column, relationship.property) ?? standard.hiddenKey(relationship, of: owner)
    }
    func entityColumn(ofKey column: String, to destinationNumber: Int) -> String {
        standard.entityColumn(ofKey: column, to: destinationNumber)
    }
    func entityColumn(of relationship: PropertySlot, key column: String, to destinationNumber: Int) -> String {
        name(Word.entity, relationship.property) ?? standard.entityColumn(ofKey: column, to: destinationNumber)
    }
    func positionColumn(ofKey column: String) -> String { standard.positionColumn(ofKey: column) }
    func positionColumn(of relationship: PropertySlot, key column: String) -> String {
        name(Word.position, relationship.property) ?? standard.positionColumn(ofKey: column)
    }

    // MARK: Join tables

    func joinTable(_ relationship: NSRelationshipDescription, of owner: SQLEntity) -> String {
        name(Word.joinTable, relationship) ?? relationship.inverseRelationship.flatMap { name(Word.joinTable, $0) }
            ?? standard.joinTable(relationship, of: owner)
    }
    /// Returns the column that the inverse names, because the inverse refers back to the owner.
    func joinColumn(_ relationship: NSRelationshipDescription, inverse: NSRelationshipDescription, of owner: SQLEntity)
        -> String
    {
        name(Word.column, inverse) ?? standard.joinColumn(relationship, inverse: inverse, of: owner)
    }
    var numbersJoinColumns: Bool { false }
    func reflexiveColumns(_ column: String) -> (owner: String, destination: String) {
        standard.reflexiveColumns(column)
    }
    func positionColumn(ofJoinColumn column: String) -> String { standard.positionColumn(ofJoinColumn: column) }
    func positionColumn(of relationship: NSRelationshipDescription, joinColumn column: String) -> String {
        name(Word.position, relationship) ?? standard.positionColumn(ofJoinColumn: column)
    }

    // MARK: Indexes

    // No indexes are made.
    func keyIndex(_ table: String, _ column: String) -> String { standard.keyIndex(table, column) }
    func entityIndex(_ table: String) -> String { standard.entityIndex(table) }
    func joinIndex(_ table: String, _ column: String) -> String { standard.joinIndex(table, column) }
    func index(_ name: String, of entity: String) -> String { standard.index(name, of: entity) }
    func uniqueIndex(_ constraint: [String], of entity: String) -> String {
        standard.uniqueIndex(constraint, of: entity)
    }
}
