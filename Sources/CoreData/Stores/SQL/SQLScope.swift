/// One row source of a query: a table under an alias, and the tables joined to it for key paths through to-one
/// relationships.
final class SQLScope {
    let alias: String
    let entity: SQLEntity
    private var joined: [String: (alias: String, entity: SQLEntity)] = [:]
    /// SQLite takes 64 tables in one query; some are left for the tables around a subquery.
    static let maximumJoins = 60

    /// How many tables are joined.
    var joinCount: Int { joined.count }

    /// ` LEFT OUTER JOIN …` for every joined table, in order.
    private(set) var joins = ""

    init(alias: String, entity: SQLEntity) {
        self.alias = alias
        self.entity = entity
    }

    /// The alias of the destination's table of a to-one relationship, joined once for each path.
    func join(path: String, from alias: String, column: SQLColumn, to destination: SQLEntity, newAlias: () -> String)
        -> (alias: String, entity: SQLEntity)
    {
        if let known = joined[path] { return known }
        let new = newAlias()
        joins +=
            " LEFT OUTER JOIN \(SQLSchema.identifier(destination.table.name)) \(new) "
            + "ON \(alias).\(SQLSchema.identifier(column.name)) = \(new).Z_PK"
        joined[path] = (new, destination)
        return (new, destination)
    }
}

/// What names mean inside a predicate: the evaluated object, and the variables of the subqueries around.
struct SQLEnvironment {
    var scope: SQLScope
    var variables: [String: SQLScope] = [:]
}
