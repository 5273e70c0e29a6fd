import Foundation

// Aggregates over the rows of a fetch, as the columns of dictionary results may name them.

extension NSExpression {
    /// `@sum.amount`, a key path that starts with a collection operator, as the aggregate function over the fetched rows that
    /// it means in a column: `sum:(amount)`. Any other expression is returned as it is.
    var withRowAggregate: NSExpression {
        guard expressionType == .keyPath else { return self }
        let path = keyPath.split(separator: ".", maxSplits: 1)
        guard let first = path.first, let function = Self.rowFunctions[String(first)] else { return self }
        let argument =
            path.count == 2 ? NSExpression(forKeyPath: String(path[1])) : NSExpression.expressionForEvaluatedObject()
        return NSExpression(forFunction: function, arguments: [argument])
    }

    private static let rowFunctions = [
        "@count": "count:", "@sum": "sum:", "@min": "min:", "@max": "max:", "@avg": "average:",
    ]
}
