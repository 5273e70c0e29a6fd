import CSQLite
import Foundation

/// One connection to a database, used by one thread at a time.
///
/// It is set up for files from untrusted sources: no schema is trusted to call functions with side
/// effects, the schema cannot be written as a table, and cells are checked when pages are read.
final class SQLiteConnection: @unchecked Sendable {
    // Sendable: a caller that takes the connection from its pool is its only user until it returns
    // it under the pool's lock; the connection itself starts no threads.

    enum Mode {
        case readOnly
        /// Reads a file without locks, such as one on read-only media. No process may change it.
        case immutable
        case readWrite
        case create
        /// A database in memory that all connections of the process with the same path share.
        ///
        /// It exists as long as one of them is open.
        case sharedMemory
    }

    let handle: OpaquePointer
    let path: String
    let mode: Mode

    /// Rows whose derived values triggers changed, in the order of change.
    var affectedRows: [AffectedRow] = []
    /// An error that one of our SQL functions reports in place of SQLite's error.
    var pendingFailure: SQLiteError?

    /// Whether SQLite had to prepare a statement again: the schema may have changed.
    var hasPreparedAnew = false
    /// The location of the values of attributes with external storage, for functions.
    var externalFiles: ExternalFilesReference?
    /// The limit on the work of regular expressions in the running statement.
    let patternBudget = PatternBudget()

    // Unchecked exclusivity: looked up for each request. Statements that leave the dictionary are
    // only finalized, which calls nothing of the connection.
    @exclusivity(unchecked) private var statements: [String: SQLiteStatement] = [:]
    private var uses: UInt64 = 0
    /// How long a statement waits for locks of other connections.
    private var timeout: Duration = .zero
    /// The end of the wait that is going on.
    private var endOfWait = ContinuousClock.now
    /// Whether to remove the empty log that reading leaves beside a file in WAL mode. For files
    /// that had none.
    var removesEmptyLog = false
    private static let maximumStatements = 128

    struct AffectedRow: Hashable {
        let entityNumber: Int64
        let key: Int64
    }

    /// Opens a database.
    ///
    /// - Parameters:
    ///   - path: a file, or ":memory:" for a database of this connection alone.
    ///   - timeout: the number of seconds to wait for locks.
    init(path: String, mode: Mode, timeout: TimeInterval) throws {
        var flags = SQLITE_OPEN_NOMUTEX
        var name = path
        switch mode {
        case .readOnly: flags |= SQLITE_OPEN_READONLY
        case .immutable:
            flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            name = Self.fileURI(path) + "?immutable=1"
        case .sharedMemory:
            flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI
            name = Self.fileURI(path) + "?vfs=memdb"
        case .readWrite: flags |= SQLITE_OPEN_READWRITE
        case .create: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        }
        var opened: OpaquePointer?
        let result = sqlite3_open_v2(name, &opened, flags, nil)
        guard result == SQLITE_OK, let opened else {
            let error = SQLiteError(handle: opened, path: path)
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
        self.path = path
        self.mode = mode
        sqlite3_extended_result_codes(opened, 1)
        setTimeout(timeout)
        // The connection outlives its handle.
        sqlite3_busy_handler(
            opened,
            { connection, attempt in
                connection.map { Unretained<SQLiteConnection>(pointer: $0).object.waitsForLock(attempt) ? 1 : 0 } ?? 0
            }, Unmanaged.passUnretained(self).toOpaque())
        _ = ocd_sqlite3_set_flag(opened, SQLITE_DBCONFIG_DEFENSIVE, 1)
        _ = ocd_sqlite3_set_flag(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        _ = ocd_sqlite3_set_flag(opened, SQLITE_DBCONFIG_ENABLE_TRIGGER, 1)
        sqlite3_limit(opened, SQLITE_LIMIT_TRIGGER_DEPTH, 64)
        sqlite3_limit(opened, SQLITE_LIMIT_ATTACHED, 2)
        SQLiteFunctions.register(on: self)
        try execute("PRAGMA cell_size_check = ON")
        traceStatements()
    }

    deinit {
        statements.removeAll()
        sqlite3_close_v2(handle)
        if removesEmptyLog { Self.removeEmptyLog(ofFileAt: path) }
    }

    /// Removes the log of a file in WAL mode, if it is empty, together with the shared memory.
    ///
    /// SQLite does that, under its locks, where the last connection is closed and may write.
    private static func removeEmptyLog(ofFileAt path: String) {
        var log = stat()
        // The log is beside the target of a symbolic link.
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard stat(file + "-wal", &log) == 0, log.st_size == 0 else { return }
        var opened: OpaquePointer?
        if sqlite3_open_v2(path, &opened, SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE, nil) == SQLITE_OK {
            sqlite3_exec(opened, "PRAGMA schema_version", nil, nil, nil)
        }
        sqlite3_close_v2(opened)
    }

    private static func fileURI(_ path: String) -> String {
        var allowed = CharacterSet.urlPathAllowed
        allowed.remove(charactersIn: "?#%")
        return "file:" + (path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path)
    }

    /// Whether triggers may use features that SQLite considers unsafe in an untrusted schema. False
    /// at first.
    var trustsSchema = false {
        didSet { _ = ocd_sqlite3_set_flag(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, trustsSchema ? 1 : 0) }
    }

    // MARK: Statements

    /// Runs SQL text of any number of statements without arguments or results.
    func execute(_ sql: String) throws {
        let result = sqlite3_exec(handle, sql, nil, nil, nil)
        if result != SQLITE_OK { throw SQLiteError(handle: handle, sql: sql, path: path) }
    }

    /// Returns a cached statement, prepared at first use and ready to be bound.
    func statement(_ sql: String) throws -> SQLiteStatement {
        uses += 1
        if let cached = statements[sql], !cached.isInUse {
            cached.lastUse = uses
            cached.forgetRefusal()
            return cached
        }
        let statement = try SQLiteStatement(sql, on: self)
        statement.lastUse = uses
        if statements[sql] == nil {
            if statements.count >= Self.maximumStatements { dropOldestStatements() }
            statements[sql] = statement
        }
        return statement
    }

    private func dropOldestStatements() {
        let byAge = statements.values.filter { !$0.isInUse }.sorted { $0.lastUse < $1.lastUse }
        for statement in byAge.prefix(Self.maximumStatements / 4) { statements[statement.sql] = nil }
    }

    /// Drops all prepared statements: after a change of the schema, or before closing.
    func dropStatements() { statements.removeAll() }

    /// Runs one statement with arguments and passes each row to `body`.
    func query(_ sql: String, _ arguments: [StoredValue] = [], _ body: (SQLiteStatement) throws -> Void) throws {
        try read(sql, arguments) { statement in
            while try statement.step() { try body(statement) }
        }
    }

    /// Runs one statement with arguments and lets `body` step through its rows.
    func read(_ sql: String, _ arguments: [StoredValue], _ body: (SQLiteStatement) throws -> Void) throws {
        try withStatement(sql) { statement in
            try statement.bind(arguments)
            try body(statement)
        }
    }

    /// Runs one statement whose only argument is a key, and lets `body` step through its rows.
    func read(_ sql: String, _ key: Int64, _ body: (SQLiteStatement) throws -> Void) throws {
        try withStatement(sql) { statement in
            statement.bind(key, at: 1)
            try body(statement)
        }
    }

    /// Runs one statement for keys and lets `body` step through the rows of each run. All runs see
    /// the same state of the store.
    func read(_ sql: String, _ keys: SQLKeys, _ body: (SQLiteStatement) throws -> Void) throws {
        func run() throws {
            for arguments in keys.arguments { try read(sql, arguments.map(\.value), body) }
        }
        if keys.arguments.count == 1 { try run() } else { try transaction(.deferred, run) }
    }

    /// Runs `body` with a cached statement, which the cache neither reuses nor drops meanwhile.
    @inline(__always)
    private func withStatement(_ sql: String, _ body: (SQLiteStatement) throws -> Void) throws {
        let statement = try statement(sql)
        patternBudget.renew()
        statement.isInUse = true
        defer {
            if statement.wasPreparedAnew { hasPreparedAnew = true }
            statement.reset()
            statement.isInUse = false
        }
        try body(statement)
    }

    /// Runs one statement with arguments and no results.
    func run(_ sql: String, _ arguments: [StoredValue] = []) throws {
        let statement = try statement(sql)
        patternBudget.renew()
        try statement.bind(arguments)
        try statement.run()
    }

    /// Returns the integer in the first column of the first row.
    func integer(_ sql: String, _ arguments: [StoredValue] = []) throws -> Int64? {
        var result: Int64?
        try query(sql, arguments) { row in
            if result == nil, !row.isNull(0) { result = row.int64(0) }
        }
        return result
    }

    /// Returns the text in the first column of the first row.
    func text(_ sql: String, _ arguments: [StoredValue] = []) throws -> String? {
        var result: String?
        try query(sql, arguments) { row in if result == nil { result = row.string(0) } }
        return result
    }

    /// The number of rows that the last INSERT, UPDATE or DELETE changed.
    @inline(__always)
    var changes: Int32 { sqlite3_changes(handle) }

    private static func milliseconds(_ seconds: Double) -> Int32 { Int32(clamping: Int((seconds * 1000).rounded())) }

    /// Sets how many seconds a statement waits for locks of other connections.
    private func setTimeout(_ seconds: Double) { timeout = .milliseconds(Self.milliseconds(seconds)) }

    /// Runs `body` with another timeout.
    func withTimeout<Result>(_ seconds: Double, _ body: () throws -> Result) rethrows -> Result {
        let former = timeout
        setTimeout(seconds)
        defer { timeout = former }
        return try body()
    }

    /// Sleeps before SQLite tries again to take a lock of another connection.
    ///
    /// SQLite's own handler sleeps up to 100 ms. Beside programs that save without a pause, it
    /// waited for seconds: of 12 such processes one saved once in 6 seconds. With short sleeps of
    /// random length all take their turn, and wait up to 1.3 seconds.
    ///
    /// - Parameter attempt: The number of attempts before this one.
    /// - Returns: False when the timeout is over.
    private func waitsForLock(_ attempt: Int32) -> Bool {
        let now = ContinuousClock.now
        // SQLite does not count anew for each statement. A wait that goes on asks every few
        // milliseconds.
        if attempt == 0 || now > endOfWait + .seconds(1) { endOfWait = now + timeout }
        guard now < endOfWait else { return false }
        usleep(attempt < 3 ? .random(in: 200...500) : .random(in: 2000...6000))
        return true
    }

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    // MARK: Transactions

    enum TransactionKind: String {
        case deferred = "BEGIN"
        case immediate = "BEGIN IMMEDIATE"
    }

    /// Runs `body` in a transaction; an error rolls it back.
    func transaction<Result>(_ kind: TransactionKind, _ body: () throws -> Result) throws -> Result {
        try run(kind.rawValue)
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            if isInTransaction { try? run("ROLLBACK") }
            throw error
        }
    }
}
