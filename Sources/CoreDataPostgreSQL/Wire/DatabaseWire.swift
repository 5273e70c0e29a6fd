import CoreData

/// A connection to a database server, as a driver gives it: the one interface between the PostgreSQL store and a client library.
///
/// One thread at a time uses a connection, but for `cancel()`. Values cross it in PostgreSQL's binary format, in both directions.
protocol DatabaseWire: AnyObject {
    /// What the server said of itself and of this connection when it was opened.
    var facts: WireFacts { get }

    /// Whether the connection can still be used: false once it was closed or lost.
    var isUsable: Bool { get }

    /// Whether statements may be kept on the server between calls. The driver names and keeps those that ask for it while this is true.
    var keepsStatements: Bool { get set }

    /// Seconds that the server may say nothing for each statement that it has not answered, ten at most; nil for any time. Where it takes
    /// longer the connection is lost, with an error that says so.
    var longestSilence: Double? { get set }

    /// Runs one statement. One round trip, where it is kept already.
    ///
    /// - Parameter rows: called for each row of the result, as it arrives: the driver never holds a whole result. Where it throws, the rest
    ///   of the result is dropped and the error passed on.
    /// - Returns: how many rows the statement wrote or gave.
    /// - Throws: `WireError`.
    @discardableResult
    func execute(_ statement: WireStatement, rows: (WireRow) throws -> Void) throws -> Int

    /// Runs several statements in one round trip. The first that fails keeps the rest from being run.
    ///
    /// - Parameter rows: called for each row, with the place of its statement.
    /// - Returns: how many rows each statement wrote or gave.
    /// - Throws: `WireError`, which names the statement that failed.
    @discardableResult
    func executeAll(_ statements: [WireStatement], rows: (Int, WireRow) throws -> Void) throws -> [Int]

    /// Runs a `COPY … FROM STDIN` and sends what it takes.
    ///
    /// - Parameter body: is given what sends bytes, to be called any number of times. Where it throws, the copy is given up and nothing
    ///   was copied.
    /// - Returns: how many rows were copied.
    @discardableResult
    func copy(_ sql: String, _ body: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws -> Int

    /// Runs statements without arguments or results, separated by semicolons: all of them in one transaction, or within the current one.
    func run(_ sql: String) throws

    /// What `NOTIFY` sent to this connection and nobody has taken yet. Waits until there is something, the time has passed or
    /// `cancel()` was called.
    ///
    /// - Parameter seconds: how long to wait; 0 for not at all.
    func notifications(within seconds: Double) throws -> [WireNotification]

    /// Asks the server to end the statement that is running; it then fails with SQLSTATE 57014. May be called from any thread.
    func cancel()

    /// What asks the server to end the statement that is running, and does nothing while none is: for any thread, also when the connection
    /// is closed.
    var statementEnding: @Sendable () -> Void { get }

    /// Ends the connection. Nothing may be asked of it afterwards.
    func close()
}

/// Where and as whom to connect.
struct WireTarget: Sendable {
    /// A URL or a list of `keyword=value`, as the client library reads it: hosts, ports, database, user, TLS, service and password files.
    var connection: String
    /// Parameters that go before those of `connection`, by the client library's keywords.
    var overriding: [String: String]
    /// Parameters that go behind them: used where `connection` says nothing.
    var standard: [String: String]
    /// Whether a connection that leaves the machine has to be encrypted where nobody says otherwise: not `connection`, nor the environment,
    /// nor a service file.
    var isEncryptedOffMachine = false
    /// Asked for each connection, for passwords that expire; nil where the client library knows the password, or none is needed.
    var password: (@Sendable () throws -> String)?

    init(connection: String) {
        self.connection = connection
        overriding = [:]
        standard = [:]
    }
}

struct WireFacts: Sendable {
    /// For example 150004.
    var serverVersion: Int
    /// The process that the connection speaks to; a pooler shows itself by another one than `pg_backend_pid()`.
    var backendProcessID: Int32
    var host: String
    var database: String
    var user: String
    /// Whether the connection is encrypted.
    var isEncrypted: Bool
}

struct WireStatement {
    var sql: String
    var arguments: WireArguments
    /// Whether a statement with this text will be run again: the server then keeps its plan.
    var isKept: Bool

    init(_ sql: String, _ arguments: WireArguments = WireArguments(), isKept: Bool = false) {
        self.sql = sql
        self.arguments = arguments
        self.isKept = isKept
    }
}

/// One row of a result, valid while it is handed out.
struct WireRow {
    let count: Int
    /// The bytes of each column in binary format; nil for NULL. Not aligned.
    let values: UnsafePointer<UnsafePointer<UInt8>?>
    /// How many bytes each column has; meaningless for NULL.
    let lengths: UnsafePointer<Int32>
    /// The type's object identifier of each column.
    let types: UnsafePointer<UInt32>
}

struct WireNotification: Sendable {
    var channel: String
    var payload: String
}

/// What the server or the way to it has against a statement.
struct WireError: Error, Sendable {
    /// Five characters; nil where the server did not answer.
    var sqlState: String?
    var message: String
    var detail: String?
    var hint: String?
    var schema: String?
    var table: String?
    var column: String?
    var constraint: String?
    /// The statement that failed, without its values.
    var statement: String?
    /// Where it stands among those of one call.
    var statementIndex = 0
    /// Whether the connection is gone: what the server did with the last call is not known.
    var isConnectionLost: Bool
    /// Whether it was given up because the server said nothing for too long.
    var isSilence = false
    /// Whether the connection was not there yet.
    var isOfConnecting = false

    init(sqlState: String? = nil, message: String, isConnectionLost: Bool = false) {
        self.sqlState = sqlState
        self.message = message
        self.isConnectionLost = isConnectionLost
    }
}
