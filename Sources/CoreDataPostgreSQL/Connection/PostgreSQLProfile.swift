import CoreData

/// The defaults of a store on one kind of server. There is one constant for each kind that was
/// tried.
struct PostgreSQLProfile: Sendable {
    /// The value of `ocd.server` in a URL that selects the kind.
    let name: String
    /// A part of the text of `version()` that identifies the server.
    let mark: String
    let keys: PostgreSQLKeys.Policy

    /// PostgreSQL 15 and newer.
    static let postgreSQL = PostgreSQLProfile(name: "postgresql", mark: "PostgreSQL", keys: .counted)

    static let all = [postgreSQL]

    /// Returns the profile of a server by the text of its `version()`; PostgreSQL's for an unknown
    /// server.
    static func ofServer(version: String) -> PostgreSQLProfile {
        all.first { version.contains($0.mark) } ?? .postgreSQL
    }
}
