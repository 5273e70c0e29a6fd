import Foundation

/// A part of a `#Predicate` that has a counterpart in NSPredicate.
protocol TranslatableExpression {
    typealias Part = PredicateTranslation.Part

    func translate(with translation: inout PredicateTranslation) throws -> Part
    /// Returns the part as Swift source.
    func text(with text: inout ExpressionText) -> String
}

/// A part with an infix operator between two others.
protocol InfixOperation: TranslatableExpression, InfixExpression {
    associatedtype LHS
    associatedtype RHS
    var lhs: LHS { get }
    var rhs: RHS { get }
    var symbol: String { get }
}

extension InfixOperation {
    func text(with text: inout ExpressionText) -> String { text.infix(lhs, symbol, rhs) }
}

struct PredicateTranslation {
    enum Part {
        case predicate(NSPredicate)
        case expression(NSExpression)
        /// A condition on an Optional. It has no value, and so is not true, where `isPresent` is
        /// false.
        case optional(isPresent: NSPredicate, NSPredicate)
    }

    /// The value of a part that does not depend on the object.
    struct Constant {
        let value: Any?
    }

    /// The error for a part without a counterpart.
    struct Untranslatable: Error {
        let message: String
    }

    /// The part without a counterpart, once one was found.
    private(set) var untranslatablePart: Any?

    private var variables: [PredicateExpressions.VariableID: NSExpression]
    private var bindings = PredicateBindings()
    private var iterators = 0

    init(input: PredicateExpressions.VariableID) {
        variables = [input: .expressionForEvaluatedObject()]
    }

    mutating func part(_ expression: Any) throws -> Part {
        if let constant = constant(expression) { return .expression(ConstantValue.expression(for: constant.value)) }
        guard let translatable = expression as? any TranslatableExpression else {
            throw untranslatable(expression, "the operation has no counterpart in NSPredicate")
        }
        return try translatable.translate(with: &self)
    }

    mutating func predicate(_ expression: Any) throws -> NSPredicate {
        switch try part(expression) {
        case .predicate(let predicate): return predicate
        case .optional(let isPresent, let predicate):
            return NSCompoundPredicate(andPredicateWithSubpredicates: [isPresent, predicate])
        case .expression(let value):
            if let constant = value.body.constant, let flag = constant as? Bool { return NSPredicate(value: flag) }
            return value.compared(.equalTo, true)
        }
    }

    mutating func expression(_ expression: Any) throws -> NSExpression {
        switch try part(expression) {
        case .expression(let value): return value
        case .predicate(let predicate): return predicate.asExpression
        case .optional(let isPresent, let predicate): return predicate.asExpression.where(isPresent)
        }
    }

    /// Returns the error for a part, and keeps the part for the message.
    mutating func untranslatable(_ part: Any, _ message: String) -> Untranslatable {
        untranslatablePart = part
        return Untranslatable(message: message)
    }

    // MARK: Variables and constants

    mutating func value(of variable: PredicateExpressions.VariableID, in expression: Any) throws -> NSExpression {
        guard let value = variables[variable] else { throw untranslatable(expression, "the variable has no value") }
        return value
    }

    mutating func bind(_ variable: PredicateExpressions.VariableID, to value: NSExpression) {
        variables[variable] = value
    }

    mutating func bind<Value>(_ variable: PredicateExpressions.Variable<Value>, toKnown value: Value) {
        bindings[variable] = value
    }

    /// Returns the test for each of some known elements, with its variable bound to the element.
    mutating func tests<Elements: Sequence>(
        _ test: Any, of variable: PredicateExpressions.Variable<Elements.Element>, in elements: Elements
    ) throws -> [NSPredicate] {
        try elements.map { element in
            bind(variable, toKnown: element)
            return try predicate(test)
        }
    }

    /// The value of a part that does not depend on the object; nil for every other part.
    func constant(_ expression: Any) -> Constant? {
        guard let expression = expression as? any PredicateExpression else { return nil }
        return evaluate(expression)
    }

    private func evaluate<Expression: PredicateExpression>(_ expression: Expression) -> Constant? {
        // Evaluating reads the variables. The bindings do not contain the object, so that an
        // expression which depends on it throws.
        do { return Constant(value: KeyValue.unwrapped(try expression.evaluate(bindings))) } catch { return nil }
    }

    // MARK: Comparisons

    mutating func compare(
        _ left: Any, _ operation: NSComparisonPredicate.Operator, _ right: Any,
        options: NSComparisonPredicate.Options = []
    ) throws -> Part {
        .predicate(try expression(left).compared(operation, to: try expression(right), options: options))
    }

    /// Rejects an ordered comparison of values whose type defines their order.
    mutating func requireOrder<Value>(of type: Value.Type, in expression: Any) throws {
        let remedy: String
        switch type {
        case is any RawRepresentable.Type where !(type is AnyClass): remedy = "its raw values (.rawValue)"
        case is any PredicateComposite.Type: remedy = "its elements"
        default: return
        }
        throw untranslatable(expression, "\(type) has an order of its own, which no store knows; compare \(remedy)")
    }

    // MARK: Subqueries

    /// Returns `SUBQUERY(sequence, $element, test)`, or the same with the test negated.
    mutating func subquery(
        _ sequence: Any, _ variable: PredicateExpressions.VariableID, _ test: Any, negated: Bool = false
    ) throws -> NSExpression {
        try subquery(sequence) { translation, element in
            translation.bind(variable, to: element)
            let condition = try translation.predicate(test)
            return negated ? NSCompoundPredicate(notPredicateWithSubpredicate: condition) : condition
        }
    }

    /// Returns a predicate that is true if an object is in a sequence that the store has.
    mutating func isMember(_ object: NSExpression, of sequence: Any) throws -> NSPredicate {
        try subquery(sequence) { _, element in element.compared(.equalTo, to: object) }
            .appending("@count").compared(.greaterThan, 0)
    }

    private mutating func subquery(
        _ sequence: Any, where test: (inout PredicateTranslation, NSExpression) throws -> NSPredicate
    ) throws -> NSExpression {
        iterators += 1
        let element = NSExpression(forVariable: "element\(iterators)")
        var conditions = [try test(&self, element)]
        // A search in a filtered sequence is one subquery with both conditions.
        var sequence = sequence
        while let filter = sequence as? any FilterExpression {
            bind(filter.elementVariable, to: element)
            conditions.insert(try predicate(filter.condition), at: 0)
            sequence = filter.base
        }
        return NSExpression(
            forSubquery: try expression(sequence), usingIteratorVariable: element.variable,
            predicate: conditions.count == 1
                ? conditions[0] : NSCompoundPredicate(andPredicateWithSubpredicates: conditions))
    }
}

protocol FilterExpression {
    var base: Any { get }
    var elementVariable: PredicateExpressions.VariableID { get }
    var condition: Any { get }

    /// Returns the condition for each known element; nil when the store has the sequence.
    func knownTests(with translation: inout PredicateTranslation) throws -> [NSPredicate]?
}

/// Converts values of Swift to the form that stores and predicates use.
enum ConstantValue {
    static func expression(for value: Any?) -> NSExpression {
        NSExpression(forConstantValue: value.map(stored))
    }

    private static func stored(_ value: Any) -> Any {
        switch value {
        case let value as any PredicateComposite: return value.comparedValue
        case let value as any RawRepresentable where !(value is NSObject): return stored(value.rawValue)
        case let value as Character: return String(value)
        case let value as Substring: return String(value)
        case let value as [Any]: return value.map { KeyValue.unwrapped($0).map(stored) ?? NSNull() }
        case let value as any AnySet: return value.elements.map(stored)
        default: return value
        }
    }
}

private protocol AnySet { var elements: [Any] { get } }
extension Set: AnySet { fileprivate var elements: [Any] { Array(self) } }

extension NSPredicate {
    var asExpression: NSExpression {
        NSExpression(
            forConditional: self, trueExpression: NSExpression(forConstantValue: true),
            falseExpression: NSExpression(forConstantValue: false))
    }
}

extension NSExpression {
    func `where`(_ condition: NSPredicate) -> NSExpression {
        NSExpression(
            forConditional: condition, trueExpression: self, falseExpression: NSExpression(forConstantValue: nil))
    }

    /// Whether the value is a path, which is nil where an object on the path is nil.
    var isPlainPath: Bool {
        switch body {
        case .evaluatedObject, .variable: true
        case .keyPath(let operand, let path):
            !path.text.contains("@") && (operand.map(\.isPlainPath) ?? true)
        default: false
        }
    }
}
