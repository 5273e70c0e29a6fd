import Foundation

/// Rules for fetches with dictionary results that hold whatever the store.
enum DictionaryResults {
    /// Refuses a column that has several values within one group.
    ///
    /// The rule is that of `NSFetchRequest.propertiesToGroupBy`: selected values are literals, aggregates or grouped columns.
    static func checkGrouping(_ columns: StoreFetch.DictionaryColumns, of entity: EntityLayout) throws {
        if columns.groupBy.isEmpty { return }
        for property in columns.properties {
            guard let path = keyPath(property), !columns.groups(by: property),
                NSExpression(forKeyPath: path).groupFunction(of: entity) == nil
            else { continue }
            let grouped = Set(columns.groupBy.compactMap(StoreFetch.DictionaryColumns.name))
            throw CoreDataErrors.ungroupedColumn(path, of: entity.name, groupedBy: grouped.sorted())
        }
    }

    /// The key path that a column shows as it is; nil for computed columns and for aggregates of all rows, such as `@sum.price`.
    private static func keyPath(_ property: Any) -> String? {
        guard let description = property as? NSExpressionDescription else { return StoreFetch.DictionaryColumns.name(of: property) }
        guard let expression = description.expression, expression.expressionType == .keyPath else { return nil }
        return expression.keyPath.hasPrefix("@") ? nil : expression.keyPath
    }
}
