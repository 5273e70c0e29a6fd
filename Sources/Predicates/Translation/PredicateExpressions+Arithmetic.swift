import Foundation

extension PredicateExpressions.Arithmetic: InfixOperation {
    private var form: (symbol: String, function: String?) {
        switch op {
        case .add: ("+", "add:to:")
        case .subtract: ("-", "from:subtract:")
        case .multiply: ("*", "multiply:by:")
        @unknown default: ("\(op)", nil)
        }
    }

    var symbol: String { form.symbol }

    func translate(with translation: inout PredicateTranslation) throws -> Part {
        guard let function = form.function else {
            throw translation.untranslatable(self, "the operation has no counterpart")
        }
        return .expression(try translation.call(function, lhs, rhs))
    }
}

extension PredicateExpressions.FloatDivision: InfixOperation {
    var symbol: String { "/" }

    func translate(with translation: inout PredicateTranslation) throws -> Part {
        .expression(try translation.call("divide:by:", lhs, rhs))
    }
}

extension PredicateExpressions.IntDivision: InfixOperation {
    var symbol: String { "/" }

    func translate(with translation: inout PredicateTranslation) throws -> Part {
        // Rounded towards zero, as in Swift: a store or the evaluation divides exactly.
        .expression(NSExpression(forFunction: "trunc:", arguments: [try translation.call("divide:by:", lhs, rhs)]))
    }
}

extension PredicateExpressions.IntRemainder: InfixOperation {
    var symbol: String { "%" }

    func translate(with translation: inout PredicateTranslation) throws -> Part {
        .expression(try translation.call("modulus:by:", lhs, rhs))
    }
}

extension PredicateExpressions.UnaryMinus: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> Part {
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
    func translate(with translation: inout PredicateTranslation) throws -> Part {
        try translation.requireOrder(of: Element.Output.self, in: self)
        let value = try translation.expression(element)
        let lower: NSExpression?
        let upper: NSExpression?
        let includesUpper: Bool
        if let bounds = range as? any BoundsExpression {
            lower = try translation.expression(bounds.lower)
            upper = try translation.expression(bounds.upper)
            includesUpper = bounds.includesUpper
        } else if let bounds = (translation.constant(range)?.value as? any BoundedRange)?.bounds {
            (lower, upper) = (bounds.lower.map(ConstantValue.expression), bounds.upper.map(ConstantValue.expression))
            includesUpper = bounds.includesUpper
        } else {
            throw translation.untranslatable(self, "the range has no bounds that are known")
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
protocol BoundsExpression: TranslatableExpression, InfixExpression {
    associatedtype LHS
    associatedtype RHS
    var lower: LHS { get }
    var upper: RHS { get }
    var includesUpper: Bool { get }
}

extension BoundsExpression {
    func translate(with translation: inout PredicateTranslation) throws -> Part {
        throw translation.untranslatable(self, "a range can only be asked what it contains")
    }

    func text(with text: inout ExpressionText) -> String {
        text.operand(lower) + (includesUpper ? "..." : "..<") + text.operand(upper)
    }
}

extension PredicateExpressions.ClosedRange: BoundsExpression {
    var includesUpper: Bool { true }
}

extension PredicateExpressions.Range: BoundsExpression {
    var includesUpper: Bool { false }
}

/// A range that the predicate captured, which may be open at one end.
private protocol BoundedRange {
    typealias Bounds = (lower: Any?, upper: Any?, includesUpper: Bool)
    var bounds: Bounds { get }
}

extension ClosedRange: BoundedRange {
    fileprivate var bounds: Bounds { (lowerBound, upperBound, true) }
}

extension Range: BoundedRange {
    fileprivate var bounds: Bounds { (lowerBound, upperBound, false) }
}

extension PartialRangeFrom: BoundedRange {
    fileprivate var bounds: Bounds { (lowerBound, nil, false) }
}

extension PartialRangeThrough: BoundedRange {
    fileprivate var bounds: Bounds { (nil, upperBound, true) }
}

extension PartialRangeUpTo: BoundedRange {
    fileprivate var bounds: Bounds { (nil, upperBound, false) }
}
