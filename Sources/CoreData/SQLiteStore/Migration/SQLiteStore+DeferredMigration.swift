import Foundation

// What a migration leaves for later: former tables, and indexes that are not unique. Neither
// changes what is read.
extension SQLiteStore: DeferringStore {
    func finishMigrationTask() throws -> Bool {
        guard metadata?[NSPersistentStoreDeferredLightweightMigrationOptionKey] != nil else { return false }
        if isReadOnly { throw CoreDataErrors.migrationOfReadOnlyStore(at: url?.path ?? "") }
        let backend = try backend()
        let schema = SQLSchema(mapping: backend.mapping)
        do {
            return try backend.pool.write { connection in
                defer { connection.dropStatements() }
                let indexes = schema.indexes().filter { !$0.index.isUnique }
                let isDone = try backend.pool.transaction(connection) {
                    var tasks = try SQLiteDeferredTasks(connection, indexes).statements
                    guard let task = tasks.popLast() else { return false }
                    try connection.execute(task)
                    if tasks.isEmpty { try self.removeNote(connection) }
                    try backend.pool.schemaWatch.accept(connection)
                    return true
                }
                try self.reloadMetadata(connection)
                return isDone
            }
        } catch let error as SQLiteError {
            throw error.cocoaError
        }
    }

    private func removeNote(_ connection: SQLiteConnection) throws {
        var metadata = try StoreMetadata.read(connection) ?? [:]
        metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] = nil
        try StoreMetadata.write(metadata, to: connection)
    }
}

/// The statements that finish a migration.
struct SQLiteDeferredTasks {
    let statements: [String]

    init(_ connection: SQLiteConnection, _ indexes: [(index: SQLIndex, statement: String)]) throws {
        var present: Set<String> = []
        try connection.query("SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL") { row in
            if let sql = row.string(0) { present.insert(sql) }
        }
        statements =
            try Self.formerTables(connection).map { "DROP TABLE \(SQLSchema.identifier($0))" }
            + indexes.map(\.statement).filter { !present.contains($0) }
    }

    /// Drops the tables that an earlier migration has left.
    static func dropFormerTables(_ connection: SQLiteConnection) throws {
        for table in try formerTables(connection) {
            try connection.execute("DROP TABLE \(SQLSchema.identifier(table))")
        }
    }

    private static func formerTables(_ connection: SQLiteConnection) throws -> [String] {
        var tables: [String] = []
        // The program may have tables of its own.
        let prefix = SQLMigrationPlan.formerName("Z")
        try connection.query("SELECT name FROM sqlite_master WHERE type = 'table'") { row in
            if let name = row.string(0), name.hasPrefix(prefix) { tables.append(name) }
        }
        return tables
    }
}
