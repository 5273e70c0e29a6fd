import CoreData
import Foundation

extension WireError {
    static let uniqueViolation = "23505"
    static let foreignKeyViolation = "23503"
    static let notNullViolation = "23502"
    static let checkViolation = "23514"
    /// A row violates the WITH CHECK OPTION of a view.
    static let checkOptionViolation = "44000"
    static let undefinedTable = "42P01"
    static let unknownDatabase = "3D000"
    static let undefinedColumn = "42703"
    static let undefinedFunction = "42883"
    static let unsupported = "0A000"

    var isUniqueViolation: Bool { sqlState == Self.uniqueViolation }

    /// Whether the server accepts no changes: a standby, for example.
    var isReadOnlyServer: Bool { sqlState == "25006" }

    /// Whether the whole transaction may succeed when it is run once more: after serialization
    /// failures and deadlocks, and after errors of prepared statements that no longer fit.
    var isTransient: Bool {
        switch sqlState {
        case "40001"?, "40P01"?, "26000"?: true
        case Self.unsupported?: message.contains("cached plan")
        default: false
        }
    }

    /// Whether a failed connection may succeed later: the server is absent, shuts down, starts, or
    /// has too many connections.
    var isUnreachable: Bool {
        switch sqlState {
        case nil, "57P01"?, "57P02"?, "57P03"?, "57P05"?, "53300"?: isConnectionLost
        // Codes of poolers whose server is absent.
        default: isConnectionLost && sqlState?.hasPrefix("08") == true
        }
    }

    /// Returns the error that the program gets.
    ///
    /// - Parameters:
    ///   - store: the store's URL without a password.
    /// - code: the error code for the operation that failed.
    func cocoaError(store: URL?, _ code: CocoaError.Code = .persistentStoreOperation) -> NSError {
        let userInfo = StoreOpeningErrors.userInfo(type: NSPostgreSQLStoreType, url: store).merging(reported) { $1 }
        if sqlState == Self.undefinedFunction, message.contains("function ocd_") {
            return CoreDataErrors.unanswerable(
                "the request", by: "PostgreSQL store", "\(PostgreSQLDialect.lacksFunctions): \(message)",
                advice: "Change the request, or filter and sort in memory.")
        }
        let (kind, recovery) = explanation(code)
        var text = "The store \(StoreName.path(store)): PostgreSQL says: \(message)"
        if let shownDetail { text += " (\(shownDetail))" }
        if let sqlState { text += " [SQLSTATE \(sqlState)]" }
        return CoreDataErrors.make(
            kind, text, recovery: [hint, recovery].compactMap { $0 }.joined(separator: " "), userInfo: userInfo)
    }

    /// The fields of the server's error, for the user info of errors. `Errors.md` names the keys.
    var reported: [String: Any] {
        let parts = [
            "SQLSTATE": sqlState, "statement": statement, "schema": schema, "table": table, "column": column,
            "constraint": constraint,
            "detail": shownDetail,
        ]
        return parts.compactMapValues { $0 }
    }

    /// The error's detail; nil where it is a whole row, whose values do not belong in messages that
    /// end in logs.
    var shownDetail: String? {
        [Self.notNullViolation, Self.checkViolation, Self.checkOptionViolation].contains(sqlState) ? nil : detail
    }

    /// Returns the error code for the program, and advice for its user.
    private func explanation(_ code: CocoaError.Code) -> (CocoaError.Code, String) {
        if isSilence {
            return (
                .persistentStoreTimeout,
                "The server is gone, or the network between drops what it says. Try again, or wait longer with "
                    + "NSPersistentStoreTimeoutOption."
            )
        }
        // The client library's message about a connection that was not made. Other messages may end
        // with a remark on TLS too.
        if sqlState == nil, message.hasPrefix("connection to server"),
            message.contains("SSL") || message.contains("certificate")
        {
            return (
                code,
                "Look whether the server speaks TLS, and whether its certificate is what sslmode and sslrootcert "
                    + "ask for."
            )
        }
        // These codes also apply to a connection that the server ended or refused: its reason comes
        // first.
        switch sqlState {
        case "55P03"?:
            return (
                .persistentStoreTimeout,
                "Another program holds the rows. Try again, or wait longer with NSPersistentStoreTimeoutOption."
            )
        case "57014"?:
            return (
                .persistentStoreTimeout,
                "The statement was cancelled, or ran longer than NSPersistentStoreTimeoutOption allows."
            )
        case "42501"?:
            return (.fileWriteNoPermission, "Grant the role what it needs, or connect as the owner of the schema.")
        case "25006"?: return (.fileWriteNoPermission, "The server takes no changes: it is a standby, or read-only.")
        case "53100"?: return (.fileWriteOutOfSpace, "The server's disk is full.")
        case "28000"?, "28P01"?: return (code, "Look at the user's name and password, and at the server's pg_hba.conf.")
        case "3D000"?: return (code, "Create the database, or name another one in the URL.")
        case "53300"?:
            return (
                code,
                "The server has no connection left: lower NSPersistentStoreConnectionPoolMaxSizeKey, or use a pooler."
            )
        case _ where isConnectionLost && !isOfConnecting:
            return (code, "The connection to the server was lost. Try again.")
        case nil: return (code, "Look whether the server runs at this address.")
        default: return (code, remedy)
        }
    }

    /// Advice for statements that the server refuses.
    private var remedy: String {
        switch sqlState {
        case Self.undefinedTable?, Self.undefinedColumn?, "3F000"?:
            "Another program has changed the store's tables: give back what is missing, or open the store with "
                + "another model."
        case Self.checkViolation?:
            "A CHECK that the model does not know refuses a value: change the value, or the constraint."
        case Self.notNullViolation?: "Give the attribute a value, or let the column have none."
        case Self.foreignKeyViolation?:
            "A row that is led to is missing, or one to be deleted is required by others: fetch or refresh the "
                + "objects, and save again."
        case Self.uniqueViolation?: "Another row has these values: change them, or set a merge policy."
        case let state? where state.hasPrefix("22"):
            "A value does not fit what is done with it: change the request, or the value."
        case let state? where state.hasPrefix("23"):
            "A constraint of the table refuses the rows: change them, or the constraint."
        case let state? where state.hasPrefix("53"): "The server has not enough of what it needs. Look at its log."
        default: "Look at the statement, which is in the error's userInfo, and at the server's log."
        }
    }
}
