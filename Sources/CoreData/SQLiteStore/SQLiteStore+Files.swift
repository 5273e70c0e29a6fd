import CSQLite
import Foundation

// Stores that are not open: metadata, model, removal and replacement of files.
extension SQLiteStore {
    /// - Throws: an error where the file is missing or empty.
    func requireOwnFile() throws {
        guard let url, url.isFileURL, !Self.isInMemory(url) else { return }
        try Self.requireFile(url)
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)
        if attributes?[.size] as? Int == 0 {
            throw CoreDataErrors.make(
                .fileReadCorruptFile, "There is no store at \(url.path): the file is empty.",
                userInfo: [NSFilePathErrorKey: url.path])
        }
    }

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
            let new = self.metadata(metadata, replacing: old)
            try connection.transaction(.immediate) { try StoreMetadata.write(new, to: connection) }
        }
        pool.checkpoint()
    }

    /// The model in the store's `Z_MODELCACHE`; nil when it has none.
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

    /// Empties the store at a URL, under its locks, and removes its external files.
    ///
    /// Other connections then see an empty database instead of a deleted file. A missing file is no
    /// error; an empty database is left in its place, as on a Mac: programs remove it next.
    ///
    /// With force, an empty file replaces a file that is no database, or a database whose locks are
    /// not released in time.
    ///
    /// - Throws: an error when there is anything but a regular file, or a database that is no
    ///   store.
    static func destroy(at url: URL, options: [AnyHashable: Any]?) throws {
        if isInMemory(url) { return }
        try makeFile(at: url)
        try requireRegularFile(url)
        let files = ExternalFiles(storeURL: url)
        let isForced = flag(options, NSPersistentStoreForceDestroyOption)
        do {
            let configuration = try configuration(url, options, isReadOnly: false)
            var unused: Set<String> = []
            var isGone = true
            do {
                let connection = try SQLiteConnection(path: url.path, mode: .readWrite, timeout: configuration.timeout)
                if !isForced { try requireStoreOrNothing(connection) }
                // With force, locks are waited for only once: when the rows are removed.
                unused = connection.withTimeout(isForced ? 0 : configuration.timeout) {
                    (try? ExternalFileNames.inRows(of: connection)) ?? []
                }
                isGone = try empty(connection)
            } catch let error as SQLiteError where isForced && yieldsToForce(error) {
                try putEmptyFile(at: files.storeURL)
            }
            // If a connection still reads the former rows, the next opening of a store here removes
            // the files.
            guard isGone else { return }
            files.remove(unused)
            if !files.isShared() { files.remove(files.namesOnDisk()) }
            files.removeEmptyFolders()
        } catch let error as SQLiteError {
            throw error.cocoaError
        }
    }

    /// Creates an empty file if none exists.
    private static func makeFile(at url: URL) throws {
        let descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        if descriptor >= 0 {
            close(descriptor)
        } else if errno != EEXIST {
            throw CoreDataErrors.make(
                .persistentStoreOperation,
                "The store \(url.path) cannot be destroyed: there is none, and no file can be made there "
                    + "(\(String(cString: strerror(errno)))).",
                recovery: "Look whether the folder exists and may be written to.",
                userInfo: [NSFilePathErrorKey: url.path])
        }
    }

    private static func yieldsToForce(_ error: SQLiteError) -> Bool {
        [SQLITE_NOTADB, SQLITE_CORRUPT, SQLITE_BUSY, SQLITE_LOCKED].contains(error.code)
    }

    /// Replaces a database and its journals by an empty file.
    ///
    /// Connections that have the database open keep using the old, unlinked file. In the new file,
    /// their pages would mix with those of the next store.
    private static func putEmptyFile(at url: URL) throws {
        for suffix in ["-wal", "-shm", "-journal"] { unlink(url.path + suffix) }
        try Data().write(to: url, options: .atomic)
    }

    /// - Throws: an error when the database has content but is no store, and so must not be
    ///   destroyed.
    private static func requireStoreOrNothing(_ connection: SQLiteConnection) throws {
        let known = "name IN ('Z_METADATA', 'Z_PRIMARYKEY')"
        let (all, ours) = (
            "SELECT count(*) FROM sqlite_master", "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND \(known)"
        )
        if try connection.integer(all) ?? 0 > 0, try connection.integer(ours) == 0 { throw notAStore(connection) }
    }

    /// - Throws: an error when the URL has a device, a folder or another item that is no regular
    ///   file.
    static func requireRegularFile(_ url: URL) throws {
        var information = stat()
        guard stat(url.path, &information) == 0, information.st_mode & S_IFMT != S_IFREG else { return }
        throw CoreDataErrors.make(
            .persistentStoreOperation,
            "What stands at \(url.path) is not a regular file, and so no store: it is neither removed nor replaced.",
            userInfo: [NSFilePathErrorKey: url.path])
    }

    /// Removes all content of a database, even while other connections have it open.
    ///
    /// - Returns: whether no connection reads the former content any more.
    private static func empty(_ connection: SQLiteConnection) throws -> Bool {
        connection.dropStatements()
        do {
            // A reset needs exclusive access. It does not wait, as other connections do not close
            // the database for it.
            try connection.withTimeout(0) { try reset(connection) }
        } catch let error as SQLiteError where error.code == SQLITE_BUSY || error.code == SQLITE_LOCKED {
            try dropTables(connection)
        }
        // Connections that read the former content are not waited for either.
        return connection.withTimeout(0) { connection.checkpoint(SQLITE_CHECKPOINT_TRUNCATE) }
    }

    /// Removes all tables in one transaction.
    private static func dropTables(_ connection: SQLiteConnection) throws {
        try connection.transaction(.immediate) {
            var names: [String] = []
            // Virtual tables first: dropping them also drops their shadow tables.
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

    /// Copies a whole store over the store at `url`, with its journal's content and external files.
    static func replace(
        at url: URL, destinationOptions: [AnyHashable: Any]?, withStoreAt source: URL,
        sourceOptions: [AnyHashable: Any]?
    ) throws {
        try requireFile(source)
        try requireRegularFile(url)
        if isInMemory(url) { throw noFile(url) }
        let existed = FileManager.default.fileExists(atPath: url.path)
        var made: SQLiteConnection?
        do {
            let from = try openForReading(source)
            // One state of the source. Its external files stay as long as the transaction is open.
            try from.transaction(.deferred) {
                guard try StoreMetadata.read(from) != nil else { throw notAStore(from) }
                let configuration = try configuration(url, destinationOptions, isReadOnly: false)
                let to = try SQLiteConnection(path: url.path, mode: .create, timeout: configuration.timeout)
                made = to
                try requireStoreOrNothing(to)
                try replace(to, at: url, with: from, at: source, configuration)
            }
        } catch {
            if !existed { removeFailedCopy(at: url, made) }
            throw (error as? SQLiteError)?.cocoaError ?? error
        }
    }

    /// Removes the empty database that a failed copy has made, unless another program has filled
    /// it.
    ///
    /// - Parameter connection: The copy's own: there may be no descriptor left for another one.
    private static func removeFailedCopy(at url: URL, _ connection: SQLiteConnection?) {
        let path = url.resolvingSymlinksInPath().path
        var information = stat()
        guard stat(path, &information) == 0 else { return }
        if information.st_size > 0 {
            guard let connection else { return }
            do { guard try StoreMetadata.read(connection) == nil else { return } } catch { return }
        }
        for suffix in ["", "-journal", "-wal", "-shm"] { unlink(path + suffix) }
        ExternalFiles(storeURL: url).removeEmptyFolders()
    }

    private static func replace(
        _ to: SQLiteConnection, at url: URL, with from: SQLiteConnection, at source: URL,
        _ configuration: SQLiteConnectionPool.Configuration
    ) throws {
        let wanted = configuration.journalMode ?? "WAL"
        func setJournalMode(_ mode: String) throws {
            try SQLiteConnectionPool.setJournalMode(mode, of: to, waiting: configuration.timeout)
        }
        // A WAL fixes the page size. Only a connection with exclusive access can end it.
        let keepsLog =
            try wanted.lowercased() == "wal" && to.integer("PRAGMA page_size") == from.integer("PRAGMA page_size")
        if try !keepsLog && to.text("PRAGMA journal_mode")?.lowercased() == "wal" { try setJournalMode("DELETE") }
        let files = ExternalFiles(storeURL: url)
        let former = try ExternalFileNames.inRows(of: to)
        let names = try ExternalFileNames.inRows(of: from)
        func copyRows() throws {
            guard let backup = sqlite3_backup_init(to.handle, "main", from.handle, "main") else {
                throw SQLiteError(handle: to.handle, path: url.path)
            }
            let result = sqlite3_backup_step(backup, -1)
            sqlite3_backup_finish(backup)
            guard result == SQLITE_DONE else {
                throw SQLiteError(
                    extendedCode: result, message: String(cString: sqlite3_errstr(result)), path: url.path)
            }
        }
        if names.isEmpty {
            try copyRows()
        } else {
            let making = ExternalFiles.Making(access: FileAccess(ofFileAt: files.storeURL.path), isSynced: true)
            try files.makeFolders(making)
            // Files are copied before the rows that name them. The folder's lock keeps a program
            // that opens the store meanwhile from removing them as leftovers.
            let copied: Void? = try files.whileLocked(waits: true) {
                var added: Set<String> = []
                do {
                    for name in names.sorted() {
                        if files.isMissing(name) { added.insert(name) }
                        try files.copy(name, from: ExternalFiles(storeURL: source), making)
                    }
                    try files.syncNames()
                    try copyRows()
                } catch {
                    files.remove(added)
                    throw error
                }
            }
            guard copied != nil else {
                throw SystemFailure().error(
                    "The folder \(files.folder.path) for external files of the store at \(url.path) cannot be used",
                    path: files.folder.path, otherwise: .fileWriteUnknown)
            }
        }
        // The rows are copied. If other connections already read them, the next opening of the
        // store sets the mode.
        do { try setJournalMode(wanted) } catch let error as SQLiteError where error.code == SQLITE_BUSY {}
        if to.withTimeout(0, { to.checkpoint(SQLITE_CHECKPOINT_TRUNCATE) }) { files.remove(former.subtracting(names)) }
    }

    private static func noFile(_ url: URL) -> NSError {
        CoreDataErrors.make(
            .persistentStoreOperation,
            "The store at \(url.path) lives in memory: there is no file that could be replaced.",
            recovery: "Add a store of the source's type at the source's URL instead.",
            userInfo: [NSFilePathErrorKey: url.path])
    }

    // MARK: - Single connections

    private static func withFile<Result>(_ url: URL, _ body: (SQLiteConnection) throws -> Result) throws -> Result {
        try requireFile(url)
        do { return try body(try openForReading(url)) } catch let error as SQLiteError { throw error.cocoaError }
    }

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
            "The SQLite database at \(connection.path) is no Core Data store: it has neither Z_METADATA nor "
                + "Z_PRIMARYKEY.",
            userInfo: ["NSFilePath": connection.path])
    }
}
