/// A predicate without its constants. Predicates of one shape differ only in the values to bind.
///
/// Only the most common predicates have a shape: comparisons of a key path with a constant, joined
/// by AND, OR and NOT.
indirect enum PredicateShape {
    case comparison(Comparison)
    case compound(NSCompoundPredicate.LogicalType, [PredicateShape])

    struct Comparison {
        let keyPath: String
        let type: NSComparisonPredicate.Operator
        let modifier: NSComparisonPredicate.Modifier
        let options: NSComparisonPredicate.Options
    }

    /// Creates the shape of a predicate.
    ///
    /// - Parameter constants: receives the expressions of the predicate's constants, in order.
    /// - Returns: nil for a predicate that has no shape; the contents of `constants` are then
    ///   meaningless.
    init?(_ predicate: NSPredicate, _ constants: inout [NSExpression]) {
        // A custom subclass may have any meaning.
        let kind = type(of: predicate)
        if kind == NSComparisonPredicate.self, let comparison = predicate as? NSComparisonPredicate {
            guard Self.hasShape(comparison.predicateOperatorType),
                let keyPath = comparison.leftExpression.keyPathFromEvaluatedObject,
                comparison.rightExpression.expressionType == .constantValue
            else { return nil }
            constants.append(comparison.rightExpression)
            self = .comparison(
                Comparison(
                    keyPath: keyPath, type: comparison.predicateOperatorType,
                    modifier: comparison.comparisonPredicateModifier,
                    options: comparison.options))
        } else if kind == NSCompoundPredicate.self, let compound = predicate as? NSCompoundPredicate {
            var parts: [PredicateShape] = []
            for operand in compound.operands {
                guard let part = PredicateShape(operand, &constants) else { return nil }
                parts.append(part)
            }
            self = .compound(compound.compoundPredicateType, parts)
        } else {
            return nil
        }
    }

    /// Operators whose SQL depends on the constant only in ways that `FetchStatement` checks.
    private static func hasShape(_ type: NSComparisonPredicate.Operator) -> Bool {
        switch type {
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .equalTo, .notEqualTo, .beginsWith,
            .endsWith,
            .contains, .like:
            true
        default: false
        }
    }

    /// Whether a predicate has this shape.
    ///
    /// - Parameter constants: receives the predicate's constants, in order; meaningless when the
    ///   predicate has another shape.
    func matches(_ predicate: NSPredicate, _ constants: inout [Any?]) -> Bool {
        switch self {
        case .comparison(let shape):
            guard type(of: predicate) == NSComparisonPredicate.self else { return false }
            // The guard has checked that the predicate is of exactly this class.
            let comparison = unsafeDowncast(predicate, to: NSComparisonPredicate.self)
            guard comparison.predicateOperatorType == shape.type,
                comparison.comparisonPredicateModifier == shape.modifier,
                comparison.options == shape.options,
                comparison.leftExpression.keyPathFromEvaluatedObject == shape.keyPath,
                comparison.rightExpression.expressionType == .constantValue
            else { return false }
            constants.append(comparison.rightExpression.constantValue)
            return true
        case .compound(let logicalType, let parts):
            guard type(of: predicate) == NSCompoundPredicate.self else { return false }
            let compound = unsafeDowncast(predicate, to: NSCompoundPredicate.self)
            guard compound.compoundPredicateType == logicalType, compound.operands.count == parts.count else {
                return false
            }
            for (part, operand) in zip(parts, compound.operands) {
                guard part.matches(operand, &constants) else { return false }
            }
            return true
        }
    }
}
