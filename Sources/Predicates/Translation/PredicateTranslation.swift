import Foundation

/// A part of a `#Predicate` that has a counterpart in NSPredicate.
protocol TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part
    /// Returns the part as Swift source.
    func text(with text: inout ExpressionText) -> String
}

/// The translation of one `#Predicate`.
struct PredicateTranslation {
    /// The translation of a part.
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

    /// A part without a counterpart.
    struct Untranslatable: Error, @unchecked Sendable {
        // Sendable: thrown and caught within one translation, on one thread.
        let message: String
        let expression: Any
    }

    private var variables: [PredicateExpressions.VariableID: NSExpression]
    /// The variables that have known values.
    private var bindings = PredicateBindings()
    private var iterators = 0

    init(input: PredicateExpressions.VariableID) {
        variables = [input: .expressionForEvaluatedObject()]
    }

    mutating func part(_ expression: Any) throws -> Part {
        if let constant = constant(expression) { return .expression(ConstantValue.expression(for: constant.value)) }
        guard let translatable = expression as? any TranslatableExpression else {
            throw Untranslatable(message: "the operation has no counterpart in NSPredicate", expression: expression)
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

    // MARK: Variables and constants

    func value(of variable: PredicateExpressions.VariableID, in expression: Any) throws -> NSExpression {
        guard let value = variables[variable] else {
            throw Untranslatable(message: "the variable has no value", expression: expression)
        }
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
        var tests: [NSPredicate] = []
        for element in elements {
            bind(variable, toKnown: element)
            tests.append(try predicate(test))
        }
        return tests
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

    /// Rejects an ordered comparison of values with raw values or several elements.
    ///
    /// The type of these values defines their order.
    func requireOrder<Value>(of type: Value.Type, in expression: Any) throws {
        let remedy: String
        switch type {
        case is any RawRepresentable.Type where !(type is AnyClass): remedy = "its raw values (.rawValue)"
        case is any PredicateComposite.Type: remedy = "its elements"
        default: return
        }
        throw Untranslatable(message: "\(type) has an order of its own, which no store knows; compare \(remedy)", expression: expression)
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
            predicate: conditions.count == 1 ? conditions[0] : NSCompoundPredicate(andPredicateWithSubpredicates: conditions))
    }
}

/// A part that filters a sequence.
protocol FilterExpression {
    var base: Any { get }
    var elementVariable: PredicateExpressions.VariableID { get }
    var condition: Any { get }

    /// Returns the condition for each element of a known sequence; nil when the store has the
    /// sequence.
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
    /// The result of the predicate as a value, true or false.
    var asExpression: NSExpression {
        NSExpression(
            forConditional: self, trueExpression: NSExpression(forConstantValue: true),
            falseExpression: NSExpression(forConstantValue: false))
    }
}

extension NSExpression {
    /// Returns the value at a key path that starts from this expression.
    package func appending(_ path: String) -> NSExpression {
        switch body {
        case .evaluatedObject: NSExpression(forKeyPath: path)
        case .keyPath(let operand, let start):
            NSExpression(body: .keyPath(operand: operand, ParsedKeyPath(start.text + "." + path)))
        default: NSExpression(body: .keyPath(operand: self, ParsedKeyPath(path)))
        }
    }

    /// Returns a comparison of the value with a constant.
    func compared(_ operation: NSComparisonPredicate.Operator, _ constant: Any?) -> NSPredicate {
        compared(operation, to: NSExpression(forConstantValue: constant))
    }

    /// Returns a comparison of the value with another one.
    func compared(
        _ operation: NSComparisonPredicate.Operator, to other: NSExpression, options: NSComparisonPredicate.Options = []
    ) -> NSPredicate {
        NSComparisonPredicate(
            leftExpression: self, rightExpression: other, modifier: .direct, type: operation, options: options)
    }

    /// Returns the value where a condition holds, and nil elsewhere.
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
