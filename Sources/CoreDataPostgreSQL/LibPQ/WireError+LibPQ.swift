import CPostgreSQL
import CoreData

extension WireError {
    /// Creates the error that a result reports.
    init(_ result: OpaquePointer, of connection: OpaquePointer) {
        func field(_ code: Int) -> String? { PQresultErrorField(result, Int32(code)).map { String(cString: $0) } }
        let severity = field(ocd_pq_severity)
        let message = field(ocd_pq_message) ?? String(cString: PQresultErrorMessage(result)).trimmed
        // The class 08 alone proves nothing: errors of a foreign server, or of a wrong count of
        // arguments, leave the connection as it was.
        let isFatal = severity == "FATAL" || severity == "PANIC"
        self.init(
            sqlState: field(ocd_pq_sqlstate), message: message.isEmpty ? "the server gave no reason" : message,
            isConnectionLost: isFatal || PQstatus(connection) != CONNECTION_OK)
        // The message is in the server's language, the function's name is not.
        if sqlState == "0A000", field(ocd_pq_function) == "RevalidateCachedQuery" { self.message = Self.changedResult }
        detail = field(ocd_pq_detail)
        hint = field(ocd_pq_hint)
        schema = field(ocd_pq_schema)
        table = field(ocd_pq_table)
        column = field(ocd_pq_column)
        constraint = field(ocd_pq_constraint)
    }

    /// Creates an error from the client library's last message about a connection.
    init(lastOf connection: OpaquePointer) {
        let message = String(cString: PQerrorMessage(connection)).trimmed
        self.init(
            message: message.isEmpty ? "the connection to the server ended" : message,
            isConnectionLost: PQstatus(connection) != CONNECTION_OK)
    }

    /// The code also for a missing password.
    static let wrongPassword = "28P01"

    static let closed = WireError(message: "the connection is closed", isConnectionLost: true)

    /// Returns the error for a statement that was not sent.
    static func refused(_ statement: String, _ reason: String, index: Int = 0) -> WireError {
        var error = WireError(message: reason)
        error.statement = statement
        error.statementIndex = index
        return error
    }
}

extension String {
    /// The text without the line feed that ends the library's messages.
    var trimmed: String {
        var text = self[...]
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}
