import Foundation

/// The tables, columns and entity numbers of an existing store.
struct SQLiteSchemaReader {
    /// The columns of each table, in order.
    var columns: [String: [String]] = [:]
    /// The entity numbers by name, from `Z_PRIMARYKEY`.
    var entityNumbers: [String: Int] = [:]

    static func read(_ connection: SQLiteConnection) throws -> SQLiteSchemaReader {
        var schema = SQLiteSchemaReader()
        try connection.query(
            "SELECT m.name, p.name FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table' "
                + "ORDER BY m.name, p.cid"
        ) { row in
            guard let table = row.string(0), let column = row.string(1) else { return }
            schema.columns[table, default: []].append(column)
        }
        guard schema.columns["Z_PRIMARYKEY"] != nil else { return schema }
        try connection.query("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY") { row in
            // Entity numbers are small; anything else is damage.
            guard let name = row.string(0), (1...100_000).contains(row.int64(1)) else { return }
            schema.entityNumbers[name] = Int(row.int64(1))
        }
        return schema
    }
}
