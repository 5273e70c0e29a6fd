import CoreData

/// A value that is computed from the rows of a group: `count`, `sum:price`.
struct Aggregate {
    enum Function: String, CaseIterable {
        case count, sum, avg, min, max

        /// The name of the function in expressions.
        var expressionName: String { self == .avg ? "average:" : rawValue + ":" }
    }

    let function: Function
    /// The path of the values; nil for the number of rows.
    let keyPath: String?

    /// - Throws: `UsageError` for a text that is no `count` or `FUNCTION:KEY`.
    init(_ text: String) throws(UsageError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let function = Function(rawValue: parts[0].lowercased()) else {
            let known = Function.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError(message: "--aggregate \(text): there is no function '\(parts[0])'. There is \(known).")
        }
        let key = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
        if key.isEmpty, function != .count || parts.count > 1 {
            throw UsageError(message: "--aggregate \(text): it needs a property, as in \(function.rawValue):price.")
        }
        self.function = function
        keyPath = key.isEmpty ? nil : key
    }

    private init(_ function: Function, _ keyPath: String?) {
        self.function = function
        self.keyPath = keyPath
    }

    static let count = Aggregate(.count, nil)

    /// The name of the column.
    var name: String { keyPath.map { "\(function.rawValue):\($0)" } ?? function.rawValue }

    /// Returns the aggregate with the properties' spelling, and the type of its value.
    ///
    /// - Throws: `ToolError` for a property of whose values the function has no result.
    func resolved(in entity: NSEntityDescription, _ model: StoreModel) throws(ToolError) -> (Aggregate, NSAttributeType)
    {
        guard let keyPath else { return (self, .integer64AttributeType) }
        let column = try QueryColumn.singleColumn(at: keyPath, of: entity, model, option: "aggregate")
        let resolved = Aggregate(function, column.name)
        if function == .count { return (resolved, .integer64AttributeType) }
        if case .attribute(let type, false) = column.source, let result = result(of: type) { return (resolved, result) }
        let kinds = function == .sum || function == .avg ? "numbers" : "numbers, dates and texts"
        throw ToolError(
            "--aggregate \(name): '\(column.name)' is of another type; \(function.rawValue) takes \(kinds).")
    }

    private func result(of type: NSAttributeType) -> NSAttributeType? {
        switch (function, type) {
        case (.count, _): .integer64AttributeType
        case (_, .decimalAttributeType): .decimalAttributeType
        case (.avg, _): type.isNumeric ? .doubleAttributeType : nil
        case (_, .integer16AttributeType), (_, .integer32AttributeType), (_, .integer64AttributeType):
            .integer64AttributeType
        case (_, .floatAttributeType), (_, .doubleAttributeType): .doubleAttributeType
        case (.min, .dateAttributeType), (.max, .dateAttributeType), (.min, .stringAttributeType),
            (.max, .stringAttributeType):
            type
        default: nil
        }
    }

    fileprivate var expression: NSExpression {
        NSExpression(
            forFunction: function.expressionName,
            arguments: [keyPath.map { NSExpression(forKeyPath: $0) } ?? .expressionForEvaluatedObject()])
    }
}

/// Rows of a query that stand for groups of objects, grouped and computed by the store.
struct GroupedRows: ResultRows {
    let columns: [QueryColumn]
    var predicate: NSPredicate?
    var limit: Int?
    var offset = 0
    private let context: NSManagedObjectContext
    private let entity: NSEntityDescription
    private let keys: [QueryColumn]
    private let aggregates: [Aggregate]
    private var order: [(column: Int, ascending: Bool)] = []

    /// - Parameter keys: the paths by which objects are grouped; none for one group of all.
    /// - Throws: `ToolError` for paths and functions that make no groups.
    init(
        _ opened: OpenedStore, _ entity: NSEntityDescription, by keys: [String], _ aggregates: [Aggregate]
    ) throws(ToolError) {
        context = opened.context
        self.entity = entity
        var keyColumns: [QueryColumn] = []
        for key in keys {
            let column = try QueryColumn.singleColumn(at: key, of: entity, opened.model, option: "group-by")
            if !keyColumns.contains(where: { $0.name == column.name }) { keyColumns.append(column) }
        }
        self.keys = keyColumns
        var resolved: [Aggregate] = []
        var columns = keyColumns
        for aggregate in aggregates {
            let (found, type) = try aggregate.resolved(in: entity, opened.model)
            resolved.append(found)
            columns.append(QueryColumn(name: found.name, source: .attribute(type, isTransformable: false)))
        }
        self.aggregates = resolved
        self.columns = columns
    }

    /// Sets the order, by names of columns.
    mutating func sort(by sortKeys: [(key: String, ascending: Bool)]) throws(ToolError) {
        for (key, ascending) in sortKeys {
            guard
                let index = columns.firstIndex(where: { $0.name == key })
                    ?? columns.firstIndex(where: { $0.name.lowercased() == key.lowercased() })
            else {
                throw ToolError(
                    "--sort \(key): the result has no column '\(key)'. "
                        + NearNames.advice(for: key, among: columns.map(\.name), kind: "column"))
            }
            order.append((index, ascending))
        }
    }

    /// The names in the request: those of columns might be names of properties, too.
    private func requestName(_ column: Int) -> String {
        column < keys.count ? keys[column].name : "aggregate\(column - keys.count)"
    }

    func forEach(_ body: ([CellValue]) throws -> Void) throws -> ResultOutcome {
        if limit == 0 { return ResultOutcome() }
        let rows = try context.performAndWait { try context.fetch(request()) }
        for row in rows {
            try body(columns.indices.map { columns[$0].value(row[requestName($0)]) })
        }
        return ResultOutcome(count: rows.count)
    }

    private func request() -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(entityName: entity.name ?? "")
        request.resultType = .dictionaryResultType
        request.predicate = predicate
        let computed = aggregates.indices.map { index -> Any in
            let place = keys.count + index
            guard case .attribute(let type, _) = columns[place].source else { return requestName(place) }
            return NSExpressionDescription(column: requestName(place), aggregates[index].expression, type)
        }
        request.propertiesToFetch = keys.map(\.name) + computed
        if !keys.isEmpty { request.propertiesToGroupBy = keys.map(\.name) }
        // The keys come last, so that the order is always the same.
        let places = order + keys.indices.map { ($0, true) }
        request.sortDescriptors = places.map { NSSortDescriptor(key: requestName($0.column), ascending: $0.ascending) }
        request.fetchLimit = limit ?? 0
        request.fetchOffset = offset
        return request
    }
}
