// Parts of statements that SQLite stores write by themselves, without a plan.
extension SQLSchema {
    static func identifier(_ name: String) -> String { SQLiteDialect.identifier(name) }

    /// A row's version in the form of snapshots.
    static let rowVersion = SQLiteDialect().version("Z_OPT")
}
