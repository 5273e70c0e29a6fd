import Foundation

/// Finds the external files that no row names.
///
/// They come from programs that ended in the middle of a save, or before they removed superseded
/// files.
struct ExternalFileSweep {
    let files: ExternalFiles
    let connection: SQLiteConnection

    /// The number of rows above which the sweep runs in the background.
    ///
    /// Counts rows in tables with binary columns. Applies to a properly closed store.
    @TaskLocal static var fewRows: Int64 = 20_000

    /// Whether reading all rows would make opening the store slower. Counts at most `fewRows + 1`
    /// rows of each table.
    func hasManyRows() throws -> Bool {
        let rows = try ExternalFileNames.columns(of: connection).reduce(0) { sum, table in
            sum
                + (try connection.integer(
                    "SELECT count(*) FROM (SELECT 1 FROM \(table.name) LIMIT \(Self.fewRows + 1))") ?? 0)
        }
        return rows > Self.fewRows
    }

    /// Returns the files that no row names, and that no save is about to name.
    ///
    /// Lists the folder under the write lock. A save writes its files under the same lock, so all
    /// listed files belong to finished saves. Then reads the rows in one state. File names are
    /// never used again, so a file that the rows do not name will not be named later. The exception
    /// is a copy of a whole store, which brings names back; for that reason the caller holds the
    /// folder's lock.
    ///
    /// Cost: reads the rows until all files are found, and keeps the names of the files.
    ///
    /// - Throws: an error when the database cannot be read, or when other connections never stop
    ///   writing to it.
    func unnamedFiles() throws -> Set<String> {
        if files.namesInFolder().isEmpty || files.isShared() { return [] }
        var unnamed = try connection.transaction(.immediate) { Set(files.namesInFolder()) }
        try connection.transaction(.deferred) {
            try ExternalFileNames.visit(connection) { name in
                unnamed.remove(name)
                return !unnamed.isEmpty
            }
        }
        return unnamed.filter(files.isRegularFile)
    }
}

/// The names of external files in the rows of a database.
enum ExternalFileNames {
    struct Table {
        /// Quoted.
        let name: String
        /// Quoted.
        let columns: [String]
    }

    /// All binary columns of the database, including those that the current model does not have.
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
        var names: Set<String> = []
        func insert(_ name: String) -> Bool {
            names.insert(name)
            return true
        }
        if connection.isInTransaction {
            try visit(connection, insert)
        } else {
            try connection.transaction(.deferred) { try visit(connection, insert) }
        }
        return names
    }

    /// Calls `body` with the name of each file that a row names, until it returns false.
    ///
    /// The caller makes sure that all rows are read in one state of the database.
    static func visit(_ connection: SQLiteConnection, _ body: (String) -> Bool) throws {
        for table in try columns(of: connection) {
            // The value is a marker byte, at most 255 bytes of a name, and a zero. SQLite knows its
            // length without reading it.
            let conditions = table.columns.map { "(length(\($0)) BETWEEN 2 AND 257 AND substr(\($0), 1, 1) = X'02')" }
            let values = zip(table.columns, conditions).map { "CASE WHEN \($1) THEN \($0) END" }
            var goesOn = true
            try connection.read(
                "SELECT \(values.joined(separator: ", ")) FROM \(table.name) WHERE "
                    + "\(conditions.joined(separator: " OR "))",
                []
            ) { row in
                while goesOn, try row.step() {
                    for column in table.columns.indices {
                        guard let name = row.data(Int32(column)).flatMap(ExternalColumn.fileName(in:)) else { continue }
                        goesOn = body(name) && goesOn
                    }
                }
            }
            if !goesOn { return }
        }
    }
}
