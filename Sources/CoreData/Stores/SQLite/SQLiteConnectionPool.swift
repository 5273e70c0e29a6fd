import CSQLite
import Foundation
import Synchronization

/// The connections of one store: one that writes, under a lock, and readers.
///
/// In WAL mode readers and the writer do not wait for each other. A database in memory, or one whose journal is not a
/// WAL, has a single connection that serves both.
final class SQLiteConnectionPool: Sendable {
    struct Configuration: Sendable {
        var path: String
        var isReadOnly = false
        /// Whether nobody changes the file, so that it is read without locks.
        var isImmutable = false
        var isInMemory = false
        var timeout: TimeInterval = 60
        /// How many connections are open at once at most, the writer included; nil for no limit.
        var maximumConnections: Int?
        /// Where the store keeps large values, once that is known.
        let externalFiles = ExternalFilesReference()
        /// Pragmas for every connection, in order.
        var pragmas: [(name: String, value: String)] = []

        /// The journal mode for the database; nil where what the pragmas say is no word.
        var journalMode: String? {
            let wanted = pragmas.last { $0.name.lowercased() == "journal_mode" }?.value ?? "WAL"
            return SQLiteConnectionPool.isPlain(wanted) ? wanted : nil
        }
    }

    let configuration: Configuration
    /// What becomes of external files; nil for a database in memory, which has none.
    let supersededFiles: SupersededFiles?
    /// Looks for external files that nobody needs, in a store with many rows.
    let backgroundSweep = BackgroundSweep()
    /// Whether others have changed the schema.
    let schemaWatch: SchemaWatch
    /// What a writer found when it opened the database; nil for readers and for databases in memory.
    private let openedFiles: OpenedFiles?
    /// Guards the writer: who holds it writes.
    private let writer: Mutex<SQLiteConnection>
    let readers: SQLiteReaders
    /// Whether reads need the writer's connection.
    let sharesConnection: Bool
    private let readerMode: SQLiteConnection.Mode
    /// Where the connection of a pinned state goes back to.
    private let origin: SQLiteReaders?

    /// Opens the writer. A file that does not exist is created unless the configuration is read-only.
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
                    extendedCode: SQLITE_READONLY, message: "attempt to write a readonly database", path: configuration.path,
                    advice: "The store at \(configuration.path) may not be written. Check the permissions of the file and its "
                        + "folder, or add the store with NSReadOnlyPersistentStoreOption.")
            }
        }
        var usesWAL = false
        if !configuration.isReadOnly {
            // Settings of a new file must come before its first page is written. Setting what is set already would need the write lock.
            let filePragmas = configuration.pragmas.filter { Self.pragmasOfFiles.contains($0.name.lowercased()) }
            try Self.give(filePragmas, to: connection)
            if !filePragmas.contains(where: { $0.name.lowercased() == "auto_vacuum" }), try connection.integer("PRAGMA auto_vacuum") != 2 {
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
        // A log is made by the first read, and stays the same file for as long as somebody has the database open.
        if usesWAL, !configuration.isReadOnly { _ = try connection.integer("SELECT count(*) FROM sqlite_master") }
        openedFiles =
            configuration.isReadOnly
            ? nil : files.map { OpenedFiles(path: $0.storeURL.path, suffixes: usesWAL ? ["", "-wal"] : [""]) }
        sharesConnection = configuration.isInMemory || !usesWAL || configuration.maximumConnections == 1
        readers = SQLiteReaders(limit: configuration.maximumConnections.map { max($0 - 1, 0) })
        writer = Mutex(connection)
        origin = nil
    }

    /// Ends the transaction of a pinned state.
    deinit {
        guard let origin else { return }
        writer.withLock { connection in
            if (try? connection.execute("ROLLBACK")) != nil { origin.keep(connection) }
        }
    }

    /// How many requests can read at once beside one that writes: without a limit as many as need not wait for a reader.
    var concurrentReads: Int {
        if sharesConnection { return 1 }
        return configuration.maximumConnections.map { $0 - 1 } ?? SQLiteReaders.usualCount
    }

    /// Sets the journal mode of a database, which another connection may be making or changing at the same time.
    ///
    /// SQLite waits for those who read meanwhile, but does not for one who is about to write.
    ///
    /// - Returns: the mode that the database has then.
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

    /// A single connection that reads what is committed now, whatever is committed later.
    init(pinning pool: SQLiteConnectionPool) throws {
        var configuration = pool.configuration
        configuration.isReadOnly = true
        self.configuration = configuration
        let connection: SQLiteConnection
        do {
            connection = try pool.readers.lend() ?? pool.openReader()
            try connection.execute("BEGIN")
            // The state is that of the first read.
            _ = try connection.integer("SELECT count(*) FROM sqlite_master")
            try pool.schemaWatch.check(connection)
        } catch let error as SQLiteError { throw error.cocoaError }
        schemaWatch = pool.schemaWatch
        supersededFiles = pool.supersededFiles
        openedFiles = nil
        sharesConnection = true
        readerMode = pool.readerMode
        readers = SQLiteReaders(limit: nil)
        origin = pool.readers
        writer = Mutex(connection)
    }

    /// Opens a file that must not be written.
    ///
    /// A WAL store on read-only media cannot have its shared memory file. Without a journal to read it is then taken as
    /// immutable; with one that would hide committed rows, or show half-written ones.
    ///
    /// - Throws: `SQLiteError`; one that names the journal when there is one that cannot be read.
    static func openReadOnly(_ configuration: Configuration) throws -> SQLiteConnection {
        if configuration.isImmutable {
            return try SQLiteConnection(path: configuration.path, mode: .immutable, timeout: configuration.timeout)
        }
        let plain = try SQLiteConnection(path: configuration.path, mode: .readOnly, timeout: configuration.timeout)
        do {
            try plain.query("SELECT count(*) FROM sqlite_master") { _ in }
            return plain
        } catch let error as SQLiteError where error.code == SQLITE_CANTOPEN || error.code == SQLITE_READONLY {
            // The journals lie beside the file itself, where the path is a link to it.
            let file = URL(fileURLWithPath: configuration.path).resolvingSymlinksInPath().path
            if size(ofFileAt: file + "-journal") > 0 {
                throw SQLiteError(
                    extendedCode: error.extendedCode, message: error.message, path: configuration.path,
                    advice: "The store at \(configuration.path) cannot be read: its journal \(file)-journal holds "
                        + "what a program that ended while writing had changed, and that has to be undone first. Open the store "
                        + "once without NSReadOnlyPersistentStoreOption, or do so with a copy of the store and its journal.")
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

    /// The pages that a connection keeps at most. Checking a page's cells costs more than reading it from the system, so that
    /// with SQLite's own 2 MB many would be checked again and again; with much more they lie too far from the processor.
    private static var cacheKibibytes: Int { 4096 }

    private static func apply(_ configuration: Configuration, to connection: SQLiteConnection) throws {
        connection.externalFiles = configuration.externalFiles
        // In WAL mode NORMAL loses no consistency and saves one sync for each transaction.
        if connection.mode != .readOnly && connection.mode != .immutable {
            try connection.execute("PRAGMA synchronous = NORMAL")
        }
        try connection.execute("PRAGMA cache_size = -\(cacheKibibytes)")
        let notForConnections = pragmasOfFiles.union(["journal_mode"])
        try give(configuration.pragmas.filter { !notForConnections.contains($0.name.lowercased()) }, to: connection)
    }

    /// What a file keeps from its first page on: given by who may write, before that.
    private static let pragmasOfFiles: Set<String> = ["page_size", "encoding", "auto_vacuum"]

    private static func give(_ pragmas: [(name: String, value: String)], to connection: SQLiteConnection) throws {
        for pragma in pragmas {
            guard isPlain(pragma.name), isPlain(pragma.value) else {
                throw SQLiteError(
                    extendedCode: SQLITE_MISUSE,
                    message: "NSSQLitePragmasOption: '\(pragma.name) = \(pragma.value)' is not a plain name and value",
                    path: connection.path)
            }
            // Quoted, for encodings have a dash.
            try connection.execute("PRAGMA \(pragma.name) = '\(pragma.value)'")
        }
    }

    /// Runs `body` with a connection that sees the last committed state.
    func read<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        if sharesConnection { return try write { try readWatched($0, body) } }
        let connection: SQLiteConnection
        do {
            guard let free = try readers.take(waiting: configuration.timeout, orOpen: openReader) else { throw allInUse() }
            connection = free
        } catch let error as SQLiteError {
            // The writer's connection is open, and sees what is committed, too.
            if SystemFailure(error.systemError).isOutOfDescriptors { return try write { try readWatched($0, body) } }
            throw error.cocoaError
        }
        defer { readers.giveBack(connection) }
        do { return try readWatched(connection, body) } catch let error as SQLiteError { throw error.cocoaError }
    }

    private func allInUse() -> SQLiteError {
        SQLiteError(
            extendedCode: SQLITE_BUSY, message: "all connections are in use", path: configuration.path,
            advice: "All \(configuration.maximumConnections ?? 0) connections of the store at \(configuration.path) are in use. "
                + "Try again, or raise NSPersistentStoreConnectionPoolMaxSizeKey.")
    }

    /// Runs `body`, and looks whether the schema is another one where SQLite met it so.
    private func readWatched<Result>(_ connection: SQLiteConnection, _ body: (SQLiteConnection) throws -> Result) throws -> Result {
        let result: Result
        do { result = try body(connection) } catch let error as SQLiteError where error.code == SQLITE_ERROR {
            // What the statement names may be gone.
            try schemaWatch.check(connection)
            throw error
        }
        if connection.hasPreparedAnew { try schemaWatch.check(connection) }
        return result
    }

    private func openReader() throws -> SQLiteConnection {
        let connection = try SQLiteConnection(path: configuration.path, mode: readerMode, timeout: configuration.timeout)
        // Has the connection read the schema, so that it notices when that is changed from here on.
        try Self.apply(configuration, to: connection)
        try schemaWatch.check(connection)
        return connection
    }

    /// Runs `body` with the writer, alone.
    func write<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        var outcome: Swift.Result<Unchecked<Result>, any Error>?
        writer.withLock { connection in
            do { outcome = .success(Unchecked(try body(connection))) } catch { outcome = .failure(error) }
        }
        switch outcome {
        case .success(let value)?: return value.value
        case .failure(let error as SQLiteError)?: throw error.cocoaError
        case .failure(let error)?: throw error
        case nil:
            throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "no result", path: configuration.path).cocoaError
        }
    }

    /// Runs `body` in a transaction of the writer, where the schema is the one that the store was opened with.
    func transaction<Result>(_ connection: SQLiteConnection, _ body: () throws -> Result) throws -> Result {
        try connection.transaction(.immediate) {
            try schemaWatch.check(connection)
            return try body()
        }
    }

    /// - Throws: an error that names the file when the database was removed or replaced: what is written now would be gone.
    func requireSameFiles() throws {
        guard let openedFiles, let files = supersededFiles?.files else { return }
        try openedFiles.requireUnchanged(storeAt: files.storeURL.path)
    }

    /// Moves what the WAL holds into the database file, and removes the external files that nobody needs then; the last step
    /// before a store is closed. Waits for nobody: what others still read is moved when they close the store.
    func checkpoint() {
        backgroundSweep.cancel()
        readers.closeUnused()
        guard !configuration.isReadOnly else { return }
        writer.withLock { connection in
            connection.setTimeout(0)
            defer { connection.setTimeout(configuration.timeout) }
            if connection.checkpoint(SQLITE_CHECKPOINT_TRUNCATE) { supersededFiles?.removeAll() }
        }
    }
}
