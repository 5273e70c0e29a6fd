import Foundation

/// Predicates joined by `AND` or `OR`, or one predicate negated by `NOT`.
//
// Unchecked Sendable: see NSPredicate; both stored properties are `let`.
open class NSCompoundPredicate: NSPredicate, @unchecked Sendable {
    /// How the parts are joined.
    public enum LogicalType: UInt, Sendable {
        /// The one part must be false.
        case not
        /// Every part must be true; of no parts: true.
        case and
        /// At least one part must be true; of no parts: false.
        case or
    }

    /// How the parts are joined.
    public let compoundPredicateType: LogicalType

    /// The parts, typed: what ``subpredicates`` gives as `[Any]`.
    public let operands: [NSPredicate]

    private let levels: Int

    /// Joins predicates. `NOT` takes exactly one.
    public init(type: LogicalType, subpredicates: [NSPredicate]) {
        precondition(
            type != .not || subpredicates.count == 1, "NOT takes one predicate, not \(subpredicates.count).")
        compoundPredicateType = type
        operands = subpredicates
        levels = 1 + (subpredicates.map(\.height).max() ?? 0)
        super.init(body: .subclass)
    }

    /// True when every part is true.
    public convenience init(andPredicateWithSubpredicates subpredicates: [NSPredicate]) {
        self.init(type: .and, subpredicates: subpredicates)
    }

    /// True when at least one part is true.
    public convenience init(orPredicateWithSubpredicates subpredicates: [NSPredicate]) {
        self.init(type: .or, subpredicates: subpredicates)
    }

    /// True when the given predicate is false.
    public convenience init(notPredicateWithSubpredicate predicate: NSPredicate) {
        self.init(type: .not, subpredicates: [predicate])
    }

    public required init?(coder: NSCoder) {
        guard let decoded = NSPredicate.decode(from: coder) as? NSCompoundPredicate else { return nil }
        compoundPredicateType = decoded.compoundPredicateType
        operands = decoded.operands
        levels = decoded.levels
        super.init(body: .subclass)
    }

    /// The parts, each an ``NSPredicate``.
    public var subpredicates: [Any] { operands }

    override var height: Int { levels }

    open override var predicateFormat: String {
        switch compoundPredicateType {
        case .not:
            let operand = operands[0]
            let isCompound = (operand as? NSCompoundPredicate).map { $0.operands.count > 1 } ?? false
            return isCompound ? "NOT (\(operand.predicateFormat))" : "NOT \(operand.predicateFormat)"
        case .and: return joined(by: " AND ", whenEmpty: "TRUEPREDICATE")
        case .or: return joined(by: " OR ", whenEmpty: "FALSEPREDICATE")
        }
    }

    private func joined(by word: String, whenEmpty: String) -> String {
        if operands.isEmpty { return whenEmpty }
        if operands.count == 1 { return operands[0].predicateFormat }
        return operands.map { operand in
            let compound = operand as? NSCompoundPredicate
            let needsParentheses = compound.map { $0.compoundPredicateType != .not && $0.operands.count > 1 } ?? false
            return needsParentheses ? "(\(operand.predicateFormat))" : operand.predicateFormat
        }.joined(separator: word)
    }

    override func evaluate(in scope: EvaluationScope) -> Bool {
        switch compoundPredicateType {
        case .not: return !operands[0].evaluate(in: scope)
        case .and: return operands.allSatisfy { $0.evaluate(in: scope) }
        case .or: return operands.contains { $0.evaluate(in: scope) }
        }
    }

    override func substituting(_ variables: [String: Any]) -> NSPredicate {
        NSCompoundPredicate(
            type: compoundPredicateType, subpredicates: operands.map { $0.substituting(variables) })
    }

    override func hasSameStructure(as other: NSPredicate) -> Bool {
        guard let other = other as? NSCompoundPredicate else { return false }
        return compoundPredicateType == other.compoundPredicateType && operands == other.operands
    }

    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(compoundPredicateType)
        for operand in operands { hasher.combine(operand.hash) }
        return hasher.finalize()
    }
}
