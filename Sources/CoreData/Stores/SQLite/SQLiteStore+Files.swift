import CSQLite
import Foundation

// Stores that are not open: metadata, model, removal and replacement of files.
extension SQLiteStore {
    static func readMetadata(at url: URL) throws -> [String: Any] {
        try withFile(url) { connection in
            guard let metadata = try StoreMetadata.read(connection) else { throw notAStore(connection) }
            return metadata
        }
    }

    static func replaceMetadata(_ metadata: [String: Any]?, at url: URL) throws {
        try requireFile(url)
        let pool = try SQLiteConnectionPool(SQLiteConnectionPool.Configuration(path: url.path), create: false)
        try pool.write { connection in
            guard let old = try StoreMetadata.read(connection) else { throw notAStore(connection) }
            var new = metadata ?? [:]
            for key in [NSStoreUUIDKey, NSStoreTypeKey] where new[key] == nil { new[key] = old[key] }
            try connection.transaction(.immediate) { try StoreMetadata.write(new, to: connection) }
        }
        pool.checkpoint()
    }

    /// The model that the store carries in `Z_MODELCACHE`; nil when it has none.
    static func cachedModel(at url: URL) throws -> NSManagedObjectModel? {
        let data: Data? = try withFile(url) { connection in
            let hasTable = try connection.integer(
                "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'Z_MODELCACHE'")
            guard hasTable != nil else { return nil }
            var content: Data?
            try connection.query("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1") { content = $0.data(0) }
            return content
        }
        guard let data, !data.isEmpty else { return nil }
        return try NSManagedObjectModel.decode(modelCache: data)
    }

    /// Empties the store at a URL, under its locks, so that others who have it open see an empty database instead of a
    /// deleted file. External files are removed. A file that does not exist is no error.
    static func destroy(at url: URL, options: [AnyHashable: Any]?) throws {
        guard !isInMemory(url), FileManager.default.fileExists(atPath: url.path) else { return }
        do {
            let configuration = try configuration(url, options, isReadOnly: false)
            let connection = try SQLiteConnection(path: url.path, mode: .readWrite, timeout: configuration.timeout)
            do {
                try empty(connection, timeout: configuration.timeout)
            } catch let error as SQLiteError where error.code == SQLITE_NOTADB || error.code == SQLITE_CORRUPT {
                guard flag(options, NSPersistentStoreForceDestroyOption) else { throw error }
                try Data().write(to: url)
            }
        } catch let error as SQLiteError {
            throw error.cocoaError
        }
        try? FileManager.default.removeItem(at: ExternalFiles.supportFolder(of: url))
    }

    /// Removes all content of a database, also while others have it open.
    private static func empty(_ connection: SQLiteConnection, timeout: Double) throws {
        connection.dropStatements()
        do {
            // Resetting takes the database alone. Nobody closes it for that, so it is not waited for.
            connection.setTimeout(0)
            defer { connection.setTimeout(timeout) }
            try reset(connection)
        } catch let error as SQLiteError where error.code == SQLITE_BUSY || error.code == SQLITE_LOCKED {
            try dropTables(connection)
        }
        sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    }

    /// Removes all tables in one transaction.
    private static func dropTables(_ connection: SQLiteConnection) throws {
        try connection.transaction(.immediate) {
            var names: [String] = []
            // Virtual tables first: their own tables go with them.
            try connection.query(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
                    + "ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC"
            ) { names.append($0.string(0) ?? "") }
            for name in names { try connection.execute("DROP TABLE IF EXISTS \(SQLSchema.identifier(name))") }
        }
    }

    /// Removes all content of a database, damaged or not, in one exclusive step.
    private static func reset(_ connection: SQLiteConnection) throws {
        _ = ocd_sqlite3_set_flag(connection.handle, SQLITE_DBCONFIG_DEFENSIVE, 0)
        _ = ocd_sqlite3_set_flag(connection.handle, SQLITE_DBCONFIG_RESET_DATABASE, 1)
        defer { _ = ocd_sqlite3_set_flag(connection.handle, SQLITE_DBCONFIG_RESET_DATABASE, 0) }
        try connection.execute("VACUUM")
    }

    /// Copies a whole store, with what its journal holds and its external files, over the store at `url`.
    static func replace(
        at url: URL, destinationOptions: [AnyHashable: Any]?, withStoreAt source: URL,
        sourceOptions: [AnyHashable: Any]?
    ) throws {
        try requireFile(source)
        do {
            let from = try openForReading(source)
            guard try StoreMetadata.read(from) != nil else { throw notAStore(from) }
            let configuration = try configuration(url, destinationOptions, isReadOnly: false)
            let to = try SQLiteConnection(path: url.path, mode: .create, timeout: configuration.timeout)
            guard let backup = sqlite3_backup_init(to.handle, "main", from.handle, "main") else {
                throw SQLiteError(handle: to.handle, path: url.path)
            }
            let result = sqlite3_backup_step(backup, -1)
            sqlite3_backup_finish(backup)
            guard result == SQLITE_DONE else {
                throw SQLiteError(
                    extendedCode: result, message: String(cString: sqlite3_errstr(result)), path: url.path)
            }
            try to.execute("PRAGMA journal_mode = WAL")
            sqlite3_wal_checkpoint_v2(to.handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        } catch let error as SQLiteError {
            throw error.cocoaError
        }
        let oldFiles = ExternalFiles.supportFolder(of: url)
        let newFiles = ExternalFiles.supportFolder(of: source)
        try? FileManager.default.removeItem(at: oldFiles)
        if FileManager.default.fileExists(atPath: newFiles.path) {
            try FileManager.default.copyItem(at: newFiles, to: oldFiles)
        }
    }

    // MARK: - Single connections

    private static func withFile<Result>(_ url: URL, _ body: (SQLiteConnection) throws -> Result) throws -> Result {
        try requireFile(url)
        do { return try body(try openForReading(url)) } catch let error as SQLiteError { throw error.cocoaError }
    }

    /// A connection that changes nothing.
    private static func openForReading(_ url: URL) throws -> SQLiteConnection {
        try SQLiteConnectionPool.openReadOnly(SQLiteConnectionPool.Configuration(path: url.path, isReadOnly: true))
    }

    private static func requireFile(_ url: URL) throws {
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw CoreDataErrors.make(
                .fileReadNoSuchFile, "There is no store at \(url.path).", userInfo: ["NSFilePath": url.path])
        }
    }

    private static func notAStore(_ connection: SQLiteConnection) -> NSError {
        CoreDataErrors.make(
            .fileReadCorruptFile,
            "The SQLite database at \(connection.path) is no Core Data store: it has no Z_METADATA.",
            userInfo: ["NSFilePath": connection.path])
    }
}
