import Foundation

extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> Part {
        guard Base.Output.self is any StringProtocol.Type else {
            throw translation.untranslatable(self, "only text can be searched for a part of several elements")
        }
        // Every text contains the empty text, but not for NSPredicate.
        if let part = translation.constant(other)?.value as? any StringProtocol, part.isEmpty {
            return .predicate(try translation.expression(base).compared(.notEqualTo, nil))
        }
        return try translation.compare(base, .contains, other)
    }

    func text(with text: inout ExpressionText) -> String { "\(text.operand(base)).contains(\(text.of(other)))" }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> Part {
        guard Base.Output.self is any StringProtocol.Type else {
            throw translation.untranslatable(self, "only text can be asked how it starts")
        }
        if let part = translation.constant(prefix)?.value as? any StringProtocol, part.isEmpty {
            return .predicate(try translation.expression(base).compared(.notEqualTo, nil))
        }
        return try translation.compare(base, .beginsWith, prefix)
    }

    func text(with text: inout ExpressionText) -> String { "\(text.operand(base)).starts(with: \(text.of(prefix)))" }
}

/// A comparison of two texts that ignores case, whose result is a `ComparisonResult`.
protocol TextComparisonExpression {
    associatedtype Root
    associatedtype Other
    var root: Root { get }
    var other: Other { get }
}

extension PredicateTranslation {
    /// Returns `a.caseInsensitiveCompare(b) == result` as a comparison; nil for every other
    /// equality.
    mutating func textComparison(_ left: Any, _ right: Any) throws -> NSPredicate? {
        let (comparison, other) = left is any TextComparisonExpression ? (left, right) : (right, left)
        guard let comparison = comparison as? any TextComparisonExpression,
            let result = constant(other)?.value as? ComparisonResult
        else { return nil }
        let operation: NSComparisonPredicate.Operator =
            switch result {
            case .orderedSame: .equalTo
            case .orderedAscending: .lessThan
            case .orderedDescending: .greaterThan
            }
        return try expression(comparison.root)
            .compared(operation, to: try expression(comparison.other), options: .caseInsensitive)
    }
}
