import Foundation

// Rewrites conditions on groups and orders of groups to read values that are computed elsewhere.

extension NSSortDescriptor {
    /// Returns the same order by another key.
    func looking(at key: String) -> NSSortDescriptor {
        if key == self.key { return self }
        guard let selector else { return NSSortDescriptor(key: key, ascending: ascending, comparator: comparator) }
        return NSSortDescriptor(key: key, ascending: ascending, selector: selector)
    }
}

extension NSPredicate {
    /// Returns the predicate with key paths in place of the expressions that represent values of a
    /// group.
    ///
    /// - Parameter value: returns the name of the value that an expression represents; nil for an
    ///   expression whose parts are rewritten.
    /// - Returns: nil for a predicate that cannot be decomposed.
    func lookingAtValues(_ value: (NSExpression) throws -> String?) throws -> NSPredicate? {
        switch self {
        case let compound as NSCompoundPredicate:
            var parts: [NSPredicate] = []
            for case let part as NSPredicate in compound.subpredicates {
                guard let part = try part.lookingAtValues(value) else { return nil }
                parts.append(part)
            }
            return NSCompoundPredicate(type: compound.compoundPredicateType, subpredicates: parts)
        case let comparison as NSComparisonPredicate:
            guard comparison.predicateOperatorType != .customSelector else { return nil }
            guard let left = try comparison.leftExpression.lookingAtValues(value),
                let right = try comparison.rightExpression.lookingAtValues(value)
            else { return nil }
            return NSComparisonPredicate(
                leftExpression: left, rightExpression: right, modifier: comparison.comparisonPredicateModifier,
                type: comparison.predicateOperatorType, options: comparison.options)
        default:
            return ["TRUEPREDICATE", "FALSEPREDICATE"].contains(predicateFormat) ? self : nil
        }
    }
}

extension NSExpression {
    fileprivate func lookingAtValues(_ value: (NSExpression) throws -> String?) throws -> NSExpression? {
        if let name = try value(self) { return NSExpression(forKeyPath: name) }
        switch expressionType {
        case .constantValue: return self
        case .function:
            guard let parts = try Self.lookingAtValues(arguments ?? [], value) else { return nil }
            guard let methodTarget else { return NSExpression(forFunction: function, arguments: parts) }
            return try methodTarget.lookingAtValues(value).map {
                NSExpression(forFunction: $0, selectorName: function, arguments: parts)
            }
        case .aggregate:
            guard let elements = aggregateElements else { return self }
            return try Self.lookingAtValues(elements, value).map { NSExpression(forAggregate: $0) }
        case .conditional:
            guard let condition = try predicate.lookingAtValues(value),
                let first = try self.true.lookingAtValues(value),
                let second = try self.false.lookingAtValues(value)
            else { return nil }
            return NSExpression(forConditional: condition, trueExpression: first, falseExpression: second)
        default: return nil
        }
    }

    private static func lookingAtValues(
        _ expressions: [NSExpression], _ value: (NSExpression) throws -> String?
    ) throws -> [NSExpression]? {
        var result: [NSExpression] = []
        for expression in expressions {
            guard let expression = try expression.lookingAtValues(value) else { return nil }
            result.append(expression)
        }
        return result
    }
}
