import CSQLite
import Foundation
import Synchronization

/// The connections of one store: one that writes, under a lock, and readers.
///
/// In WAL mode readers and the writer do not wait for each other. A database in memory, or with
/// another journal mode, has a single connection for both.
final class SQLiteConnectionPool: Sendable {
    struct Configuration: Sendable {
        var path: String
        var isReadOnly = false
        /// Whether no process changes the file, so that it is read without locks.
        var isImmutable = false
        var isInMemory = false
        var timeout: TimeInterval = 60
        /// The maximum number of open connections, the writer included; nil for no limit.
        var maximumConnections: Int?
        /// The location of the store's large values; set after the connections are opened.
        let externalFiles = ExternalFilesReference()
        /// The pragmas for every connection, in order.
        var pragmas: [(name: String, value: String)] = []

        /// The journal mode of the database; nil where the value in the pragmas is not a plain
        /// word.
        var journalMode: String? {
            let wanted = pragmas.last { $0.name.lowercased() == "journal_mode" }?.value ?? "WAL"
            return SQLiteConnectionPool.isPlain(wanted) ? wanted : nil
        }
    }

    let configuration: Configuration
    /// The superseded external files; nil for a database in memory, which has none.
    let supersededFiles: SupersededFiles?
    /// Finds external files that no row names, in a store with many rows.
    let backgroundSweep = BackgroundSweep()
    /// Detects changes of the schema by other connections.
    let schemaWatch: SchemaWatch
    /// The files that the writer opened; nil for a read-only store and for a database in memory.
    private let openedFiles: OpenedFiles?
    /// The log of a store that is written in WAL mode.
    private let writeAheadLog: WriteAheadLog?
    /// Guards the writer: only the holder of the lock writes.
    private let writer: Mutex<SQLiteConnection>
    let readers: SQLiteReaders
    /// Whether reads use the writer's connection.
    let sharesConnection: Bool
    private let readerMode: SQLiteConnection.Mode
    /// The readers that get the connection of a pinned state back.
    private let origin: SQLiteReaders?

    /// Opens the writer. A file that does not exist is created unless the configuration is
    /// read-only.
    init(_ configuration: Configuration, create: Bool) throws {
        self.configuration = configuration
        schemaWatch = SchemaWatch()
        let connection: SQLiteConnection
        if configuration.isInMemory {
            let isShared = configuration.path != SQLiteStore.nullDevice
            connection = try SQLiteConnection(
                path: isShared ? configuration.path : ":memory:", mode: isShared ? .sharedMemory : .create,
                timeout: configuration.timeout)
            readerMode = .readOnly
        } else if configuration.isReadOnly {
            connection = try Self.openReadOnly(configuration)
            readerMode = connection.mode
        } else {
            connection = try SQLiteConnection(
                path: configuration.path, mode: create ? .create : .readWrite, timeout: configuration.timeout)
            readerMode = .readOnly
            if sqlite3_db_readonly(connection.handle, "main") == 1 {
                throw SQLiteError(
                    extendedCode: SQLITE_READONLY, message: "attempt to write a readonly database",
                    path: configuration.path,
                    advice:
                        "The store at \(configuration.path) may not be written. Check the permissions of the file "
                        + "and its "
                        + "folder, or add the store with NSReadOnlyPersistentStoreOption.")
            }
        }
        var usesWAL = false
        if !configuration.isReadOnly {
            // Settings of a new file must be set before its first page is written. Setting a value
            // again would need the write lock.
            let filePragmas = configuration.pragmas.filter { Self.pragmasOfFiles.contains($0.name.lowercased()) }
            try Self.give(filePragmas, to: connection)
            if !filePragmas.contains(where: { $0.name.lowercased() == "auto_vacuum" }),
                try connection.integer("PRAGMA auto_vacuum") != 2
            {
                try connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            }
            if !configuration.isInMemory, let wanted = configuration.journalMode {
                let mode = try Self.setJournalMode(wanted, of: connection, waiting: configuration.timeout)
                usesWAL = mode?.lowercased() == "wal"
            }
        } else {
            usesWAL = true
        }
        try Self.apply(configuration, to: connection)
        let files = configuration.isInMemory ? nil : ExternalFiles(storeURL: URL(fileURLWithPath: configuration.path))
        supersededFiles = files.map(SupersededFiles.init)
        // The first read creates the WAL file. It stays the same file while any connection has the
        // database open.
        if usesWAL, !configuration.isReadOnly { _ = try connection.integer("SELECT count(*) FROM sqlite_master") }
        openedFiles =
            configuration.isReadOnly
            ? nil : files.map { OpenedFiles(path: $0.storeURL.path, suffixes: usesWAL ? ["", "-wal"] : [""]) }
        writeAheadLog = files.flatMap { file in
            usesWAL && !configuration.isReadOnly ? WriteAheadLog(ofStoreAt: file.storeURL.path) : nil
        }
        sharesConnection = configuration.isInMemory || !usesWAL || configuration.maximumConnections == 1
        readers = SQLiteReaders(limit: configuration.maximumConnections.map { max($0 - 1, 0) })
        writer = Mutex(connection)
        origin = nil
    }

    /// Ends the read transaction of a pinned state.
    deinit {
        guard let origin else { return }
        writer.withLock { connection in
            if (try? connection.execute("ROLLBACK")) != nil { origin.keep(connection) }
        }
    }

    /// The number of requests that can read at once beside one that writes.
    ///
    /// Without a limit: the number that can run without waiting for a reader.
    var concurrentReads: Int {
        if sharesConnection { return 1 }
        return configuration.maximumConnections.map { $0 - 1 } ?? SQLiteReaders.usualCount
    }

    /// Sets the journal mode of a database.
    ///
    /// Another connection may be creating or changing it at the same time.
    ///
    /// SQLite itself waits for readers, but not for a connection that is about to write; this
    /// function retries.
    ///
    /// - Returns: the resulting mode of the database.
    @discardableResult
    static func setJournalMode(
        _ mode: String, of connection: SQLiteConnection, waiting timeout: Double
    ) throws -> String? {
        let end = ContinuousClock.now + .seconds(min(timeout, 3600))
        var pause: UInt32 = 500
        while true {
            do {
                return try connection.text("PRAGMA journal_mode = \(mode)")
            } catch let error as SQLiteError where error.code == SQLITE_BUSY && ContinuousClock.now < end {
                usleep(pause)
                pause = min(pause * 2, 50_000)
            }
        }
    }

    /// Creates a pool with a single connection that keeps reading the current committed state.
    init(pinning pool: SQLiteConnectionPool) throws {
        var configuration = pool.configuration
        configuration.isReadOnly = true
        self.configuration = configuration
        let connection: SQLiteConnection
        do {
            connection = try pool.readers.lend() ?? pool.openReader()
            try connection.execute("BEGIN")
            // The first read fixes the state.
            _ = try connection.integer("SELECT count(*) FROM sqlite_master")
            try pool.schemaWatch.check(connection)
        } catch let error as SQLiteError { throw error.cocoaError }
        schemaWatch = pool.schemaWatch
        supersededFiles = pool.supersededFiles
        openedFiles = nil
        writeAheadLog = nil
        sharesConnection = true
        readerMode = pool.readerMode
        readers = SQLiteReaders(limit: nil)
        origin = pool.readers
        writer = Mutex(connection)
    }

    /// Opens a file that must not be written.
    ///
    /// On read-only media, SQLite cannot create the shared memory file of a WAL store. If there is
    /// no journal to read, the file is then opened as immutable. With a journal that would hide
    /// committed rows or show half-written ones.
    ///
    /// - Throws: `SQLiteError`; it names the journal when there is one that cannot be read.
    static func openReadOnly(_ configuration: Configuration) throws -> SQLiteConnection {
        if configuration.isImmutable {
            return try SQLiteConnection(path: configuration.path, mode: .immutable, timeout: configuration.timeout)
        }
        let plain = try SQLiteConnection(path: configuration.path, mode: .readOnly, timeout: configuration.timeout)
        // The journals are beside the target of a symbolic link.
        let file = URL(fileURLWithPath: configuration.path).resolvingSymlinksInPath().path
        plain.removesEmptyLog = FileIdentity(path: file + "-wal") == nil
        do {
            try plain.query("SELECT count(*) FROM sqlite_master") { _ in }
            return plain
        } catch let error as SQLiteError where error.code == SQLITE_CANTOPEN || error.code == SQLITE_READONLY {
            if size(ofFileAt: file + "-journal") > 0 {
                throw SQLiteError(
                    extendedCode: error.extendedCode, message: error.message, path: configuration.path,
                    advice: "The store at \(configuration.path) cannot be read: its journal \(file)-journal holds "
                        + "what a program that ended while writing had changed, and that has to be undone first. "
                        + "Open the store "
                        + "once without NSReadOnlyPersistentStoreOption, or do so with a copy of the store and its "
                        + "journal."
                )
            }
            if size(ofFileAt: file + "-wal") > 0 {
                throw SQLiteError(
                    extendedCode: SQLITE_CANTOPEN, message: error.message, path: configuration.path,
                    advice: "The store at \(configuration.path) cannot be read: its journal \(file)-wal holds "
                        + "changes that can only be read where SQLite can make files beside the store. Make the folder "
                        + "writable, remove what stands at \(file)-shm, or copy the store with its journal "
                        + "to another folder.")
            }
            return try SQLiteConnection(path: configuration.path, mode: .immutable, timeout: configuration.timeout)
        }
    }

    private static func size(ofFileAt path: String) -> Int64 {
        ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? NSNumber)?.int64Value ?? 0
    }

    private static func isPlain(_ word: String) -> Bool {
        !word.isEmpty
            && word.utf8.allSatisfy {
                ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7a) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x5f || $0 == 0x2d
            }
    }

    /// The maximum size of a connection's page cache.
    ///
    /// Checking a page's cells costs more than reading it from the system. With SQLite's default of
    /// 2 MB many pages would be checked again and again; with much more they no longer fit the
    /// processor's caches.
    private static var cacheKibibytes: Int { 4096 }

    private static func apply(_ configuration: Configuration, to connection: SQLiteConnection) throws {
        connection.externalFiles = configuration.externalFiles
        // In WAL mode NORMAL keeps the database consistent and saves one sync per transaction.
        if connection.mode != .readOnly && connection.mode != .immutable {
            try connection.execute("PRAGMA synchronous = NORMAL")
        }
        try connection.execute("PRAGMA cache_size = -\(cacheKibibytes)")
        let notForConnections = pragmasOfFiles.union(["journal_mode"])
        try give(configuration.pragmas.filter { !notForConnections.contains($0.name.lowercased()) }, to: connection)
    }

    /// Pragmas that a file fixes with its first page. The writer sets them before that.
    private static let pragmasOfFiles: Set<String> = ["page_size", "encoding", "auto_vacuum"]

    private static func give(_ pragmas: [(name: String, value: String)], to connection: SQLiteConnection) throws {
        for pragma in pragmas {
            guard isPlain(pragma.name), isPlain(pragma.value) else {
                throw SQLiteError(
                    extendedCode: SQLITE_MISUSE,
                    message: "NSSQLitePragmasOption: '\(pragma.name) = \(pragma.value)' is not a plain name and value",
                    path: connection.path)
            }
            // Quoted, as names of encodings contain a dash.
            try connection.execute("PRAGMA \(pragma.name) = '\(pragma.value)'")
        }
    }

    /// Runs `body` with a connection that reads the last committed state.
    func read<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        if sharesConnection { return try write { try readWatched($0, body) } }
        let connection: SQLiteConnection
        do {
            guard let free = try readers.take(waiting: configuration.timeout, orOpen: openReader) else {
                throw allInUse()
            }
            connection = free
        } catch let error as SQLiteError {
            // The writer's connection is open and also sees the committed state.
            if SystemFailure(error.systemError).isOutOfDescriptors { return try write { try readWatched($0, body) } }
            throw error.cocoaError
        }
        defer { readers.giveBack(connection) }
        do { return try readWatched(connection, body) } catch let error as SQLiteError { throw error.cocoaError }
    }

    private func allInUse() -> SQLiteError {
        SQLiteError(
            extendedCode: SQLITE_BUSY, message: "all connections are in use", path: configuration.path,
            advice:
                "All \(configuration.maximumConnections ?? 0) connections of the store at \(configuration.path) are "
                + "in use. "
                + "Try again, or raise NSPersistentStoreConnectionPoolMaxSizeKey.")
    }

    /// Runs `body`. Checks the schema if SQLite prepared a statement again or returned
    /// SQLITE_ERROR.
    private func readWatched<Result>(_ connection: SQLiteConnection, _ body: (SQLiteConnection) throws -> Result) throws
        -> Result
    {
        let result: Result
        do { result = try body(connection) } catch let error as SQLiteError where error.code == SQLITE_ERROR {
            // A table or column that the statement names may have been removed.
            try schemaWatch.check(connection)
            throw error
        }
        if connection.hasPreparedAnew { try schemaWatch.check(connection) }
        return result
    }

    private func openReader() throws -> SQLiteConnection {
        let connection = try SQLiteConnection(
            path: configuration.path, mode: readerMode, timeout: configuration.timeout)
        // Reads the schema, so that the connection notices later changes.
        try Self.apply(configuration, to: connection)
        try schemaWatch.check(connection)
        return connection
    }

    /// Runs `body` with the writer, exclusively.
    func write<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        var outcome: Swift.Result<Unchecked<Result>, any Error>?
        writer.withLock { connection in
            do { outcome = .success(Unchecked(try body(connection))) } catch { outcome = .failure(error) }
            writeAheadLog?.shorten(connection)
        }
        switch outcome {
        case .success(let value)?: return value.value
        case .failure(let error as SQLiteError)?: throw error.cocoaError
        case .failure(let error)?: throw error
        case nil:
            throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "no result", path: configuration.path).cocoaError
        }
    }

    /// Runs `body` in a transaction of the writer.
    ///
    /// Checks first that the schema is still the one that the store was opened with.
    func transaction<Result>(_ connection: SQLiteConnection, _ body: () throws -> Result) throws -> Result {
        try connection.transaction(.immediate) {
            try schemaWatch.check(connection)
            return try body()
        }
    }

    /// Checks that the database files are still in place; otherwise writes would be lost.
    ///
    /// - Throws: an error that names the file when the database was removed or replaced.
    func requireSameFiles() throws {
        guard let openedFiles, let files = supersededFiles?.files else { return }
        try openedFiles.requireUnchanged(storeAt: files.storeURL.path)
    }

    /// Moves the content of the WAL into the database file, and removes unneeded external files.
    ///
    /// The last step before a store is closed. Waits for no other connection: frames that others
    /// still read are moved when they close the store.
    func checkpoint() {
        backgroundSweep.cancel()
        readers.closeUnused()
        guard !configuration.isReadOnly else { return }
        writer.withLock { connection in
            let isEmptied = connection.withTimeout(0) { connection.checkpoint(SQLITE_CHECKPOINT_TRUNCATE) }
            if isEmptied { supersededFiles?.removeAll() }
        }
    }
}
