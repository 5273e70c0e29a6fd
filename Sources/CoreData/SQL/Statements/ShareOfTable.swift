/// Measures how many rows of a table belong to a range of owners.
struct ShareOfTable {
    /// The minimum number of owners: with fewer, measuring takes longer than it saves.
    static let fewestOwners = 64

    let lastKey: String
    let rows: String

    /// Nil for rows with an explicit order, and where the owners are no range.
    init?(_ statement: RelatedRowsStatement, _ owners: SQLKeys.Form, _ mapping: SQLMapping) {
        guard owners == .range, let foreignKey = statement.foreignKey else { return nil }
        let dialect = mapping.dialect
        let table = dialect.identifier(foreignKey.table)
        lastKey = "SELECT max(\(dialect.identifier(mapping.naming.key))) FROM \(table)"
        // Counted in the index alone, and only as far as needed.
        rows =
            "SELECT count(*) FROM (SELECT 1 FROM \(table) WHERE \(dialect.identifier(foreignKey.column)) "
            + "\(dialect.keyCondition(owners)) LIMIT \(dialect.placeholder(3)))"
    }
}
