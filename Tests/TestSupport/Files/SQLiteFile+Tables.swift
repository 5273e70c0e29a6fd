import Foundation

// Whole tables and schemas.
extension SQLiteFile {
    /// The first column of every row as text, of other values as nothing.
    ///
    /// - Throws: `Failure` when the statement fails.
    public func strings(_ sql: String) throws -> [String] { try cells(sql).map { $0.first?.text ?? "" } }

    /// The names of a table's columns, in their order.
    public func columns(of table: String) throws -> [String] {
        try strings("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid")
    }

    /// A table's rows by their primary keys.
    public func table(_ name: String) throws -> [Int64: [String: SQLiteCell]] {
        let columns = try columns(of: name)
        var result: [Int64: [String: SQLiteCell]] = [:]
        for row in try cells("SELECT * FROM \"\(name)\"") {
            let values = Dictionary(uniqueKeysWithValues: zip(columns, row))
            result[values["Z_PK"]?.integer ?? 0] = values
        }
        return result
    }

    /// Everything that `CREATE` made: type, name, table and statement.
    public func schema() throws -> Set<String> {
        Set(
            try cells("SELECT type, name, tbl_name, sql FROM sqlite_master").map {
                $0.map { $0.text ?? "" }.joined(separator: " | ")
            })
    }
}
