import Foundation

// The operations that are not about optionals, collections or text.

extension PredicateExpressions.Variable: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> Part {
        .expression(try translation.value(of: key, in: self))
    }

    func text(with text: inout ExpressionText) -> String { text.name(of: key) }
}

extension PredicateExpressions.Value: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> Part {
        .expression(ConstantValue.expression(for: KeyValue.unwrapped(value)))
    }

    func text(with text: inout ExpressionText) -> String { ExpressionText.literal(value) }
}

extension PredicateExpressions.NilLiteral: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> Part {
        .expression(NSExpression(forConstantValue: nil))
    }

    func text(with text: inout ExpressionText) -> String { "nil" }
}

extension PredicateExpressions.KeyPath: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> Part {
        if let part = try countOfKnown(with: &translation) { return part }
        let root = try translation.expression(self.root)
        let isText = Root.Output.self is any StringProtocol.Type
        switch step {
        case .count:
            return .expression(
                isText ? NSExpression(forFunction: "length:", arguments: [root]) : root.appending("@count"))
        case .isEmpty:
            return .predicate(isText ? root.compared(.equalTo, "") : root.appending("@count").compared(.equalTo, 0))
        case .rawValue: return .expression(root)
        case .property(let name?):
            if let composite = Root.Output.self as? any PredicateComposite.Type, !composite.hasElement(at: name) {
                throw translation.untranslatable(
                    self, "'\(name)' is none of the elements that \(composite) is stored as")
            }
            return .expression(root.appending(name))
        case .property(nil):
            throw translation.untranslatable(
                self, "the property is not one that the model describes, and cannot be asked of a store")
        }
    }

    /// Returns the number of known elements that pass a filter: no store has such a collection.
    private func countOfKnown(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part? {
        guard let filter = root as? any FilterExpression, let tests = try filter.knownTests(with: &translation) else {
            return nil
        }
        switch step {
        case .isEmpty:
            return .predicate(
                NSCompoundPredicate(
                    notPredicateWithSubpredicate: NSCompoundPredicate(orPredicateWithSubpredicates: tests)))
        case .count:
            let (one, none) = (NSExpression(forConstantValue: 1), NSExpression(forConstantValue: 0))
            let ones = tests.map { NSExpression(forConditional: $0, trueExpression: one, falseExpression: none) }
            return .expression(NSExpression.sum(of: ones[...]))
        case .rawValue, .property: return nil
        }
    }

    private enum Step {
        case count
        case isEmpty
        case rawValue
        case property(String?)
    }

    private var step: Step {
        switch kind {
        case .collectionCount?: return .count
        case .collectionIsEmpty?: return .isEmpty
        default: break
        }
        if keyPath == \NSSet.count || keyPath == \NSOrderedSet.count { return .count }
        // An enumeration is stored as its raw value.
        if let type = Root.Output.self as? any RawRepresentable.Type, Self.isRawValue(keyPath, of: type) {
            return .rawValue
        }
        return .property(KeyPathNames.comparedName(of: keyPath))
    }

    /// Whether a key path reads the raw value. Swift does not tell, so sample values are tried.
    private static func isRawValue<Raw: RawRepresentable>(_ keyPath: AnyKeyPath, of rawType: Raw.Type) -> Bool {
        if keyPath == \Raw.rawValue { return true }
        guard Swift.type(of: keyPath).valueType == Raw.RawValue.self else { return false }
        let samples = RawSamples.values(of: Raw.self)
        return !samples.isEmpty
            && samples.allSatisfy { sample in
                guard let value = sample[keyPath: keyPath] as? AnyHashable, let raw = sample.rawValue as? AnyHashable
                else {
                    return false
                }
                return value == raw
            }
    }

    func text(with text: inout ExpressionText) -> String {
        let property =
            switch step {
            case .count: "count"
            case .isEmpty: "isEmpty"
            case .rawValue: "rawValue"
            case .property(let name): name ?? "(property of type \(Output.self))"
            }
        return text.operand(root) + "." + property
    }
}

extension NSExpression {
    /// Returns the sum of some numbers, nested no deeper than needed: stores limit the depth.
    fileprivate static func sum(of numbers: ArraySlice<NSExpression>) -> NSExpression {
        switch numbers.count {
        case 0: return NSExpression(forConstantValue: 0)
        case 1: return numbers[numbers.startIndex]
        default:
            let middle = numbers.startIndex + numbers.count / 2
            return NSExpression(
                forFunction: "add:to:", arguments: [sum(of: numbers[..<middle]), sum(of: numbers[middle...])])
        }
    }
}

extension PredicateExpressions.Equal: InfixOperation {
    var symbol: String { "==" }

    func translate(with translation: inout PredicateTranslation) throws -> Part {
        if let comparison = try translation.textComparison(lhs, rhs) { return .predicate(comparison) }
        return try translation.compare(lhs, .equalTo, rhs)
    }
}

extension PredicateExpressions.NotEqual: InfixOperation {
    var symbol: String { "!=" }

    func translate(with translation: inout PredicateTranslation) throws -> Part {
        if let comparison = try translation.textComparison(lhs, rhs) {
            return .predicate(NSCompoundPredicate(notPredicateWithSubpredicate: comparison))
        }
        return try translation.compare(lhs, .notEqualTo, rhs)
    }
}

extension PredicateExpressions.Comparison: InfixOperation {
    private var form: (symbol: String, operation: NSComparisonPredicate.Operator?) {
        switch op {
        case .lessThan: ("<", .lessThan)
        case .lessThanOrEqual: ("<=", .lessThanOrEqualTo)
        case .greaterThan: (">", .greaterThan)
        case .greaterThanOrEqual: (">=", .greaterThanOrEqualTo)
        @unknown default: ("\(op)", nil)
        }
    }

    var symbol: String { form.symbol }

    func translate(with translation: inout PredicateTranslation) throws -> Part {
        try translation.requireOrder(of: LHS.Output.self, in: self)
        guard let operation = form.operation else {
            throw translation.untranslatable(self, "the comparison has no counterpart")
        }
        return try translation.compare(lhs, operation, rhs)
    }
}

extension PredicateExpressions.Conjunction: InfixOperation {
    var symbol: String { "&&" }

    func translate(with translation: inout PredicateTranslation) throws -> Part {
        let parts = [try translation.predicate(lhs), try translation.predicate(rhs)]
        return .predicate(NSCompoundPredicate(andPredicateWithSubpredicates: parts))
    }
}

extension PredicateExpressions.Disjunction: InfixOperation {
    var symbol: String { "||" }

    func translate(with translation: inout PredicateTranslation) throws -> Part {
        let parts = [try translation.predicate(lhs), try translation.predicate(rhs)]
        return .predicate(NSCompoundPredicate(orPredicateWithSubpredicates: parts))
    }
}

extension PredicateExpressions.Negation: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> Part {
        .predicate(NSCompoundPredicate(notPredicateWithSubpredicate: try translation.predicate(wrapped)))
    }

    func text(with text: inout ExpressionText) -> String { "!" + text.operand(wrapped) }
}

private enum RawSamples {
    static func values<Raw: RawRepresentable>(of type: Raw.Type) -> [Raw] {
        if let type = type as? any CaseIterable.Type { return cases(of: type).compactMap { $0 as? Raw } }
        let cases = EnumerationCases.all(of: type)
        if !cases.isEmpty { return cases }
        return switch Raw.RawValue.self {
        case let integers as any FixedWidthInteger.Type: values(of: integers)
        case is String.Type: ["a", "Bc"].compactMap { ($0 as? Raw.RawValue).flatMap { Raw(rawValue: $0) } }
        case is Double.Type: [1.5, -2].compactMap { ($0 as? Raw.RawValue).flatMap { Raw(rawValue: $0) } }
        default: []
        }
    }

    private static func cases<Cases: CaseIterable>(of type: Cases.Type) -> [Any] { Array(type.allCases) }

    private static func values<Raw: RawRepresentable, Integer: FixedWidthInteger>(of integers: Integer.Type) -> [Raw] {
        (0..<32).compactMap { (Integer($0) as? Raw.RawValue).flatMap { Raw(rawValue: $0) } }
    }
}
