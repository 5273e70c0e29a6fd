/// How tables, columns and indexes are named: one rule book for all stores of a kind.
///
/// Names that repeat get a number behind them; the mapping sees to that.
package protocol TableNaming: Sendable {
    // MARK: Columns that every table has

    /// The column of keys.
    var key: String { get }
    /// The column of entity numbers.
    var entity: String { get }
    /// Whether tables of one entity have a column of entity numbers too.
    var numbersSingleEntities: Bool { get }
    /// Whether names that repeat, and the names of join tables, are given out by the entities' numbers in the store. Otherwise numbers do not
    /// matter: the order of the model counts.
    var followsNumbers: Bool { get }
    /// The column of versions.
    var version: String { get }
    /// The column of keys in the table of a hierarchy.
    func key(of root: EntityLayout) -> String
    /// The column of entity numbers in the table of a hierarchy.
    func entity(of root: EntityLayout) -> String
    /// The column of versions in the table of a hierarchy.
    func version(of root: EntityLayout) -> String
    /// Whether who changes a row of a hierarchy writes its version. The database may keep it by itself.
    func writesVersions(of root: EntityLayout) -> Bool
    /// Columns that every table of the database has without being asked.
    var reservedColumns: [String] { get }
    /// Tables that are there anyway: whose they are, by name.
    var reservedTables: [String: String] { get }
    /// Whether companions of columns, indexes and triggers whose names repeat get numbers too. Otherwise they have the names that the rules
    /// give, which others rely on.
    var numbersAllNames: Bool { get }

    // MARK: Entities and properties

    /// The table of a hierarchy.
    func table(_ root: EntityLayout) -> String
    /// The column of a property.
    ///
    /// - Parameter property: the name of the property, or of the element of a composite attribute with those it lies in.
    func column(_ property: PropertySlot) -> String
    /// The column, in the rows of the destination, that holds the owner's key of a to-many relationship without an inverse.
    func hiddenKey(_ relationship: PropertySlot, of owner: SQLEntity) -> String
    /// The column that says of which entity the row is that a key leads to.
    func entityColumn(ofKey column: String, to destinationNumber: Int) -> String
    /// The column that says of which entity the destination of a relationship is.
    func entityColumn(of relationship: PropertySlot, key column: String, to destinationNumber: Int) -> String
    /// The column of positions in the ordered relationship that a key serves.
    func positionColumn(ofKey column: String) -> String
    /// The same, in the rows that have the key.
    func positionColumn(of relationship: PropertySlot, key column: String) -> String

    // MARK: Join tables

    /// The table of pairs of a relationship.
    func joinTable(_ relationship: NSRelationshipDescription, of owner: SQLEntity) -> String
    /// The column of the owner's keys.
    func joinColumn(_ relationship: NSRelationshipDescription, inverse: NSRelationshipDescription, of owner: SQLEntity) -> String
    /// Whether no two join tables have a column of the same name.
    var numbersJoinColumns: Bool { get }
    /// The columns of the owner's and the destination's keys of a relationship that is its own inverse.
    ///
    /// - Parameter column: the one that both would have.
    func reflexiveColumns(_ column: String) -> (owner: String, destination: String)
    /// The column of positions among the rows that a column of a join table leads to.
    func positionColumn(ofJoinColumn column: String) -> String
    /// The same, for the ordered relationship that leads to them.
    func positionColumn(of relationship: NSRelationshipDescription, joinColumn column: String) -> String

    // MARK: Indexes

    func keyIndex(_ table: String, _ column: String) -> String
    func entityIndex(_ table: String) -> String
    func joinIndex(_ table: String, _ column: String) -> String
    func index(_ name: String, of entity: String) -> String
    func uniqueIndex(_ constraint: [String], of entity: String) -> String
    /// Indexes that the database makes by itself for tables.
    func ownIndexes(of tables: [String]) -> [String]
    /// What the triggers of a derived attribute are named after.
    func trigger(_ attribute: PropertySlot, of table: String) -> String
}

// All tables are named by the same rules, unless somebody else has named them.
extension TableNaming {
    package func key(of root: EntityLayout) -> String { key }
    package func entity(of root: EntityLayout) -> String { entity }
    package func version(of root: EntityLayout) -> String { version }
    package func writesVersions(of root: EntityLayout) -> Bool { true }
    package func entityColumn(of relationship: PropertySlot, key column: String, to destinationNumber: Int) -> String {
        entityColumn(ofKey: column, to: destinationNumber)
    }
    package func positionColumn(of relationship: PropertySlot, key column: String) -> String { positionColumn(ofKey: column) }
    package func positionColumn(of relationship: NSRelationshipDescription, joinColumn column: String) -> String {
        positionColumn(ofJoinColumn: column)
    }
    package var reservedColumns: [String] { [] }
    package var numbersAllNames: Bool { false }
    package func ownIndexes(of tables: [String]) -> [String] { [] }
    package func trigger(_ attribute: PropertySlot, of table: String) -> String { table + "_" + attribute.name }
}
