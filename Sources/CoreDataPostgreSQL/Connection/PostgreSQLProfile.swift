import CoreData

/// What a store does by default on one kind of server. There is one constant for each kind that was tried.
struct PostgreSQLProfile: Sendable {
    /// The value of `ocd.server` in a URL that names the kind.
    let name: String
    /// A part of the text of `version()` by which the server says what it is.
    let mark: String
    /// How new keys are made.
    let keys: PostgreSQLKeys.Policy

    /// PostgreSQL 15 and newer.
    static let postgreSQL = PostgreSQLProfile(name: "postgresql", mark: "PostgreSQL", keys: .counted)

    static let all = [postgreSQL]

    /// The profile of a server by the text of its `version()`; PostgreSQL's for one that is not known.
    static func ofServer(version: String) -> PostgreSQLProfile { all.first { version.contains($0.mark) } ?? .postgreSQL }
}
