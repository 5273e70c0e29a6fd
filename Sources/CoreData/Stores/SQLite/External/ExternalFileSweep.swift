import Foundation

/// Finds the external files that no row names: left by programs that ended in the middle of a save, or before they could
/// remove what they had superseded.
struct ExternalFileSweep {
    let files: ExternalFiles
    let connection: SQLiteConnection

    /// With more rows than this in tables with binary columns, a store that was closed properly is looked through in the background.
    @TaskLocal static var fewRows: Int64 = 20_000

    /// Whether looking at all rows would make opening the store slower. Looks at no more than that many rows of each table.
    func hasManyRows() throws -> Bool {
        let rows = try ExternalFileNames.columns(of: connection).reduce(0) { sum, table in
            sum + (try connection.integer("SELECT count(*) FROM (SELECT 1 FROM \(table.name) LIMIT \(Self.fewRows + 1))") ?? 0)
        }
        return rows > Self.fewRows
    }

    /// The files that no row names, and that no save is about to name.
    ///
    /// The folder is listed while nobody else writes: a save writes its files under the same lock, so that all that are listed belong
    /// to saves that are over. The rows are read after that, in one state; as names are never used again, a file that they do not
    /// name will not be named later. Whole stores that are copied here bring names back, which is why the caller has the folder's lock.
    ///
    /// Cost: reads the rows until all files are found, and keeps the names of the files.
    ///
    /// - Throws: when the database cannot be read, or others write to it without an end.
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

    /// Gives `body` the name of each file that a row names, until it says false. The caller sees to it that this is one state.
    static func visit(_ connection: SQLiteConnection, _ body: (String) -> Bool) throws {
        for table in try columns(of: connection) {
            // A marker, at most 255 bytes of a name, a zero. The length of a value is known without reading it.
            let conditions = table.columns.map { "(length(\($0)) BETWEEN 2 AND 257 AND substr(\($0), 1, 1) = X'02')" }
            let values = zip(table.columns, conditions).map { "CASE WHEN \($1) THEN \($0) END" }
            var goesOn = true
            try connection.read(
                "SELECT \(values.joined(separator: ", ")) FROM \(table.name) WHERE \(conditions.joined(separator: " OR "))", []
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
