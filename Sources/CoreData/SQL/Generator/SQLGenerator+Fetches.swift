// Whole fetches.
extension SQLGenerator {
    /// Returns the SQL of a fetch of rows, references or their number.
    ///
    /// - Parameter columns: returns the columns to select for whole rows.
    package func fetch(_ fetch: StoreFetch, _ entity: SQLEntity, columns: () -> SelectColumns) throws -> SQLText {
        let scope = newScope(entity)
        let environment = SQLEnvironment(scope: scope)
        let condition = try fetch.predicate.map { try self.condition($0, in: environment) }
        let order = fetch.shape == .count ? SQLText("") : try self.order(fetch.sortDescriptors, in: scope)
        let exclusion = fetch.excludedKeys.isEmpty ? nil : dialect.isNoKey(key(scope), in: fetch.excludedKeys)
        let source = source(scope, where: [condition, exclusion], includesSubentities: fetch.includesSubentities)
        let limits = dialect.limits(fetch.limit, offset: fetch.offset)
        switch fetch.shape {
        case .rows, .dictionaries: return ("SELECT " + columns().sql) + source + order + limits
        case .references:
            let number = fetch.isOfOneEntity ? "0" : column(scope.alias, entity.table.numberColumn)
            return "SELECT \(number), \(key(scope))" + source + order + limits
        case .count:
            return limits.isEmpty
                ? "SELECT COUNT(*)" + source : "SELECT COUNT(*) FROM " + dialect.table(of: "SELECT 1" + source + limits)
        }
    }
}

extension StoreFetch {
    /// Whether all rows are of one entity.
    package var isOfOneEntity: Bool { !includesSubentities || entity.familyIndexes.count == 1 }
}
