import Foundation

/// Predicates joined by `AND` or `OR`, or one predicate negated by `NOT`.
///
/// ```swift
/// let both = NSCompoundPredicate(andPredicateWithSubpredicates: [isCheap, isInStock])
/// ```
//
// Unchecked Sendable: see NSPredicate; both stored properties are `let`.
open class NSCompoundPredicate: NSPredicate, @unchecked Sendable {
    /// How the parts are joined.
    ///
    /// ```swift
    /// if let compound = predicate as? NSCompoundPredicate, compound.compoundPredicateType == .or {
    ///     print(compound.operands.map(\.predicateFormat))
    /// }
    /// ```
    public enum LogicalType: UInt, Sendable {
        /// The only part must be false.
        case not
        /// Every part must be true; true for no parts.
        case and
        /// At least one part must be true; false for no parts.
        case or
    }

    /// How the parts are joined.
    public let compoundPredicateType: LogicalType

    /// The parts, typed; ``subpredicates`` gives them as `[Any]`.
    public let operands: [NSPredicate]

    private let levels: Int

    /// Whether the parts are known to be flattened, so that joining many predicates one by one does
    /// not look at each of them again and again.
    private let isFlat: Bool

    /// Joins predicates. `NOT` takes exactly one.
    ///
    /// `AND` in `AND` and `OR` in `OR`, nested more than 64 levels deep, become one list of parts,
    /// which means the same. Other nesting has a limit of 512 levels. A deeper predicate keeps no
    /// parts, and a fetch with it throws an error.
    ///
    /// ```swift
    /// let any = NSCompoundPredicate(
    ///     type: .or, subpredicates: names.map { NSPredicate(format: "name == %@", $0) })
    /// ```
    public init(type: LogicalType, subpredicates: [NSPredicate]) {
        precondition(type != .not || subpredicates.count == 1, "NOT takes one predicate, not \(subpredicates.count).")
        compoundPredicateType = type
        var parts = subpredicates
        var below = Self.height(of: parts)
        isFlat = below >= PredicateDepth.flattening && type != .not
        if below >= PredicateDepth.flattening {
            parts = []
            Self.flatten(subpredicates, type, into: &parts)
            below = Self.height(of: parts)
        }
        operands = below > PredicateDepth.limit ? [] : parts
        levels = PredicateDepth.above(below)
        super.init(body: .subclass)
    }

    /// `AND` of no parts, which is always true.
    public convenience override init() { self.init(type: .and, subpredicates: []) }

    private static func height(of predicates: [NSPredicate]) -> Int {
        predicates.reduce(0) { max($0, $1.height) }
    }

    /// Appends predicates to a list, those of the same type as their parts. Each part is copied
    /// once, however deep it lies.
    private static func flatten(_ predicates: [NSPredicate], _ type: LogicalType, into result: inout [NSPredicate]) {
        for predicate in predicates {
            // A subclass may mean anything.
            guard Swift.type(of: predicate) == NSCompoundPredicate.self,
                let compound = predicate as? NSCompoundPredicate,
                compound.compoundPredicateType == type, !compound.isTooDeep
            else {
                result.append(predicate)
                continue
            }
            if compound.isFlat {
                result += compound.operands
            } else if type != .not {
                flatten(compound.operands, type, into: &result)
            } else if let inner = compound.operands[0] as? NSCompoundPredicate, inner.compoundPredicateType == .not,
                !inner.isTooDeep
            {
                // NOT NOT NOT x is NOT x.
                result.append(inner.operands[0])
            } else {
                result.append(predicate)
            }
        }
    }

    /// True when every part is true.
    ///
    /// ```swift
    /// // of no filters: all objects
    /// request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: filters)
    /// ```
    public convenience init(andPredicateWithSubpredicates subpredicates: [NSPredicate]) {
        self.init(type: .and, subpredicates: subpredicates)
    }

    /// True when at least one part is true.
    ///
    /// ```swift
    /// let either = NSCompoundPredicate(orPredicateWithSubpredicates: [isCheap, isOnOffer])
    /// ```
    public convenience init(orPredicateWithSubpredicates subpredicates: [NSPredicate]) {
        self.init(type: .or, subpredicates: subpredicates)
    }

    /// True when the given predicate is false.
    ///
    /// ```swift
    /// let expensive = NSCompoundPredicate(notPredicateWithSubpredicate: isCheap)
    /// ```
    public convenience init(notPredicateWithSubpredicate predicate: NSPredicate) {
        self.init(type: .not, subpredicates: [predicate])
    }

    public required init?(coder: NSCoder) {
        guard
            let decoded = NSCompoundPredicate.decodeParts(from: coder) ?? NSPredicate.decode(from: coder)
                as? NSCompoundPredicate
        else {
            return nil
        }
        compoundPredicateType = decoded.compoundPredicateType
        operands = decoded.operands
        levels = decoded.levels
        isFlat = decoded.isFlat
        super.init(body: .subclass)
    }

    /// The parts, each an ``NSPredicate``.
    public var subpredicates: [Any] { operands }

    package override var height: Int { levels }

    open override var predicateFormat: String {
        if isTooDeep { return PredicateEvaluationError.tooDeep.description }
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
            let needsParentheses = compound.map { $0.compoundPredicateType == .not || $0.operands.count > 1 } ?? false
            return needsParentheses ? "(\(operand.predicateFormat))" : operand.predicateFormat
        }.joined(separator: word)
    }

    // MARK: Coding

    /// Archives the compound as its text, or as its type and parts if the text does not say all.
    ///
    /// The text of a compound with one part is the text of this part, and a compound without parts
    /// has the text of a constant. Archiving parts may fail, as described for
    /// ``NSPredicate/encode(with:)``.
    open override func encode(with coder: NSCoder) {
        if let copy = try? NSPredicate.parse(parsableFormat), copy == self || isTooDeep {
            return super.encode(with: coder)
        }
        coder.encode(Int(compoundPredicateType.rawValue), forKey: CodingKey.type)
        coder.encode(operands as NSArray, forKey: CodingKey.operands)
    }

    private enum CodingKey {
        static let type = "compoundPredicateType"
        static let operands = "subpredicates"
    }

    /// Reads a compound that was archived as its parts; `nil` for one that was not.
    private static func decodeParts(from coder: NSCoder) -> NSCompoundPredicate? {
        guard coder.containsValue(forKey: CodingKey.operands) else { return nil }
        let given = coder.decodeObject(of: [NSArray.self, NSPredicate.self], forKey: CodingKey.operands) as? NSArray
        guard let type = LogicalType(rawValue: UInt(bitPattern: coder.decodeInteger(forKey: CodingKey.type))),
            let operands = given?.map({ $0 as? NSPredicate }), !operands.contains(nil),
            type != .not || operands.count == 1
        else {
            coder.failWithError(CocoaError(.coderReadCorrupt))
            return nil
        }
        return NSCompoundPredicate(type: type, subpredicates: operands.compactMap(\.self))
    }

    override func evaluate(in scope: EvaluationScope) -> Bool {
        switch compoundPredicateType {
        case .not: return !operands[0].evaluate(in: scope)
        case .and: return operands.allSatisfy { $0.evaluate(in: scope) }
        case .or: return operands.contains { $0.evaluate(in: scope) }
        }
    }

    override func substituting(_ variables: [String: Any]) -> NSPredicate {
        NSCompoundPredicate(type: compoundPredicateType, subpredicates: operands.map { $0.substituting(variables) })
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
