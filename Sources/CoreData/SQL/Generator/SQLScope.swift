/// One row source of a query: a table under an alias, and the tables joined to it for key paths
/// through to-one relationships.
package final class SQLScope {
    let alias: String
    let entity: SQLEntity
    private let dialect: any SQLDialect
    private var joined: [String: (alias: String, entity: SQLEntity)] = [:]

    /// The alias of the first table of a query. The columns that are selected for whole rows use
    /// it.
    package static let firstAlias = "t0"

    /// ` LEFT OUTER JOIN …` for every joined table, in order.
    private(set) var joins = ""

    init(alias: String, entity: SQLEntity, _ dialect: any SQLDialect) {
        self.alias = alias
        self.entity = entity
        self.dialect = dialect
    }

    /// Returns the alias of a to-one relationship's destination table, which is joined once for
    /// each path.
    ///
    /// - Returns: nil where the database joins no further table.
    func join(path: String, from alias: String, column: SQLColumn, to destination: SQLEntity, newAlias: () -> String)
        -> (alias: String, entity: SQLEntity)?
    {
        if let known = joined[path] { return known }
        guard joined.count < dialect.limits.joins else { return nil }
        let new = newAlias()
        joins +=
            " LEFT OUTER JOIN \(dialect.identifier(destination.table.name)) \(new) "
            + "ON \(alias).\(dialect.identifier(column.name)) = "
            + "\(new).\(dialect.identifier(destination.table.keyColumn))"
        joined[path] = (new, destination)
        return (new, destination)
    }
}

/// The meaning of names inside a predicate: the evaluated object, and the variables of the
/// enclosing subqueries.
struct SQLEnvironment {
    var scope: SQLScope
    var variables: [String: SQLScope] = [:]
}
