import Foundation

/// Merges the dictionary results of several stores into one result.
///
/// Each store returns the results for its own rows. They are combined by group. The stores compute
/// no condition on groups, no order of groups and no distinct groups: a fact about one store's rows
/// need not hold for all rows.
struct DictionaryMerge {
    /// The fetch that each store executes.
    private(set) var asked: StoreFetch

    private let fetch: StoreFetch
    private let isGrouped: Bool
    /// The columns of the result, in order.
    private var shown: [(name: String, source: GroupValue)] = []
    /// The names under which the stores return the values of a group's columns.
    private var groupNames: [String] = []
    private var having: NSPredicate?
    private var descriptors: [NSSortDescriptor] = []
    /// The values that conditions and sort orders use: their names there, and their sources.
    private var looked: [(name: String, source: GroupValue)] = []

    /// - Throws: An error that names the column, condition or sort order that cannot be computed
    ///   across several stores.
    init(_ fetch: StoreFetch, _ columns: StoreFetch.DictionaryColumns) throws {
        self.fetch = fetch
        asked = fetch
        asked.offset = 0
        let aggregates = columns.properties.map { property in
            (property as? NSExpressionDescription)?.expression.flatMap { RowAggregate($0, of: fetch.entity) }
        }
        isGrouped = !columns.groupBy.isEmpty || aggregates.contains { $0 != nil }
        var parts = StoreFetch.DictionaryColumns(properties: [], groupBy: columns.groupBy)
        for property in columns.groupBy { groupNames.append(Self.ask(property, in: &parts)) }
        for (property, aggregate) in zip(columns.properties, aggregates) {
            guard let name = StoreFetch.DictionaryColumns.name(of: property) else { continue }
            let kind = (property as? NSExpressionDescription).flatMap { ValueKind(resultOf: $0.expressionResultType) }
            if let aggregate {
                shown.append((name, Self.ask(aggregate, kind, in: &parts)))
            } else {
                if isGrouped { try check(property) }
                let part = Self.ask(property, in: &parts)
                let expression = (property as? NSExpressionDescription)?.expression ?? NSExpression(forKeyPath: name)
                if isGrouped, !columns.groups(by: property), let function = expression.groupFunction(of: fetch.entity) {
                    shown.append((name, .aggregate(function, part, kind)))
                } else {
                    shown.append((name, .first(part)))
                }
            }
        }
        if let condition = columns.having { having = try rewrite(condition, asking: &parts) }
        try addOrder(to: &parts)
        if isGrouped {
            asked.limit = 0
        } else {
            // Rows that differ in a sort value must be sorted before duplicates are removed.
            parts.isDistinct = columns.isDistinct && parts.properties.count == shown.count
            asked.limit = parts.isDistinct == columns.isDistinct ? fetch.lastNeeded : 0
        }
        asked.columns = parts
    }

    // MARK: - Columns of the stores' fetch

    /// Requests a column: a property, or an expression under a name that no property has.
    private static func ask(_ property: Any, in parts: inout StoreFetch.DictionaryColumns) -> String {
        guard let description = property as? NSExpressionDescription else {
            let name = StoreFetch.DictionaryColumns.name(of: property) ?? "\(property)"
            let isAsked = parts.properties.contains {
                !($0 is NSExpressionDescription) && StoreFetch.DictionaryColumns.name(of: $0) == name
            }
            if !isAsked { parts.properties.append(property) }
            return name
        }
        return ask(description.expression, description.expressionResultType, in: &parts)
    }

    private static func ask(
        _ expression: NSExpression?, _ type: NSAttributeType, in parts: inout StoreFetch.DictionaryColumns
    ) -> String {
        let column = NSExpressionDescription()
        column.name = "(\(parts.properties.count))"
        column.expression = expression
        column.expressionResultType = type
        parts.properties.append(column)
        return column.name
    }

    /// Requests the columns from which an aggregate is computed.
    private static func ask(
        _ aggregate: RowAggregate, _ kind: ValueKind?, in parts: inout StoreFetch.DictionaryColumns
    ) -> GroupValue {
        func part(_ function: RowAggregate.Function) -> String {
            ask(
                NSExpression(forFunction: function.rawValue, arguments: [aggregate.argument]), .undefinedAttributeType,
                in: &parts)
        }
        if aggregate.function == .average { return .average(sum: part(.sum), count: part(.count), kind) }
        return .aggregate(aggregate.function, part(aggregate.function), kind)
    }

    /// Rejects a computed column that combines aggregates with other parts.
    private func check(_ property: Any) throws {
        guard let description = property as? NSExpressionDescription, let expression = description.expression else {
            return
        }
        if expression.holdsRowAggregate(of: fetch.entity) {
            throw refusal("the column '\(description.name)' computes with aggregates (\(expression))")
        }
    }

    private func refusal(_ part: String) -> NSError {
        CoreDataErrors.columnsOfSeveralStores(part, of: fetch.entity.name)
    }

    // MARK: - Conditions and orders

    private mutating func rewrite(
        _ condition: NSPredicate, asking parts: inout StoreFetch.DictionaryColumns
    ) throws -> NSPredicate {
        guard let rewritten = try condition.lookingAtValues({ try value(of: $0, asking: &parts) }) else {
            throw refusal("the condition on groups (havingPredicate) is '\(condition.predicateFormat)'")
        }
        return rewritten
    }

    /// Adds a value for conditions and sort orders, and returns its name there.
    private mutating func look(at source: GroupValue) -> String {
        let name = "value\(looked.count)"
        looked.append((name, source))
        return name
    }

    /// Returns the name of a part's value; nil for a part that is no value of its own.
    private mutating func value(
        of expression: NSExpression, asking parts: inout StoreFetch.DictionaryColumns
    ) throws -> String? {
        if let aggregate = RowAggregate(expression, of: fetch.entity) {
            return look(at: Self.ask(aggregate, nil, in: &parts))
        }
        let name: String
        switch expression.expressionType {
        case .keyPath:
            guard let path = expression.keyPathFromEvaluatedObject else { return nil }
            name = path
        case .variable: name = expression.variable
        case .evaluatedObject: throw refusal("the condition on groups (havingPredicate) names SELF")
        default: return nil
        }
        guard let source = source(named: name) else {
            throw refusal("the condition on groups (havingPredicate) names '\(name)', which is no column of the result")
        }
        return look(at: source)
    }

    /// Returns a column of the result, or one that rows are grouped by.
    private func source(named name: String) -> GroupValue? {
        if let column = shown.first(where: { $0.name == name }) { return column.source }
        return groupNames.contains(name) ? .first(name) : nil
    }

    private mutating func addOrder(to parts: inout StoreFetch.DictionaryColumns) throws {
        asked.sortDescriptors = []
        for descriptor in fetch.sortDescriptors {
            guard let key = descriptor.key else { throw refusal("it is sorted by a descriptor without a key") }
            let source: GroupValue
            if let known = self.source(named: key) {
                source = known
            } else if isGrouped {
                throw refusal("it is sorted by '\(key)', which is no column of the result")
            } else {
                source = .first(Self.ask(key, in: &parts))
            }
            descriptors.append(descriptor.looking(at: look(at: source)))
            // A store knows a computed column by the name under which it returns it.
            if !isGrouped, case .first(let part) = source {
                asked.sortDescriptors.append(descriptor.looking(at: part))
            }
        }
    }

    // MARK: - The result

    /// A group: its row of the result, and the values that conditions and orders use.
    private struct Group {
        let result: [String: Any]
        let view: NSDictionary
    }

    /// Merges the rows that all stores returned.
    ///
    /// - Throws: code 134060, for a condition on groups that cannot be evaluated.
    func merged(_ rows: [[String: Any]]) throws -> [[String: Any]] {
        let parts = isGrouped ? rows.grouped { row in ValuesKey(groupNames.map { row[$0] }) } : rows.map { [$0] }
        var groups = parts.map(group)
        if let having {
            let run = PredicateRun()
            groups = try groups.filter { try having.isMet(by: $0.view, run: run) }
        }
        if !descriptors.isEmpty { groups = descriptors.order(of: groups.map(\.view)).map { groups[$0] } }
        var results = groups.map(\.result)
        if fetch.columns?.isDistinct == true {
            results = results.distinct { result in ValuesKey(shown.map { result[$0.name] }) }
        }
        results = Array(results.dropFirst(max(0, fetch.offset)))
        return fetch.limit > 0 ? Array(results.prefix(fetch.limit)) : results
    }

    private func group(_ rows: [[String: Any]]) -> Group {
        var result: [String: Any] = [:]
        for column in shown { result[column.name] = column.source.value(in: rows) }
        let view = NSMutableDictionary()
        for value in looked { view.setValue(value.source.value(in: rows) ?? NSNull(), forKey: value.name) }
        return Group(result: result, view: view)
    }
}
