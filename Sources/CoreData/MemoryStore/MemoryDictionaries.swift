import Foundation

/// Dictionary results of a fetch over tables in memory: columns, groups and aggregates.
struct MemoryDictionaries {
    let columns: StoreFetch.DictionaryColumns
    let plan: StoreFetch
    let tables: MemoryTables
    let store: NSPersistentStore

    /// One entry of the dictionaries.
    private struct Column {
        var name: String
        let expression: NSExpression
        /// The aggregate that computes the value over a whole group; nil for a value of one row.
        let aggregate: RowAggregate?
        /// The function that combines the values of a group's rows; nil where all rows have the
        /// same value.
        let groupFunction: RowAggregate.Function?
        /// The type to convert the value to; nil for no conversion.
        var kind: ValueKind?

        /// Whether it is a property of the rows, under its own name and unconverted.
        var isProperty: Bool { kind == nil && expression.keyPathFromEvaluatedObject == name }
    }

    func run(over rows: [Snapshot]) throws -> [[String: Any]] {
        let shown = columns.properties.compactMap(column)
        let groupColumns = columns.groupBy.compactMap(column)
        let isGrouped = !groupColumns.isEmpty || shown.contains { $0.aggregate != nil }
        if isGrouped {
            return MemoryFetch.cut(try groupResults(groups(of: rows, by: groupColumns), shown, groupColumns), plan)
        }
        let computed = shown.filter { !$0.isProperty }.map { column in
            (column.name, { (row: Snapshot) in value(of: column, in: [row]) })
        }
        let sort = MemorySort(
            plan.sortDescriptors, tables: tables, store: store,
            computed: Dictionary(computed) { first, _ in first })
        var results = sort.sorted(rows).map { dictionary(of: [$0], shown) }
        if columns.isDistinct { results = results.distinct { key(of: $0, shown) } }
        return MemoryFetch.cut(results, plan)
    }

    /// The dictionaries of the groups that the `HAVING` condition keeps, in order.
    private func groupResults(_ groups: [[Snapshot]], _ shown: [Column], _ groupColumns: [Column]) throws -> [[String:
        Any]]
    {
        var looked = LookedColumns(
            known: shown + groupColumns.filter { group in !shown.contains { $0.name == group.name } })
        // A condition refers to a result column by a key path or by a variable.
        let having = columns.having.map { condition in
            (try? condition.lookingAtValues { looked.name(of: $0, plan.entity) }) ?? condition
        }
        let descriptors = plan.sortDescriptors.map { looked.descriptor($0) }
        let names = Set(shown.map(\.name))
        var views = groups.map { rows in
            let values = dictionary(of: rows, looked.columns)
            var result: [String: Any] = [:]
            for (column, value) in zip(shown, looked.columns) { result[column.name] = values[value.name] }
            return GroupView(
                result: result, names: names, looked: values,
                rows: rows.map { RowView(row: $0, tables: tables, store: store) })
        }
        if let having {
            let run = PredicateRun()
            views = try views.filter { try having.isMet(by: $0, substitutionVariables: $0.result, run: run) }
        }
        if columns.isDistinct { views = views.distinct { key(of: $0.result, shown) } }
        if !descriptors.isEmpty { views = descriptors.order(of: views).map { views[$0] } }
        return views.map(\.result)
    }

    /// The values of a group, under generated names: those of the result and of `GROUP BY`, and
    /// the aggregates that a condition names.
    ///
    /// The names contain no dots, and no property has such a name.
    private struct LookedColumns {
        /// The columns of the result, and then the `GROUP BY` columns.
        private let known: [Column]
        /// The known columns in their order, and then the aggregates.
        private(set) var columns: [Column] = []

        init(known: [Column]) {
            self.known = known
            for column in known { _ = look(at: column) }
        }

        /// The generated name of the group value that an expression reads; nil for an expression
        /// whose parts must be replaced.
        mutating func name(of expression: NSExpression, _ entity: EntityLayout) -> String? {
            if let aggregate = RowAggregate(expression, of: entity) {
                return look(at: Column(name: "", expression: expression, aggregate: aggregate, groupFunction: nil))
            }
            switch expression.expressionType {
            case .keyPath: return expression.keyPathFromEvaluatedObject.map { name(ofPath: $0) }
            case .variable where known.contains { $0.name == expression.variable }:
                return name(ofPath: expression.variable)
            default: return nil
            }
        }

        func descriptor(_ descriptor: NSSortDescriptor) -> NSSortDescriptor {
            descriptor.key.map { descriptor.looking(at: name(ofPath: $0)) } ?? descriptor
        }

        private func name(ofPath path: String) -> String {
            known.firstIndex { $0.name == path }.map { columns[$0].name } ?? path
        }

        private mutating func look(at column: Column) -> String {
            var column = column
            column.name = "(\(columns.count))"
            columns.append(column)
            return column.name
        }
    }

    // MARK: - Columns

    private func column(_ property: Any) -> Column? {
        switch property {
        case let description as NSExpressionDescription:
            guard let expression = description.expression else { return nil }
            let column = expression.withRowAggregate
            return Column(
                name: description.name, expression: column, aggregate: RowAggregate(column, of: plan.entity),
                groupFunction: columns.groups(by: property) ? nil : column.groupFunction(of: plan.entity),
                kind: ValueKind(resultOf: description.expressionResultType))
        case let description as NSPropertyDescription: return column(description.name)
        case let path as String: return column(path)
        default: return nil
        }
    }

    private func column(_ path: String) -> Column {
        let expression = NSExpression(forKeyPath: path)
        return Column(
            name: path, expression: expression, aggregate: nil,
            groupFunction: columns.groups(by: path) ? nil : expression.groupFunction(of: plan.entity))
    }

    // MARK: - Rows and groups

    private func groups(of rows: [Snapshot], by groupColumns: [Column]) -> [[Snapshot]] {
        guard !groupColumns.isEmpty else { return [rows] }
        return rows.grouped { row in
            let view = RowView(row: row, tables: tables, store: store)
            return ValuesKey(groupColumns.map { $0.expression.expressionValue(with: view, context: nil) })
        }
    }

    private func dictionary(of group: [Snapshot], _ shown: [Column]) -> [String: Any] {
        var result: [String: Any] = [:]
        for column in shown { result[column.name] = value(of: column, in: group) }
        return result
    }

    private func value(of column: Column, in group: [Snapshot]) -> Any? {
        if let aggregate = column.aggregate {
            return published(value(aggregate.function, aggregate.argument, of: group), column.kind)
        }
        if let function = column.groupFunction, group.count > 1 {
            return published(value(function, column.expression, of: group), column.kind)
        }
        guard let row = group.first else { return nil }
        let view = RowView(row: row, tables: tables, store: store)
        return published(column.expression.expressionValue(with: view, context: nil), column.kind)
    }

    /// Applies a function to the values of an expression in rows.
    private func value(_ function: RowAggregate.Function, _ expression: NSExpression, of rows: [Snapshot]) -> Any? {
        let values = rows.compactMap { row in
            expression.expressionValue(with: RowView(row: row, tables: tables, store: store), context: nil)
        }
        return function.value(of: values)
    }

    /// A value as users see it, converted to the declared type of the column.
    private func published(_ value: Any?, _ kind: ValueKind?) -> Any? {
        PropertyConversion.object(value, as: kind) ?? RowView.published(value)
    }

    private func key(of result: [String: Any], _ shown: [Column]) -> ValuesKey {
        ValuesKey(shown.map { result[$0.name] })
    }
}

/// A group as its condition and order see it.
///
/// Columns are read by their own or by generated names; any other property gives its values in the
/// rows.
private final class GroupView: KeyValueCoding {
    /// The columns of the result; a nil value has no entry.
    let result: [String: Any]
    private let names: Set<String>
    /// The values under generated names; a nil value has no entry.
    private let looked: [String: Any]
    private let rows: [RowView]

    init(result: [String: Any], names: Set<String>, looked: [String: Any], rows: [RowView]) {
        self.result = result
        self.names = names
        self.looked = looked
        self.rows = rows
    }

    func value(forKey key: String) -> Any? {
        if key.hasPrefix("(") { return looked[key] }
        return names.contains(key) ? result[key] : rows.compactMap { $0.value(forKey: key) }
    }

    /// Does nothing: groups are read-only.
    func setValue(_ value: Any?, forKey key: String) {}
}
