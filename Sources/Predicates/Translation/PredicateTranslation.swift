import Foundation

/// A part of a `#Predicate` that has a counterpart.
protocol TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part
}

/// The work of translating one `#Predicate`.
struct PredicateTranslation {
    /// What a part becomes.
    enum Part {
        case predicate(NSPredicate)
        case expression(NSExpression)
        /// A condition on an Optional: there is none, and so no truth, where `isPresent` is false.
        case optional(isPresent: NSPredicate, NSPredicate)
    }

    private var variables: [PredicateExpressions.VariableID: NSExpression]
    private var iterators = 0

    init(input: PredicateExpressions.VariableID) {
        variables = [input: .expressionForEvaluatedObject()]
    }

    mutating func part(_ expression: Any) throws -> Part {
        guard let expression = expression as? any TranslatableExpression else {
            throw PredicateTranslationError(message: "\(type(of: expression)) has no counterpart in NSPredicate")
        }
        return try expression.translate(with: &self)
    }

    mutating func predicate(_ expression: Any) throws -> NSPredicate {
        switch try part(expression) {
        case .predicate(let predicate): return predicate
        case .optional(let isPresent, let predicate):
            return NSCompoundPredicate(andPredicateWithSubpredicates: [isPresent, predicate])
        case .expression(let value):
            if let constant = value.body.constant, let flag = constant as? Bool { return NSPredicate(value: flag) }
            return NSComparisonPredicate(
                leftExpression: value, rightExpression: NSExpression(forConstantValue: true), modifier: .direct,
                type: .equalTo)
        }
    }

    mutating func expression(_ expression: Any) throws -> NSExpression {
        switch try part(expression) {
        case .expression(let value): return value
        case .predicate(let predicate), .optional(_, let predicate):
            return NSExpression(
                forConditional: predicate, trueExpression: NSExpression(forConstantValue: true),
                falseExpression: NSExpression(forConstantValue: false))
        }
    }

    func value(of variable: PredicateExpressions.VariableID) throws -> NSExpression {
        guard let value = variables[variable] else {
            throw PredicateTranslationError(message: "a variable of the predicate has no value")
        }
        return value
    }

    mutating func bind(_ variable: PredicateExpressions.VariableID, to value: NSExpression) {
        variables[variable] = value
    }

    mutating func compare(
        _ left: Any, _ operation: NSComparisonPredicate.Operator, _ right: Any,
        options: NSComparisonPredicate.Options = []
    ) throws -> Part {
        .predicate(
            NSComparisonPredicate(
                leftExpression: try expression(left), rightExpression: try expression(right), modifier: .direct,
                type: operation, options: options))
    }

    /// `SUBQUERY(sequence, $element, test)`, or with the test negated.
    mutating func subquery(
        _ sequence: Any, _ variable: PredicateExpressions.VariableID, _ test: Any, negated: Bool = false
    ) throws -> NSExpression {
        let collection = try expression(sequence)
        iterators += 1
        let name = "element\(iterators)"
        bind(variable, to: NSExpression(forVariable: name))
        var condition = try predicate(test)
        if negated { condition = NSCompoundPredicate(notPredicateWithSubpredicate: condition) }
        return NSExpression(forSubquery: collection, usingIteratorVariable: name, predicate: condition)
    }
}

extension NSExpression {
    /// The value at a key path that starts from this one.
    func appending(_ path: String) -> NSExpression {
        switch body {
        case .evaluatedObject: NSExpression(forKeyPath: path)
        case .keyPath(let operand, let start):
            NSExpression(body: .keyPath(operand: operand, ParsedKeyPath(start.text + "." + path)))
        default: NSExpression(body: .keyPath(operand: self, ParsedKeyPath(path)))
        }
    }

    /// The value compared with a constant.
    func compared(_ operation: NSComparisonPredicate.Operator, _ constant: Any?) -> NSPredicate {
        NSComparisonPredicate(
            leftExpression: self, rightExpression: NSExpression(forConstantValue: constant), modifier: .direct,
            type: operation)
    }
}
