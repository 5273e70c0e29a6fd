import Foundation

/// An aggregate over the rows of a fetch, or over those of a group, as a column of dictionary results.
struct RowAggregate {
    enum Function: String {
        case count = "count:"
        case sum = "sum:"
        case min = "min:"
        case max = "max:"
        case average = "average:"
    }

    let function: Function
    let argument: NSExpression

    /// nil for any other expression, and for a function of a to-many relationship, which is computed for each row.
    init?(_ expression: NSExpression, of entity: EntityLayout) {
        let expression = expression.withRowAggregate
        guard expression.expressionType == .function, let arguments = expression.arguments, arguments.count == 1,
            let function = Function(rawValue: expression.function.lowercased())
        else { return nil }
        let argument = arguments[0]
        if argument.expressionType == .subquery { return nil }
        if argument.expressionType == .keyPath, let first = argument.keyPath.split(separator: ".").first,
            let slot = entity.slotByName[String(first)], entity.slots[slot].kind.isToMany
        {
            return nil
        }
        self.function = function
        self.argument = argument
    }
}

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
