import Foundation

/// The names of the tables through which a store's history is read.
///
/// The tables exist only within statements: a store says, as common table expressions, which of its
/// own columns they show.
struct HistoryNaming: TableNaming {
    static let transactions = "history_transaction"
    static let changes = "history_change"
    /// The column of the changed properties, in the store's own form.
    static let changedProperties = "changed_properties"

    /// Returns the column of one preserved value of a deleted row.
    static func tombstone(_ index: Int) -> String { "tombstone\(index)" }

    var key: String { "key" }
    var entity: String { "entity_number" }
    var numbersSingleEntities: Bool { false }
    var followsNumbers: Bool { false }
    var version: String { "version" }
    var reservedTables: [String: String] { [:] }
    var numbersJoinColumns: Bool { false }

    func table(_ root: EntityLayout) -> String {
        root === HistoryModel.transaction ? Self.transactions : Self.changes
    }

    /// `TRANSACTION` is a word of SQL.
    static let transactionKey = "transaction_key"

    func column(_ property: PropertySlot) -> String {
        property.kind == .toOne ? Self.transactionKey : property.name
    }

    // The model has neither subentities nor ordered, one-sided or many-to-many relationships.
    func hiddenKey(_ relationship: PropertySlot, of owner: SQLEntity) -> String { relationship.name }
    func entityColumn(ofKey column: String, to destinationNumber: Int) -> String { column }
    func positionColumn(ofKey column: String) -> String { column }
    func joinTable(_ relationship: NSRelationshipDescription, of owner: SQLEntity) -> String {
        relationship.name
    }
    func joinColumn(
        _ relationship: NSRelationshipDescription, inverse: NSRelationshipDescription, of owner: SQLEntity
    ) -> String { relationship.name }
    func reflexiveColumns(_ column: String) -> (owner: String, destination: String) { (column, column) }
    func positionColumn(ofJoinColumn column: String) -> String { column }
    func keyIndex(_ table: String, _ column: String) -> String { column }
    func entityIndex(_ table: String) -> String { table }
    func joinIndex(_ table: String, _ column: String) -> String { column }
    func index(_ name: String, of entity: String) -> String { name }
    func uniqueIndex(_ constraint: [String], of entity: String) -> String { entity }
}
