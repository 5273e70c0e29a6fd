import CPostgreSQL
import CoreData
import Foundation

/// Makes connections with libpq, the client library of PostgreSQL itself.
enum LibPQDriver {
    /// Opens a connection.
    ///
    /// - Throws: `WireError`, whose message holds no password.
    static func connect(_ target: WireTarget) throws -> any DatabaseWire {
        let parameters = try ConnectionParameters(target)
        guard let connection = parameters.withKeywordsAndValues({ PQconnectdbParams($0, $1, 1) }) else {
            throw WireError(message: "there is no memory for a connection", isConnectionLost: true)
        }
        if PQstatus(connection) != CONNECTION_OK {
            let error = failure(of: connection)
            if let error {
                PQfinish(connection)
                throw error
            }
        }
        return LibPQConnection(connection)
    }

    /// Returns the reason why a connection could not be made; nil where a second attempt has made
    /// it.
    private static func failure(of connection: OpaquePointer) -> WireError? {
        var error = WireError(lastOf: connection)
        (error.isConnectionLost, error.isOfConnecting) = (true, true)
        // The library then makes no request to the server.
        if PQconnectionNeedsPassword(connection) != 0 { error.sqlState = WireError.wrongPassword }
        // The server's message comes without its code, unless the library is told otherwise before
        // it connects, which is possible for a second attempt only. The severity before the message
        // is in the server's language; the separator after it is not.
        guard error.message.contains(behindSeverity) else { return error }
        PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
        PQreset(connection)
        PQsetErrorVerbosity(connection, PQERRORS_DEFAULT)
        if PQstatus(connection) == CONNECTION_OK { return nil }
        error.sqlState = sqlState(in: String(cString: PQerrorMessage(connection)))
        return error
    }

    private static let behindSeverity = ":  "

    /// Returns the code in a message such as `FATAL:  28P01: password authentication failed`; the
    /// last one, where there are several.
    static func sqlState(in message: String) -> String? {
        var fields = message.components(separatedBy: behindSeverity).dropFirst()
        while let field = fields.popLast() {
            let code = field.prefix(5)
            if code.utf8.count == 5, field.dropFirst(5).hasPrefix(": "),
                code.utf8.allSatisfy({ (48...57).contains($0) || (65...90).contains($0) })
            {
                return String(code)
            }
        }
        return nil
    }
}
