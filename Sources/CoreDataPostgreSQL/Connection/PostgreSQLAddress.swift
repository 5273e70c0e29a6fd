import CoreData
import Foundation

/// The address of a store's schema, from the URL of a store description.
///
/// The parameters that begin with `ocd.` are the store's own; the others go to the client library.
struct PostgreSQLAddress: Sendable {
    /// The connection string for the client library, with the password where the URL has one.
    var connection: String
    /// The PostgreSQL schema that holds the store.
    var schema: String
    /// A second address, used for listening without a pooler; nil for the same address.
    var directConnection: String?
    /// The policy for new keys; nil for the server's default.
    var keys: PostgreSQLKeys.Policy?
    /// The kind of server; nil to learn it from the server itself.
    var server: PostgreSQLProfile?
    /// The URL without a password, which may be shown.
    let publicURL: URL

    /// The schema of a store whose URL names none.
    static let standardSchema = "core_data"
    private static let parameterPrefix = "ocd."

    /// - Throws: code 134080 for a URL that names no server, or has an unknown parameter.
    init(_ url: URL, options: [AnyHashable: Any]?) throws {
        let publicURL = url.withoutPassword
        self.publicURL = publicURL
        let name = StoreName.path(publicURL)
        func refuse(_ problem: String, _ recovery: String) -> NSError {
            CoreDataErrors.make(
                .persistentStoreOpen, "The store \(name) cannot be opened: \(problem)", recovery: recovery,
                userInfo: StoreOpeningErrors.userInfo(type: NSPostgreSQLStoreType, url: publicURL))
        }
        guard StoreModule.serverURLs.covers(url) else {
            throw refuse(
                "a PostgreSQL store needs a URL with the scheme postgresql.",
                "Write postgresql://user@host/database?ocd.schema=name.")
        }
        var own: [String: String] = [:]
        var text = url.absoluteString
        if let question = text.firstIndex(of: "?") {
            var others: [Substring] = []
            for parameter in text[text.index(after: question)...].split(separator: "&") {
                let parts = parameter.split(separator: "=", maxSplits: 1)
                let key = parts.first.map { $0.removingPercentEncoding ?? String($0) } ?? ""
                if key.hasPrefix(Self.parameterPrefix) {
                    own[String(key.dropFirst(Self.parameterPrefix.count))] =
                        parts.count > 1 ? parts[1].removingPercentEncoding ?? String(parts[1]) : ""
                } else {
                    others.append(parameter)
                }
            }
            text = String(text[..<question]) + (others.isEmpty ? "" : "?" + others.joined(separator: "&"))
        }
        switch options?[NSPostgreSQLConnectionInfoKey] {
        case nil: connection = text
        case let info as String where !info.isEmpty: connection = info
        case let other?:
            throw refuse(
                "the option \(NSPostgreSQLConnectionInfoKey) is no text, but \(type(of: other)).",
                "Give a connection string.")
        }
        schema = own.removeValue(forKey: "schema") ?? Self.standardSchema
        directConnection = own.removeValue(forKey: "direct")
        /// Returns the value that a parameter of the URL names.
        func take<Value>(_ parameter: String, _ values: [Value], name: (Value) -> String) throws -> Value? {
            guard let given = own.removeValue(forKey: parameter) else { return nil }
            if let value = values.first(where: { name($0) == given }) { return value }
            throw refuse(
                "its URL has \(Self.parameterPrefix)\(parameter)=\(given), which means nothing.",
                "Known are \(values.map(name).joined(separator: ", ")).")
        }
        keys = try take("keys", PostgreSQLKeys.Policy.allCases, name: \.rawValue)
        server = try take("server", PostgreSQLProfile.all, name: \.name)
        if let unknown = own.keys.min() {
            throw refuse(
                "its URL has the parameter '\(Self.parameterPrefix)\(unknown)', which means nothing.",
                "Known are ocd.schema, ocd.direct, ocd.keys and ocd.server.")
        }
        guard !schema.isEmpty, schema.utf8.count <= 63, !schema.contains("\0"), !schema.hasPrefix("pg_") else {
            throw refuse(
                "'\(schema)' cannot be the name of its schema.",
                "Choose a name of 1 to 63 bytes that does not begin with 'pg_'.")
        }
    }
}
