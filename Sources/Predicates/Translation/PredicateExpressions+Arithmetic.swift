import Foundation

extension PredicateExpressions.Arithmetic: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        let function: String
        switch op {
        case .add: function = "add:to:"
        case .subtract: function = "from:subtract:"
        case .multiply: function = "multiply:by:"
        @unknown default:
            throw PredicateTranslation.Untranslatable(message: "the operation has no counterpart", expression: self)
        }
        return .expression(try translation.call(function, lhs, rhs))
    }

    func text(with text: inout ExpressionText) -> String {
        let symbol =
            switch op {
            case .add: "+"
            case .subtract: "-"
            case .multiply: "*"
            @unknown default: "\(op)"
            }
        return text.infix(lhs, symbol, rhs)
    }
}

extension PredicateExpressions.FloatDivision: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        .expression(try translation.call("divide:by:", lhs, rhs))
    }

    func text(with text: inout ExpressionText) -> String { text.infix(lhs, "/", rhs) }
}

extension PredicateExpressions.IntDivision: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        // Rounded towards zero, as in Swift: a store or the evaluation divides exactly.
        .expression(NSExpression(forFunction: "trunc:", arguments: [try translation.call("divide:by:", lhs, rhs)]))
    }

    func text(with text: inout ExpressionText) -> String { text.infix(lhs, "/", rhs) }
}

extension PredicateExpressions.IntRemainder: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        .expression(try translation.call("modulus:by:", lhs, rhs))
    }

    func text(with text: inout ExpressionText) -> String { text.infix(lhs, "%", rhs) }
}

extension PredicateExpressions.UnaryMinus: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        .expression(NSExpression(forFunction: "from:subtract:", arguments: [0, try translation.expression(wrapped)]))
    }

    func text(with text: inout ExpressionText) -> String { "-" + text.operand(wrapped) }
}

extension PredicateTranslation {
    fileprivate mutating func call(_ function: String, _ left: Any, _ right: Any) throws -> NSExpression {
        NSExpression(forFunction: function, arguments: [try expression(left), try expression(right)])
    }
}

// MARK: Ranges

extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        try translation.requireOrder(of: Element.Output.self, in: self)
        let value = try translation.expression(element)
        let lower: NSExpression?
        let upper: NSExpression?
        let includesUpper: Bool
        if let bounds = range as? any BoundsExpression {
            lower = try translation.expression(bounds.lowerExpression)
            upper = try translation.expression(bounds.upperExpression)
            includesUpper = bounds.includesUpper
        } else if let bounds = translation.constant(range)?.value as? any BoundedRange {
            (lower, upper) = (bounds.lower.map(ConstantValue.expression), bounds.upper.map(ConstantValue.expression))
            includesUpper = bounds.includesUpper
        } else {
            throw PredicateTranslation.Untranslatable(message: "the range has no bounds that are known", expression: self)
        }
        let limits = [
            lower.map { value.compared(.greaterThanOrEqualTo, to: $0) },
            upper.map { value.compared(includesUpper ? .lessThanOrEqualTo : .lessThan, to: $0) },
        ].compactMap(\.self)
        return .predicate(limits.count == 1 ? limits[0] : NSCompoundPredicate(andPredicateWithSubpredicates: limits))
    }

    func text(with text: inout ExpressionText) -> String { "\(text.operand(range)).contains(\(text.of(element)))" }
}

/// A range whose bounds are two parts of a predicate.
private protocol BoundsExpression {
    var lowerExpression: Any { get }
    var upperExpression: Any { get }
    var includesUpper: Bool { get }
}

extension PredicateExpressions.ClosedRange: BoundsExpression {
    fileprivate var lowerExpression: Any { lower }
    fileprivate var upperExpression: Any { upper }
    fileprivate var includesUpper: Bool { true }
}

extension PredicateExpressions.Range: BoundsExpression {
    fileprivate var lowerExpression: Any { lower }
    fileprivate var upperExpression: Any { upper }
    fileprivate var includesUpper: Bool { false }
}

/// A range that the predicate captured, which may be open at one end.
private protocol BoundedRange {
    var lower: Any? { get }
    var upper: Any? { get }
    var includesUpper: Bool { get }
}

extension ClosedRange: BoundedRange {
    fileprivate var lower: Any? { lowerBound }
    fileprivate var upper: Any? { upperBound }
    fileprivate var includesUpper: Bool { true }
}

extension Range: BoundedRange {
    fileprivate var lower: Any? { lowerBound }
    fileprivate var upper: Any? { upperBound }
    fileprivate var includesUpper: Bool { false }
}

extension PartialRangeFrom: BoundedRange {
    fileprivate var lower: Any? { lowerBound }
    fileprivate var upper: Any? { nil }
    fileprivate var includesUpper: Bool { false }
}

extension PartialRangeThrough: BoundedRange {
    fileprivate var lower: Any? { nil }
    fileprivate var upper: Any? { upperBound }
    fileprivate var includesUpper: Bool { true }
}

extension PartialRangeUpTo: BoundedRange {
    fileprivate var lower: Any? { nil }
    fileprivate var upper: Any? { upperBound }
    fileprivate var includesUpper: Bool { false }
}

extension PredicateExpressions.ClosedRange: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        throw PredicateTranslation.Untranslatable(message: "a range can only be asked what it contains", expression: self)
    }

    func text(with text: inout ExpressionText) -> String { text.operand(lower) + "..." + text.operand(upper) }
}

extension PredicateExpressions.Range: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        throw PredicateTranslation.Untranslatable(message: "a range can only be asked what it contains", expression: self)
    }

    func text(with text: inout ExpressionText) -> String { text.operand(lower) + "..<" + text.operand(upper) }
}
