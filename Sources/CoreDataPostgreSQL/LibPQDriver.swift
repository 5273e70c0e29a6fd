import CPostgreSQL
import CoreData
import Foundation

/// Makes connections with libpq, the client library of PostgreSQL itself.
///
/// The engine finds this class by its name, so that whoever links the module has it without a call.
final class LibPQDriver: NSObject, DatabaseDriver {
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

    /// Why a connection could not be made; nil where the second attempt has made it.
    private static func failure(of connection: OpaquePointer) -> WireError? {
        var error = WireError(lastOf: connection)
        error.isConnectionLost = true
        // What the server said comes without its code, unless the library is told otherwise before it connects, which it can be for a
        // second attempt only.
        guard error.message.contains("FATAL") else { return error }
        PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
        PQreset(connection)
        PQsetErrorVerbosity(connection, PQERRORS_DEFAULT)
        if PQstatus(connection) == CONNECTION_OK { return nil }
        error.sqlState = sqlState(in: String(cString: PQerrorMessage(connection)))
        return error
    }

    /// The code in a message such as `FATAL:  28P01: password authentication failed`.
    static func sqlState(in message: String) -> String? {
        var fields = message.split(separator: ":", omittingEmptySubsequences: true)
        while let field = fields.popLast() {
            let text = field.drop { $0 == " " }
            if text.utf8.count == 5, field.hasPrefix("  ") || field.hasPrefix(" "),
                text.utf8.allSatisfy({ (48...57).contains($0) || (65...90).contains($0) }), fields.last?.hasSuffix("FATAL") == true
            {
                return String(text)
            }
        }
        return nil
    }
}

/// The parameters of a connection in the order in which the library takes them: the last that is said of one counts.
struct ConnectionParameters {
    private(set) var list: [(keyword: String, value: String)] = []

    init(_ target: WireTarget) throws {
        let said = try Self.read(target.connection)
        for (keyword, value) in target.standard.sorted(by: { $0.key < $1.key }) where Self.isOpen(keyword, said) {
            list.append((keyword, value))
        }
        list.append(("dbname", target.connection))
        list += target.overriding.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        if let password = target.password {
            do {
                list.append(("password", try password()))
            } catch {
                throw WireError(message: "no password could be had for the connection: \(error)", isConnectionLost: true)
            }
        }
        list.append(("client_encoding", "UTF8"))
        // C ends a text there: the rest would be lost without a word.
        for (keyword, value) in list where value.utf8.contains(0) || keyword.utf8.contains(0) {
            throw WireError(message: "the connection's parameter \(keyword) contains U+0000", isConnectionLost: true)
        }
    }

    /// Whether a parameter is left to what goes behind everything else: neither the connection string nor the environment has it. What
    /// a service file has is not known here, so it goes before.
    private static func isOpen(_ keyword: String, _ said: [String: String]) -> Bool {
        let environment = ProcessInfo.processInfo.environment
        if said[keyword] != nil || said["service"] != nil || !(environment["PGSERVICE"] ?? "").isEmpty { return false }
        guard let variable = variables[keyword] else { return true }
        return (environment[variable] ?? "").isEmpty
    }

    /// The variables of the environment that the library reads, by its keywords.
    private static let variables: [String: String] = {
        var variables: [String: String] = [:]
        guard let options = PQconndefaults() else { return [:] }
        defer { PQconninfoFree(options) }
        var option = options
        while let keyword = option.pointee.keyword {
            if let variable = option.pointee.envvar { variables[String(cString: keyword)] = String(cString: variable) }
            option += 1
        }
        return variables
    }()

    /// What a connection string says, by the library's keywords.
    private static func read(_ connection: String) throws -> [String: String] {
        // Without any of these marks it is the name of a database.
        guard connection.contains("=") || connection.hasPrefix("postgresql://") || connection.hasPrefix("postgres://") else { return [:] }
        var text: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(connection, &text) else {
            let reason = text.map { String(cString: $0).trimmed } ?? "there is no memory"
            PQfreemem(text)
            throw WireError(message: "the connection string cannot be read: \(withoutQuotations(reason))", isConnectionLost: true)
        }
        defer { PQconninfoFree(options) }
        var said: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { said[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        // A password's rest: the library would show it as the name of a host that it does not find.
        if let host = said["host"], host.dropFirst().contains("@") {
            throw WireError(
                message: "the connection string's host contains \"@\": write it as %40 where it belongs to a password",
                isConnectionLost: true)
        }
        return said
    }

    /// A message of the library without what it quotes: a wrong connection string's part may belong to the password.
    private static func withoutQuotations(_ message: String) -> String {
        let parts = message.split(separator: "\"", omittingEmptySubsequences: false)
        return parts.enumerated().map { $0 % 2 == 1 && $1.count > 1 ? "…" : String($1) }.joined(separator: "\"")
    }

    /// Calls a function of the library with the parameters as it takes them.
    func withKeywordsAndValues<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        var texts = list.map { (strdup($0.keyword), strdup($0.value)) }
        texts.append((nil, nil))
        defer {
            for (keyword, value) in texts {
                free(keyword)
                free(value)
            }
        }
        return body(texts.map { UnsafePointer($0.0) }, texts.map { UnsafePointer($0.1) })
    }
}
