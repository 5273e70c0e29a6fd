import Foundation

/// An aggregate over the rows of a fetch, or over the rows of a group, as a column of dictionary
/// results.
struct RowAggregate {
    enum Function: String {
        case count = "count:"
        case sum = "sum:"
        case min = "min:"
        case max = "max:"
        case average = "average:"

        /// The function's operator in a key path.
        var collectionOperator: String {
            switch self {
            case .count: "@count"
            case .sum: "@sum"
            case .min: "@min"
            case .max: "@max"
            case .average: "@avg"
            }
        }

        /// Returns the function's result for some values, as in memory.
        func value(of values: [Any]) -> Any? {
            NSExpression(forFunction: rawValue, arguments: [NSExpression(forConstantValue: values)]).expressionValue(
                with: nil, context: nil)
        }

        /// The function that combines the results for several sets of values; nil where there is
        /// none.
        var ofGroup: Function? {
            switch self {
            case .count, .sum: .sum
            case .min: .min
            case .max: .max
            case .average: nil
            }
        }
    }

    let function: Function
    let argument: NSExpression

    /// Creates the aggregate of an expression.
    ///
    /// - Returns: nil for any other expression, and for a function of a to-many relationship, which
    ///   is computed for each row. An aggregate of a value that is computed for each row, such as
    ///   `sum:(pages.@count)`, is an aggregate over rows.
    init?(_ expression: NSExpression, of entity: EntityLayout) {
        let expression = expression.withRowAggregate
        guard expression.expressionType == .function, expression.methodTarget == nil,
            let arguments = expression.arguments, arguments.count == 1,
            let function = Function(rawValue: expression.function.lowercased())
        else { return nil }
        let argument = arguments[0]
        if argument.expressionType == .subquery { return nil }
        if argument.isToManyPath(of: entity) { return nil }
        self.function = function
        self.argument = argument
    }
}

extension NSExpression {
    /// The aggregate function over the fetched rows that this expression means in a column.
    ///
    /// A key path that starts with a collection operator, such as `@sum.amount`, becomes
    /// `sum:(amount)`. Any other expression is returned unchanged.
    var withRowAggregate: NSExpression {
        guard expressionType == .keyPath else { return self }
        let path = keyPath.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = path.first, let function = Self.rowFunctions[String(first)] else { return self }
        let argument =
            path.count == 2 ? NSExpression(forKeyPath: String(path[1])) : NSExpression.expressionForEvaluatedObject()
        return NSExpression(forFunction: function, arguments: [argument])
    }

    /// Returns the function that computes the value of a group from the values of its rows, for an
    /// aggregate over a to-many relationship of each row, such as `pages.@sum.number`.
    ///
    /// - Returns: nil for any other expression, and for averages, which cannot be computed from
    ///   those of the rows.
    func groupFunction(of entity: EntityLayout) -> RowAggregate.Function? {
        switch expressionType {
        case .keyPath:
            let path = keyPath.pathNames
            if operand !== self, operand.expressionType == .subquery { return path == ["@count"] ? .sum : nil }
            guard path.first?.hasPrefix("@") == false, let name = path.first(where: { $0.hasPrefix("@") }) else {
                return nil
            }
            return Self.rowFunctions[name].flatMap(RowAggregate.Function.init)?.ofGroup
        case .function:
            guard RowAggregate(self, of: entity) == nil, methodTarget == nil, arguments?.count == 1 else { return nil }
            return RowAggregate.Function(rawValue: function.lowercased())?.ofGroup
        default: return nil
        }
    }

    /// Whether the expression is a key path across a to-many relationship that gives the values at
    /// its end, not a function of them.
    func isToManyPath(of entity: EntityLayout) -> Bool {
        expressionType == .keyPath && !keyPath.contains("@") && entity.crossesToMany(keyPath)
    }

    /// Whether the expression or a part of it is an aggregate over rows.
    func holdsRowAggregate(of entity: EntityLayout) -> Bool {
        if RowAggregate(self, of: entity) != nil { return true }
        switch expressionType {
        case .function: return (arguments ?? []).contains { $0.holdsRowAggregate(of: entity) }
        case .conditional: return self.true.holdsRowAggregate(of: entity) || self.false.holdsRowAggregate(of: entity)
        default: return false
        }
    }

    private static let rowFunctions = [
        "@count": "count:", "@sum": "sum:", "@min": "min:", "@max": "max:", "@avg": "average:",
    ]
}
