import Foundation

// Files of external values that were removed.
extension SQLiteMigration {
    private static let unusedFiles = "temp.unused_external_values"

    /// Records the names of unused files in a temporary table, as their number may be large.
    func noteUnusedFiles() throws {
        guard externalFiles != nil else { return }
        let dropped = Set(plan.droppedTables)
        let created = Set(plan.createdTables.compactMap { $0.table?.name })
        func columns(_ tables: [SQLTable], in changed: Set<String>, _ name: (String) -> String) -> [String] {
            tables.filter { changed.contains($0.name) }.flatMap { table in
                table.columns.filter { $0.type == .bytes && $0.allowsExternalStorage }.map { column in
                    let value = SQLSchema.identifier(column.name)
                    return "SELECT \(value) FROM \(SQLSchema.identifier(name(table.name))) "
                        + "WHERE length(\(value)) < 1024 AND substr(\(value), 1, 1) = X'02'"
                }
            }
        }
        let former = columns(plan.source.tables, in: dropped, SQLMigrationPlan.formerName)
        guard !former.isEmpty else { return }
        try connection.execute("CREATE TABLE \(Self.unusedFiles) (value BLOB)")
        let now = columns(plan.target.tables, in: created) { $0 }
        for select in former {
            try connection.execute(
                "INSERT INTO \(Self.unusedFiles) " + ([select] + now).joined(separator: " EXCEPT "))
        }
    }

    /// Returns the files of values that the migration dropped.
    ///
    /// Called after the commit. Errors are ignored: a later sweep finds the files.
    func takeUnusedFiles() -> [String] {
        defer { try? connection.execute("DROP TABLE IF EXISTS \(Self.unusedFiles)") }
        guard externalFiles != nil else { return [] }
        var names: [String] = []
        try? connection.query("SELECT value FROM \(Self.unusedFiles)") { row in
            if let name = row.data(0).flatMap(ExternalColumn.fileName(in:)) { names.append(name) }
        }
        return names
    }
}
