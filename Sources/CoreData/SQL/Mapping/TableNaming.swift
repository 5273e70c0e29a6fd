/// The naming rules for tables, columns and indexes of all stores of a kind.
///
/// The mapping appends numbers to names that repeat.
package protocol TableNaming: Sendable {
    // MARK: Columns that every table has

    /// The column of primary keys.
    var key: String { get }
    /// The column of entity numbers.
    var entity: String { get }
    /// Whether tables of one entity have a column of entity numbers too.
    var numbersSingleEntities: Bool { get }
    /// Whether repeated names and the names of join tables are assigned in the order of the
    /// entities' numbers in the store.
    ///
    /// Otherwise the order of the model decides.
    var followsNumbers: Bool { get }
    /// The column of versions.
    var version: String { get }
    /// Returns the column of primary keys in the table of a hierarchy.
    func key(of root: EntityLayout) -> String
    /// Returns the column of entity numbers in the table of a hierarchy.
    func entity(of root: EntityLayout) -> String
    /// Returns the column of versions in the table of a hierarchy.
    func version(of root: EntityLayout) -> String
    /// Whether a statement that changes a row of a hierarchy writes its version. Otherwise the
    /// database maintains it.
    func writesVersions(of root: EntityLayout) -> Bool
    /// The columns that the database adds to every table.
    var reservedColumns: [String] { get }
    /// The tables that exist anyway: the description of each table's owner, by table name.
    var reservedTables: [String: String] { get }
    /// Whether repeated names of companion columns, indexes and triggers get numbers too.
    ///
    /// Otherwise they have the names that the rules give, on which other programs rely.
    var numbersAllNames: Bool { get }

    // MARK: Entities and properties

    /// Returns the table of a hierarchy.
    func table(_ root: EntityLayout) -> String
    /// Returns the column of a property.
    ///
    /// - Parameter property: the name of the property; for an element of a composite attribute,
    ///   with the names of the composites that contain it.
    func column(_ property: PropertySlot) -> String
    /// Returns the column, in the destination's rows, that holds the owner's key of a to-many
    /// relationship without an inverse.
    func hiddenKey(_ relationship: PropertySlot, of owner: SQLEntity) -> String
    /// Returns the column for the entity number of the row that a key refers to.
    func entityColumn(ofKey column: String, to destinationNumber: Int) -> String
    /// Returns the column for the entity number of a relationship's destination.
    func entityColumn(of relationship: PropertySlot, key column: String, to destinationNumber: Int) -> String
    /// Returns the column of positions in the ordered relationship that a key stores.
    func positionColumn(ofKey column: String) -> String
    /// Returns the same column in the rows that have the key.
    func positionColumn(of relationship: PropertySlot, key column: String) -> String

    // MARK: Join tables

    /// Returns the join table of a relationship.
    func joinTable(_ relationship: NSRelationshipDescription, of owner: SQLEntity) -> String
    /// Returns the column of the owner's keys.
    func joinColumn(_ relationship: NSRelationshipDescription, inverse: NSRelationshipDescription, of owner: SQLEntity)
        -> String
    /// Whether all join tables have different column names.
    var numbersJoinColumns: Bool { get }
    /// Returns the columns of the owner's and the destination's keys of a relationship that is its
    /// own inverse.
    ///
    /// - Parameter column: the name that both columns would have.
    func reflexiveColumns(_ column: String) -> (owner: String, destination: String)
    /// Returns the column of positions among the rows that a column of a join table refers to.
    func positionColumn(ofJoinColumn column: String) -> String
    /// Returns the same column for the ordered relationship that refers to these rows.
    func positionColumn(of relationship: NSRelationshipDescription, joinColumn column: String) -> String

    // MARK: Indexes

    func keyIndex(_ table: String, _ column: String) -> String
    func entityIndex(_ table: String) -> String
    func joinIndex(_ table: String, _ column: String) -> String
    func index(_ name: String, of entity: String) -> String
    func uniqueIndex(_ constraint: [String], of entity: String) -> String
    /// Returns the indexes that the database creates itself for tables.
    func ownIndexes(of tables: [String]) -> [String]
    /// Returns the name from which the names of a derived attribute's triggers are made.
    func trigger(_ attribute: PropertySlot, of table: String) -> String
}

// All tables follow the same naming rules, except where a table was named by another program.
extension TableNaming {
    package func key(of root: EntityLayout) -> String { key }
    package func entity(of root: EntityLayout) -> String { entity }
    package func version(of root: EntityLayout) -> String { version }
    package func writesVersions(of root: EntityLayout) -> Bool { true }
    package func entityColumn(of relationship: PropertySlot, key column: String, to destinationNumber: Int) -> String {
        entityColumn(ofKey: column, to: destinationNumber)
    }
    package func positionColumn(of relationship: PropertySlot, key column: String) -> String {
        positionColumn(ofKey: column)
    }
    package func positionColumn(of relationship: NSRelationshipDescription, joinColumn column: String) -> String {
        positionColumn(ofJoinColumn: column)
    }
    package var reservedColumns: [String] { [] }
    package var numbersAllNames: Bool { false }
    package func ownIndexes(of tables: [String]) -> [String] { [] }
    package func trigger(_ attribute: PropertySlot, of table: String) -> String { table + "_" + attribute.name }
}
