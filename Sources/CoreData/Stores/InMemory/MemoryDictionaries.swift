import Foundation

/// Dictionary results of a fetch over tables in memory: columns, groups and aggregates.
struct MemoryDictionaries {
    let columns: StoreFetch.DictionaryColumns
    let plan: StoreFetch
    let tables: MemoryTables
    let store: NSPersistentStore

    /// One entry of the dictionaries.
    private struct Column {
        let name: String
        let expression: NSExpression
        /// How the value is computed over a whole group; nil for a value of one row.
        let aggregate: RowAggregate?
        /// What the value is to be converted to; nil for what it is.
        var kind: ValueKind?
    }

    func run(over rows: [Snapshot]) -> [[String: Any]] {
        let shown = columns.properties.compactMap(column)
        let groupColumns = columns.groupBy.compactMap(column)
        let isGrouped = !groupColumns.isEmpty || shown.contains { $0.aggregate != nil }
        var results: [[String: Any]]
        if isGrouped {
            let groups = groups(of: rows, by: groupColumns)
            results = groups.map { dictionary(of: $0, shown) }
            if let having = columns.having {
                results = zip(groups, results).compactMap { rows, result in
                    // A result column is named by a key path or by a variable.
                    let group = GroupView(result: result, rows: rows.map { RowView(row: $0, tables: tables, store: store) })
                    return having.evaluate(with: group, substitutionVariables: result) ? result : nil
                }
            }
        } else {
            results = MemorySort(plan.sortDescriptors, tables: tables, store: store).sorted(rows).map {
                dictionary(of: [$0], shown)
            }
        }
        if columns.isDistinct { results = distinct(results, shown) }
        if isGrouped, !plan.sortDescriptors.isEmpty { results = sorted(results) }
        return MemoryFetch.cut(results, plan)
    }

    // MARK: - Columns

    private func column(_ property: Any) -> Column? {
        switch property {
        case let description as NSExpressionDescription:
            guard let expression = description.expression else { return nil }
            let column = expression.withRowAggregate
            return Column(
                name: description.name, expression: column, aggregate: RowAggregate(column, of: plan.entity),
                kind: ValueKind(resultOf: description.expressionResultType))
        case let description as NSPropertyDescription: return column(description.name)
        case let path as String: return column(path)
        default: return nil
        }
    }

    private func column(_ path: String) -> Column {
        Column(name: path, expression: NSExpression(forKeyPath: path), aggregate: nil)
    }

    // MARK: - Rows and groups

    private func groups(of rows: [Snapshot], by groupColumns: [Column]) -> [[Snapshot]] {
        guard !groupColumns.isEmpty else { return [rows] }
        var groups: [[Snapshot]] = []
        var places: [ValuesKey: Int] = [:]
        for row in rows {
            let view = RowView(row: row, tables: tables, store: store)
            let key = ValuesKey(groupColumns.map { $0.expression.expressionValue(with: view, context: nil) })
            if let place = places[key] {
                groups[place].append(row)
            } else {
                places[key] = groups.count
                groups.append([row])
            }
        }
        return groups
    }

    private func dictionary(of group: [Snapshot], _ shown: [Column]) -> [String: Any] {
        var result: [String: Any] = [:]
        for column in shown {
            if let aggregate = column.aggregate {
                let values = group.compactMap { row in
                    aggregate.argument.expressionValue(
                        with: RowView(row: row, tables: tables, store: store), context: nil)
                }
                let expression = NSExpression(
                    forFunction: aggregate.function.rawValue, arguments: [NSExpression(forConstantValue: values)])
                result[column.name] = published(expression.expressionValue(with: nil, context: nil), column.kind)
            } else if let row = group.first {
                let view = RowView(row: row, tables: tables, store: store)
                result[column.name] = published(column.expression.expressionValue(with: view, context: nil), column.kind)
            }
        }
        return result
    }

    /// A value as users see it, and of the kind that the column is said to have.
    private func published(_ value: Any?, _ kind: ValueKind?) -> Any? {
        if let kind, let value, let converted = PropertyConversion.value(from: value, kind: kind), !converted.isNull {
            return PropertyConversion.object(from: converted, kind: kind)
        }
        return RowView.published(value)
    }

    private func distinct(_ results: [[String: Any]], _ shown: [Column]) -> [[String: Any]] {
        var seen: Set<ValuesKey> = []
        return results.filter { result in seen.insert(ValuesKey(shown.map { result[$0.name] })).inserted }
    }

    private func sorted(_ results: [[String: Any]]) -> [[String: Any]] {
        plan.sortDescriptors.order(of: results).map { results[$0] }
    }
}

/// A group as its condition sees it: the columns of the result by name, and any other property as its values in the rows.
private final class GroupView: KeyValueCoding {
    private let result: [String: Any]
    private let rows: [RowView]

    init(result: [String: Any], rows: [RowView]) {
        self.result = result
        self.rows = rows
    }

    func value(forKey key: String) -> Any? {
        result[key] ?? rows.compactMap { $0.value(forKey: key) }
    }

    /// Groups are not changed.
    func setValue(_ value: Any?, forKey key: String) {}
}
