import Foundation

/// Rules for fetches with dictionary results. They hold for every kind of store.
enum DictionaryResults {
    /// Rejects a column that has several values within one group.
    ///
    /// The rule is that of `NSFetchRequest.propertiesToGroupBy`: selected values are literals,
    /// aggregates or grouped columns.
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

    /// Splits a fetch, without groups, that has columns of single rows beside aggregates.
    ///
    /// One part fetches the rows. The other one fetches the aggregates of all rows, which every row
    /// shows as well. Returns nil for any other fetch.
    static func parts(of fetch: StoreFetch) -> (rows: StoreFetch, totals: StoreFetch)? {
        guard let columns = fetch.columns, columns.groupBy.isEmpty else { return nil }
        func expression(_ property: Any) -> NSExpression? { (property as? NSExpressionDescription)?.expression }
        func isTotal(_ property: Any) -> Bool { expression(property)?.holdsRowAggregate(of: fetch.entity) == true }
        let ofTotals = columns.properties.filter(isTotal)
        let ofRows = columns.properties.filter { !isTotal($0) }
        if ofTotals.isEmpty || ofRows.allSatisfy({ expression($0)?.expressionType == .constantValue }) { return nil }
        var (rows, totals) = (fetch, fetch)
        rows.columns?.properties = ofRows
        // A value that is the same in all rows cannot sort them.
        let names = Set(ofTotals.compactMap(StoreFetch.DictionaryColumns.name))
        rows.sortDescriptors.removeAll { $0.key.map(names.contains) == true }
        totals.columns = StoreFetch.DictionaryColumns(properties: ofTotals)
        totals.sortDescriptors = []
        (totals.offset, totals.limit) = (0, 0)
        return (rows, totals)
    }

    /// Returns the key path of a column; nil for computed ones and aggregates of all rows.
    private static func keyPath(_ property: Any) -> String? {
        guard let description = property as? NSExpressionDescription else {
            return StoreFetch.DictionaryColumns.name(of: property)
        }
        guard let expression = description.expression, expression.expressionType == .keyPath else { return nil }
        return expression.keyPath.hasPrefix("@") ? nil : expression.keyPath
    }
}
