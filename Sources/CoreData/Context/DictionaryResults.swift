import Foundation

/// Rules for fetches with dictionary results that hold whatever the store.
enum DictionaryResults {
    /// Refuses a column that has several values within one group.
    ///
    /// The rule is that of `NSFetchRequest.propertiesToGroupBy`: selected values are literals, aggregates or grouped columns.
    static func checkGrouping(_ columns: StoreFetch.DictionaryColumns, entity name: String) throws {
        if columns.groupBy.isEmpty { return }
        let grouped = Set(columns.groupBy.compactMap(Self.name))
        for property in columns.properties {
            guard let path = keyPath(property), !grouped.contains(path), !grouped.contains(Self.name(property) ?? path) else { continue }
            throw CoreDataErrors.make(
                .coreData,
                "The fetch of \(name) is grouped by \(grouped.sorted().joined(separator: ", ")), so it cannot select \"\(path)\", "
                    + "which may differ within a group.",
                recovery: "Add it to propertiesToGroupBy, or select an aggregate of it.")
        }
    }

    /// The rows of several stores as one result, in the order and with the limits that the request asks for.
    static func joined(_ rows: [[String: Any]], _ fetch: StoreFetch) -> [[String: Any]] {
        var result = rows
        let names = Set((fetch.columns?.properties ?? []).compactMap(Self.name))
        let descriptors = fetch.sortDescriptors
        if !descriptors.isEmpty, descriptors.allSatisfy({ names.contains($0.key ?? "") }) {
            result = descriptors.order(of: rows.map { NSDictionary(dictionary: $0) }).map { rows[$0] }
        }
        if fetch.columns?.isDistinct == true {
            var seen: Set<NSDictionary> = []
            result = result.filter { seen.insert(NSDictionary(dictionary: $0)).inserted }
        }
        result = Array(result.dropFirst(fetch.offset))
        return fetch.limit > 0 ? Array(result.prefix(fetch.limit)) : result
    }

    private static func name(_ property: Any) -> String? {
        property as? String ?? (property as? NSPropertyDescription)?.name
    }

    /// The key path that a column shows as it is; nil for computed columns and for aggregates of all rows, such as `@sum.price`.
    private static func keyPath(_ property: Any) -> String? {
        guard let description = property as? NSExpressionDescription else { return name(property) }
        guard let expression = description.expression, expression.expressionType == .keyPath else { return nil }
        return expression.keyPath.hasPrefix("@") ? nil : expression.keyPath
    }
}
