import Predicates

/// The variables of a predicate that must get a value from outside.
enum PredicateVariables {
    /// The names, without the dollar sign; the iterators of subqueries are not among them.
    static func unbound(in predicate: NSPredicate) -> Set<String> {
        switch predicate {
        case let comparison as NSComparisonPredicate:
            return unbound(in: comparison.leftExpression).union(unbound(in: comparison.rightExpression))
        case let compound as NSCompoundPredicate:
            return compound.operands.reduce(into: []) { $0.formUnion(unbound(in: $1)) }
        default: return []
        }
    }

    /// The names in an expression.
    static func unbound(in expression: NSExpression) -> Set<String> {
        switch expression.expressionType {
        case .variable: return [expression.variable]
        case .keyPath: return unbound(in: expression.operand)
        case .function: return unbound(in: expression.operand).union(all(expression.arguments ?? []))
        case .block, .fetchRequest: return all(expression.arguments ?? [])
        case .aggregate: return all(expression.aggregateElements ?? [])
        case .unionSet, .intersectSet, .minusSet: return all([expression.left, expression.right])
        case .subquery:
            let collection = (expression.collection as? NSExpression).map { unbound(in: $0) } ?? []
            return collection.union(unbound(in: expression.predicate).subtracting([expression.variable]))
        case .conditional:
            return unbound(in: expression.predicate).union(all([expression.true, expression.false]))
        case .constantValue, .evaluatedObject, .anyKey: return []
        }
    }

    private static func all(_ expressions: [NSExpression]) -> Set<String> {
        expressions.reduce(into: []) { $0.formUnion(unbound(in: $1)) }
    }
}
