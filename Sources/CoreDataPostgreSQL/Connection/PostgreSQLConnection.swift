import CoreData
import Foundation

/// A connection to the schema of one store. One thread at a time uses it.
final class PostgreSQLConnection {
    let wire: any DatabaseWire
    private let settings: PostgreSQLSettings
    /// Whether a pooler may give each transaction another server process, where earlier settings
    /// are unknown.
    let isPooled: Bool
    /// Checks whether another program has changed the tables.
    var watch: PostgreSQLSchemaWatch?
    private(set) var isInTransaction = false {
        didSet { if !isInTransaction, wire.longestSilence == nil { wire.longestSilence = settings.longestSilence } }
    }

    init(_ wire: any DatabaseWire, _ settings: PostgreSQLSettings) throws {
        self.wire = wire
        var settings = settings
        wire.longestSilence = settings.longestSilence
        var processID: Int64 = 0
        func take(_ row: WireRow) {
            processID = row.int64(0)
            settings.compiles = row.int64(1) > 0
            settings.escapesTexts = row.int64(2) > 0
            settings.roundsNumbers = row.int64(3) > 0
        }
        let query = WireStatement("SELECT pg_backend_pid(), \(PostgreSQLSettings.found)")
        do { try wire.execute(query, rows: take) } catch let error as WireError where error.sqlState == "0A000" {
            // A standby refuses reads at an isolation level that it does not support: the level is
            // named.
            try wire.executeAll([WireStatement(Self.begin), query, WireStatement("ROLLBACK")]) { take($1) }
        }
        self.settings = settings
        isPooled = processID != Int64(wire.facts.backendProcessID)
        if isPooled {
            wire.keepsStatements = false
        } else {
            try wire.run(settings.statements(isLocal: false))
        }
    }

    // MARK: Statements

    /// Runs one statement.
    ///
    /// - Returns: the number of rows that it wrote or returned.
    @discardableResult
    func execute(_ statement: WireStatement, rows: (WireRow) throws -> Void = { _ in }) throws -> Int {
        if isInTransaction || !isPooled && watch == nil { return try wire.execute(statement, rows: rows) }
        guard let watch else { return try runInTransaction([statement]) { try rows($1) }[0] }
        return try watched([statement], by: watch) { try rows($1) }[0]
    }

    /// Runs several statements in one round trip, and in one transaction where none is open.
    @discardableResult
    func executeAll(_ statements: [WireStatement], rows: (Int, WireRow) throws -> Void = { _, _ in }) throws -> [Int] {
        if isInTransaction { return try wire.executeAll(statements, rows: rows) }
        guard let watch else { return try runInTransaction(statements, rows: rows) }
        return try watched(statements, by: watch, rows: rows)
    }

    /// Runs statements outside of a transaction. At intervals, adds a statement that shows whether
    /// the tables are still the same.
    private func watched(
        _ statements: [WireStatement], by watch: PostgreSQLSchemaWatch, rows: (Int, WireRow) throws -> Void
    ) throws -> [Int] {
        guard watch.claim() else {
            do { return try runInTransaction(statements, rows: rows) } catch let error as WireError {
                throw try explanation(of: error, watch)
            }
        }
        var mark: String?
        let counts: [Int]
        do {
            counts = try runInTransaction(statements + [watch.question]) { index, row in
                if index == statements.count { mark = row.string(0) } else { try rows(index, row) }
            }
        } catch {
            watch.expire()
            if let error = error as? WireError { throw try explanation(of: error, watch) }
            throw error
        }
        try watch.take(mark, self)
        return Array(counts.dropLast())
    }

    /// Returns the same error; throws another one if the cause is that the tables have changed.
    private func explanation(of error: WireError, _ watch: PostgreSQLSchemaWatch) throws -> WireError {
        guard watch.isConcerned(by: error) else { return error }
        self.watch = nil
        defer { self.watch = watch }
        // A check that fails does not replace the original error.
        do { try watch.check(self) } catch is WireError {}
        return error
    }

    private func runInTransaction(_ statements: [WireStatement], rows: (Int, WireRow) throws -> Void) throws -> [Int] {
        if !isPooled, statements.count == 1 { return [try wire.execute(statements[0]) { try rows(0, $0) }] }
        let opening = beginning()
        let all = opening + statements + [Self.commit]
        do {
            let counts = try wire.executeAll(all) { index, row in
                if index >= opening.count { try rows(index - opening.count, row) }
            }
            return Array(counts[opening.count..<(counts.count - 1)])
        } catch {
            // A failed statement may have left the transaction open.
            rollBack()
            throw error
        }
    }

    /// Begins a transaction whose statements see everything that was committed before them,
    /// whatever the default isolation of the role or the database is.
    private static let begin = "BEGIN ISOLATION LEVEL READ COMMITTED"
    /// The same for a connection whose default isolation is set to that. To name the isolation
    /// costs the server a sixth of a small save.
    private static let beginAsSet = [WireStatement("BEGIN", isKept: true)]
    private static let commit = WireStatement("COMMIT")

    /// Returns the statements that begin a transaction.
    private func beginning() -> [WireStatement] {
        isPooled
            ? [WireStatement(Self.begin)] + settings.list(isLocal: true).map { WireStatement($0) } : Self.beginAsSet
    }

    /// Returns the first number of a result; nil for none.
    func integer(_ statement: WireStatement) throws -> Int64? {
        var result: Int64?
        try execute(statement) { row in
            if !row.isNull(0) { result = row.int64(0) }
        }
        return result
    }

    /// Returns the first text of each row of a result, without the rows that have none.
    func texts(_ statement: WireStatement) throws -> [String] {
        var texts: [String] = []
        try execute(statement) { if let text = $0.string(0) { texts.append(text) } }
        return texts
    }

    // MARK: Transactions

    /// Begins a transaction together with its first statements, in one round trip.
    @discardableResult
    func begin(with statements: [WireStatement], rows: (Int, WireRow) throws -> Void = { _, _ in }) throws -> [Int] {
        let opening = beginning()
        isInTransaction = true
        do {
            let counts = try wire.executeAll(opening + statements) { index, row in
                if index >= opening.count { try rows(index - opening.count, row) }
            }
            return Array(counts[opening.count...])
        } catch {
            rollBack()
            throw error
        }
    }

    /// Ends a transaction together with its last statements, in one round trip. If no transaction
    /// is open, begins one too.
    ///
    /// - Throws: the error of a statement. If the connection is still usable, the transaction is
    ///   then open and can only be rolled back, to a savepoint or as a whole. The pool rolls it
    ///   back for a caller that does not.
    /// - Returns: the number of rows that each statement wrote or returned.
    @discardableResult
    func commit(with statements: [WireStatement] = [], rows: (Int, WireRow) throws -> Void = { _, _ in }) throws
        -> [Int]
    {
        let opening = isInTransaction ? [] : beginning()
        isInTransaction = true
        let counts = try wire.executeAll(opening + statements + [Self.commit]) { index, row in
            if index >= opening.count { try rows(index - opening.count, row) }
        }
        isInTransaction = false
        return Array(counts[opening.count..<(counts.count - 1)])
    }

    /// Removes the time limit from the statements of the open transaction.
    func liftTimeLimit() throws {
        try wire.run(settings.withoutTimeLimit)
        wire.longestSilence = nil
    }

    func rollBack() {
        isInTransaction = false
        // A connection that cannot roll back is closed, and the pool drops it.
        if wire.isUsable { do { try wire.run("ROLLBACK") } catch { wire.close() } }
    }

    /// Runs a block in a transaction.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try begin(with: [])
        do {
            let result = try body()
            try commit()
            return result
        } catch {
            if isInTransaction { rollBack() }
            throw error
        }
    }
}

/// The settings of each connection of a store.
struct PostgreSQLSettings: Sendable {
    let schema: String
    /// Whether the tables are external: their triggers may use objects of other schemas, and their
    /// times have no zone.
    var isExternal = false
    /// Seconds that a statement may run, and wait for a lock.
    var statementTimeout: Double
    var lockTimeout: Double
    /// Whether the server compiles statements that it estimates to be expensive, by its own
    /// default. Its estimates for new tables, or for functions, are often wrong: compiling a
    /// statement then takes longer than running it many times.
    var compiles = false

    /// Whether backslashes in literals are escapes, as the role or the database is set to.
    var escapesTexts = false
    /// Whether floating-point numbers are written with fewer digits than they have.
    var roundsNumbers = false

    /// Reads the last three properties, in their order.
    static let found =
        "(SELECT count(*) FROM pg_catalog.pg_settings WHERE name = 'jit' AND setting = 'on' AND source = 'default'), "
        + "current_setting('standard_conforming_strings') = 'off', CAST(current_setting('extra_float_digits') AS "
        + "integer) < 1"

    /// The shortest and the longest timeout that the server accepts, in seconds.
    static let shortestTimeout = 0.001
    static let longestTimeout = 2_000_000.0

    private static let idleTimeout = "60s"
    /// Seconds that an answer may take over the network.
    private static let longestWay = 5.0

    /// Seconds after which a silent server counts as gone, or its answers as lost: the server ends
    /// statements by itself before.
    var longestSilence: Double { statementTimeout + min(Self.longestWay, statementTimeout) }

    /// The settings of a transaction that works on all rows and has no time limit.
    ///
    /// The locks of a program that is gone end with its connection. The server notices that by
    /// itself: by the silence of the program's host, or because no statement comes for minutes.
    fileprivate var withoutTimeLimit: String {
        let limits = [
            "statement_timeout TO 0", "idle_in_transaction_session_timeout TO '10min'", "tcp_keepalives_idle TO 60",
            "tcp_keepalives_interval TO 10", "tcp_keepalives_count TO 3",
        ]
        return limits.map { "SET LOCAL " + $0 }.joined(separator: "; ")
    }

    /// Returns the statements that apply the settings to a connection, or to a transaction.
    func list(isLocal: Bool) -> [String] {
        let set = isLocal ? "SET LOCAL" : "SET"
        let kind = isExternal ? ["\(set) TimeZone TO 'UTC'"] : ["\(set) \(PostgreSQLFunctions.writerSetting) TO 'on'"]
        let isolation = isLocal ? [] : ["SET default_transaction_isolation TO 'read committed'"]
        let values =
            (escapesTexts ? ["\(set) standard_conforming_strings TO on"] : [])
            + (roundsNumbers ? ["\(set) extra_float_digits TO 1"] : [])
        return isolation + values + kind + [
            "\(set) search_path TO \(PostgreSQLDialect().identifier(schema))\(isExternal ? ", public" : ""), pg_temp",
            "\(set) statement_timeout TO \(Int((statementTimeout * 1000).rounded(.up)))",
            "\(set) lock_timeout TO \(lockTimeoutInMilliseconds)",
            "\(set) idle_in_transaction_session_timeout TO '\(Self.idleTimeout)'",
        ] + (compiles ? ["\(set) jit TO off"] : [])
    }

    var lockTimeoutInMilliseconds: Int { Int((lockTimeout * 1000).rounded(.up)) }

    func statements(isLocal: Bool) -> String { list(isLocal: isLocal).joined(separator: "; ") }
}
