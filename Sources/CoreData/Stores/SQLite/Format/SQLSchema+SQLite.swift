// What statements of SQLite stores say for themselves, beside those that plans make.
extension SQLSchema {
    static func identifier(_ name: String) -> String { SQLiteDialect.identifier(name) }

    /// A row's version as snapshots keep it.
    static let rowVersion = SQLiteDialect().version("Z_OPT")
}
