import Foundation

/// Finds the external files that no row names: left by programs that ended in the middle of a save, or before they could
/// remove what they had superseded.
struct ExternalFileSweep {
    let files: ExternalFiles
    let connection: SQLiteConnection

    /// A store with more rows than this in tables with binary columns is looked through only when there is a reason.
    private static let fewRows: Int64 = 20_000

    /// The files that no row names, and that no save is about to name.
    ///
    /// The folder is listed while nobody else writes: a save writes its files under the same lock, so that all that are listed belong
    /// to saves that are over. The rows are read after that; as names are never used again, a file that they do not name will
    /// not be named later.
    ///
    /// - Parameter hasReason: whether a program may have ended without closing the store.
    /// - Throws: when the database cannot be read, or others write to it without an end.
    func unnamedFiles(hasReason: Bool) throws -> Set<String> {
        if files.namesOnDisk().isEmpty || files.isShared() { return [] }
        let columns = try ExternalFileNames.columns(of: connection)
        if !hasReason {
            let rows = try columns.reduce(0) { sum, table in
                sum + (try connection.integer("SELECT count(*) FROM (SELECT 1 FROM \(table.name) LIMIT \(Self.fewRows + 1))") ?? 0)
            }
            if rows > Self.fewRows { return [] }
        }
        let onDisk = try connection.transaction(.immediate) { files.namesOnDisk() }
        return onDisk.subtracting(try ExternalFileNames.inRows(of: connection))
    }
}

/// The external files that the rows of a database name.
enum ExternalFileNames {
    struct Table {
        /// Quoted.
        let name: String
        /// Quoted.
        let columns: [String]
    }

    /// All binary columns of the database, whether the model at hand knows them or not.
    static func columns(of connection: SQLiteConnection) throws -> [Table] {
        var tables: [(name: String, columns: [String])] = []
        try connection.query(
            "SELECT m.name, p.name FROM sqlite_master m JOIN pragma_table_info(m.name) p "
                + "WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' AND upper(p.type) IN ('BLOB', '') "
                + "AND m.name NOT IN ('Z_METADATA', 'Z_MODELCACHE') ORDER BY m.name, p.cid"
        ) { row in
            guard let table = row.string(0), let column = row.string(1) else { return }
            if tables.last?.name != table { tables.append((table, [])) }
            tables[tables.count - 1].columns.append(SQLSchema.identifier(column))
        }
        return tables.map { Table(name: SQLSchema.identifier($0.name), columns: $0.columns) }
    }

    /// The names of all files that rows name, in one state of the database.
    static func inRows(of connection: SQLiteConnection) throws -> Set<String> {
        if connection.isInTransaction { return try read(connection) }
        return try connection.transaction(.deferred) { try read(connection) }
    }

    private static func read(_ connection: SQLiteConnection) throws -> Set<String> {
        var names: Set<String> = []
        for table in try columns(of: connection) {
            // A marker, at most 255 bytes of a name, a zero. The length of a value is known without reading it.
            let conditions = table.columns.map { "(length(\($0)) BETWEEN 2 AND 257 AND substr(\($0), 1, 1) = X'02')" }
            let values = zip(table.columns, conditions).map { "CASE WHEN \($1) THEN \($0) END" }
            try connection.query(
                "SELECT \(values.joined(separator: ", ")) FROM \(table.name) WHERE \(conditions.joined(separator: " OR "))"
            ) { row in
                for column in table.columns.indices {
                    if let name = row.data(Int32(column)).flatMap(ExternalFiles.fileName(inColumnValue:)) { names.insert(name) }
                }
            }
        }
        return names
    }
}
