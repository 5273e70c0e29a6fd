import CPostgreSQL
import CoreData

/// A connection through libpq.
final class LibPQConnection: DatabaseWire {
    let facts: WireFacts
    /// Nil once it was closed.
    private(set) var connection: OpaquePointer?
    /// Whether the server has ended the connection, or its next answer can no longer be matched to
    /// a statement.
    var isLost = false
    var longestSilence: Double?
    /// Seconds that the server was silent, where that was too long.
    var silence: Double?
    let cancellation: LibPQCancellation
    var kept = KeptStatements()
    var row = RowBuffer()
    var arguments = ArgumentBuffer()
    /// The largest number of bytes of all values in a statement. Tests lower it.
    var mostBytes = 1 << 30 - 1 << 20
    /// Whether a transaction was open when the running statement was sent.
    private(set) var wasWithinTransaction = false

    /// Adopts an open connection.
    init(_ connection: OpaquePointer) {
        self.connection = connection
        // The library would print the server's notices.
        PQsetNoticeReceiver(connection, { _, _ in }, nil)
        func text(_ pointer: UnsafeMutablePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
        facts = WireFacts(
            serverVersion: Int(PQserverVersion(connection)), backendProcessID: PQbackendPID(connection),
            host: text(PQhost(connection)),
            database: text(PQdb(connection)), user: text(PQuser(connection)), isEncrypted: PQsslInUse(connection) != 0)
        cancellation = LibPQCancellation(of: connection)
    }

    deinit { close() }

    var isUsable: Bool {
        guard let connection, !isLost else { return false }
        return PQstatus(connection) == CONNECTION_OK
    }

    var keepsStatements = true {
        didSet { if !keepsStatements { kept.removeAll() } }
    }

    func cancel() { cancellation.cancel() }

    var statementEnding: @Sendable () -> Void { cancellation.cancelRunningStatement }

    func close() {
        guard let connection else { return }
        // First, so that no thread sends a request any more.
        cancellation.close()
        PQfinish(connection)
        self.connection = nil
    }

    /// Returns the connection if it can be used.
    func usable() throws -> OpaquePointer {
        guard let connection, !isLost, PQstatus(connection) == CONNECTION_OK else { throw WireError.closed }
        return connection
    }

    /// Must be called before a statement is sent; `cancellation.end()` follows when its results
    /// were taken.
    ///
    /// - Throws: an error if the server does not answer the request to end an earlier statement.
    ///   The connection is then lost.
    func begin(_ sql: String, on connection: OpaquePointer) throws {
        wasWithinTransaction = PQtransactionStatus(connection) != PQTRANS_IDLE
        guard cancellation.begin(within: longestSilence) else {
            let message = "the server has not answered the request to end an earlier statement"
            throw lost(WireError(message: message, isConnectionLost: true), sql, 0, on: connection)
        }
    }

    // MARK: Statements

    @discardableResult
    func execute(_ statement: WireStatement, rows: (WireRow) throws -> Void) throws -> Int {
        let connection = try usable()
        try check(statement)
        if statement.isKept, keepsStatements {
            return try executeKept(statement, on: connection, rows)
        }
        try begin(statement.sql, on: connection)
        defer { cancellation.end() }
        let sent = statement.sql.withCString { sql in
            arguments.with(statement.arguments) { PQsendQueryParams(connection, sql, $0, $1, $2, $3, $4, 1) }
        }
        return try finish(sent, statement.sql, on: connection, rows)
    }

    private func executeKept(_ statement: WireStatement, on connection: OpaquePointer, _ rows: (WireRow) throws -> Void)
        throws -> Int
    {
        let isWithinTransaction = PQtransactionStatus(connection) != PQTRANS_IDLE
        if !isWithinTransaction { try makeRoom(on: connection) }
        guard let found = kept.find(statement) else {
            return try pipeline([statement], on: connection) { try rows($1) }[0]
        }
        do {
            try begin(statement.sql, on: connection)
            defer { cancellation.end() }
            let sent = found.name.withCString { name in
                arguments.with(statement.arguments) { count, _, values, lengths, formats in
                    PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1)
                }
            }
            return try finish(sent, statement.sql, on: connection, rows)
        } catch let error as WireError where error.isAboutKeptStatement {
            // The server reports this before it returns a row.
            kept.forget(found, isOnServer: error.sqlState != WireError.unknownStatement)
            if isWithinTransaction { throw error }
            return try pipeline([statement], on: connection) { try rows($1) }[0]
        }
    }

    @discardableResult
    func executeAll(_ statements: [WireStatement], rows: (Int, WireRow) throws -> Void) throws -> [Int] {
        let connection = try usable()
        for (index, statement) in statements.enumerated() { try check(statement, index: index) }
        if statements.isEmpty { return [] }
        if PQtransactionStatus(connection) != PQTRANS_IDLE { return try pipeline(statements, on: connection, rows) }
        try makeRoom(on: connection)
        do {
            return try pipeline(statements, on: connection, rows)
        } catch let error as WireError where error.isAboutKeptStatement && error.statementIndex == 0 && isUsable {
            // Nothing was done yet.
            return try pipeline(statements, on: connection, rows)
        }
    }

    func run(_ sql: String) throws {
        let connection = try usable()
        let statement = WireStatement(sql)
        try check(statement)
        try begin(sql, on: connection)
        defer { cancellation.end() }
        _ = try finish(sql.withCString { PQsendQuery(connection, $0) }, sql, on: connection) { _ in }
    }

    /// Gives up statements that the server keeps although they were not used for long.
    private func makeRoom(on connection: OpaquePointer) throws {
        guard let sql = kept.makeRoom() else { return }
        // If the server does not know one of them any more, it knows none of them, and reports that
        // again when one is used.
        do { try run(sql) } catch let error as WireError where !error.isConnectionLost {}
        _ = try usable()
    }

    /// Refuses a statement that could not be sent unchanged.
    private func check(_ statement: WireStatement, index: Int = 0) throws {
        // C ends a text there, and another statement than this would be run.
        if statement.sql.utf8.contains(0) {
            throw WireError.refused(statement.sql, "a statement cannot contain U+0000", index: index)
        }
        if statement.arguments.count > Self.mostArguments {
            throw WireError.refused(
                statement.sql,
                "a statement cannot have more than \(Self.mostArguments) arguments, and this has "
                    + "\(statement.arguments.count)",
                index: index)
        }
        if statement.arguments.bytes.count > mostBytes {
            // The server would end the connection.
            var error = WireError.refused(
                statement.sql,
                "the values of a statement have \(statement.arguments.bytes.count) bytes, and the server takes less "
                    + "than one GiB at once",
                index: index)
            error.sqlState = WireError.programLimit
            throw error
        }
    }

    private static let mostArguments = 65_535
}

extension WireError {
    static let unknownStatement = "26000"
    /// The server's code for a statement that is larger than it accepts.
    static let programLimit = "54000"
    /// The message for 0A000, a code that many other errors have.
    static let changedResult = "cached plan must not change result type"

    /// Whether the error says that a kept statement is gone, or was prepared for columns that have
    /// changed.
    var isAboutKeptStatement: Bool {
        sqlState == Self.unknownStatement || sqlState == "0A000" && message.contains(Self.changedResult)
    }
}
