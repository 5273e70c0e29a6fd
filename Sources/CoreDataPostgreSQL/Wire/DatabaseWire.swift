import CoreData

/// A connection to a database server, as a driver implements it. It is the one interface between
/// the PostgreSQL store and a client library.
///
/// One thread at a time uses a connection, except for `cancel()`. Values are in PostgreSQL's binary
/// format, in both directions.
protocol DatabaseWire: AnyObject {
    /// The facts about the server and this connection, as the server gave them when it was opened.
    var facts: WireFacts { get }

    /// Whether the connection can still be used: false once it was closed or lost.
    var isUsable: Bool { get }

    /// Whether statements may be kept on the server between calls. While this is true, the driver
    /// names and keeps the statements that ask for it.
    var keepsStatements: Bool { get set }

    /// Seconds that the server may be silent for each statement that it has not answered, for ten
    /// statements at most; nil for no limit.
    ///
    /// After a longer silence the connection is lost, with an error that says so.
    var longestSilence: Double? { get set }

    /// Runs one statement, in one round trip if it is kept already.
    ///
    /// - Parameter rows: called for each row of the result, as it arrives: the driver never holds a
    ///   whole result. If it throws, the rest of the result is dropped and the error is passed on.
    /// - Returns: the number of rows that the statement wrote or returned.
    /// - Throws: `WireError`.
    @discardableResult
    func execute(_ statement: WireStatement, rows: (WireRow) throws -> Void) throws -> Int

    /// Runs several statements in one round trip. After the first one that fails, the rest are not
    /// run.
    ///
    /// - Parameter rows: called for each row, with the index of its statement.
    /// - Returns: the number of rows that each statement wrote or returned.
    /// - Throws: `WireError`, which names the statement that failed.
    @discardableResult
    func executeAll(_ statements: [WireStatement], rows: (Int, WireRow) throws -> Void) throws -> [Int]

    /// Runs a `COPY … FROM STDIN` and sends its data.
    ///
    /// - Parameter body: gets a function that sends bytes, which it may call any number of times.
    ///   If the body throws, the copy is given up and nothing is copied.
    /// - Returns: the number of copied rows.
    @discardableResult
    func copy(_ sql: String, _ body: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws -> Int

    /// Runs statements without arguments or results, separated by semicolons: all of them in one
    /// transaction, or within the current one.
    func run(_ sql: String) throws

    /// Returns the notifications that `NOTIFY` sent to this connection and that were not taken yet.
    /// Waits until there is one, the time has passed or `cancel()` was called.
    ///
    /// - Parameter seconds: the time to wait; 0 for none.
    func notifications(within seconds: Double) throws -> [WireNotification]

    /// Asks the server to end the running statement, which then fails with SQLSTATE 57014. May be
    /// called from any thread.
    func cancel()

    /// A function that asks the server to end the running statement, and does nothing while none
    /// runs. Any thread may call it, also after the connection is closed.
    var statementEnding: @Sendable () -> Void { get }

    /// Ends the connection. It must not be used afterwards.
    func close()
}

/// The server, role and database to connect to.
struct WireTarget: Sendable {
    /// A URL or a list of `keyword=value`, as the client library reads it: hosts, ports, database,
    /// user, TLS, service and password files.
    var connection: String
    /// Parameters that override those of `connection`, by the client library's keywords.
    var overriding: [String: String]
    /// Default parameters, used where `connection` says nothing.
    var standard: [String: String]
    /// Whether a connection that leaves the machine has to be encrypted where no source says
    /// otherwise: `connection`, the environment, or a service file.
    var isEncryptedOffMachine = false
    /// Gives the password for each connection, for passwords that expire; nil where the client
    /// library knows the password, or none is needed.
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
    /// The server process of the connection. Behind a pooler it differs from `pg_backend_pid()`.
    var backendProcessID: Int32
    var host: String
    var database: String
    var user: String
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
    /// The number of bytes of each column; meaningless for NULL.
    let lengths: UnsafePointer<Int32>
    /// The object identifier of each column's type.
    let types: UnsafePointer<UInt32>
}

struct WireNotification: Sendable {
    var channel: String
    var payload: String
}

/// An error of a statement, from the server or from the connection to it.
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
    /// The index of the statement among those of one call.
    var statementIndex = 0
    /// Whether the connection is gone: the server's action on the last call is not known.
    var isConnectionLost: Bool
    /// Whether the connection was given up because the server was silent for too long.
    var isSilence = false
    /// Whether the connection was not made yet.
    var isOfConnecting = false

    init(sqlState: String? = nil, message: String, isConnectionLost: Bool = false) {
        self.sqlState = sqlState
        self.message = message
        self.isConnectionLost = isConnectionLost
    }
}
