import Foundation

/// Writes parts of a `#Predicate` as Swift source, for error messages.
struct ExpressionText {
    private var names: [PredicateExpressions.VariableID: String]

    init(input: PredicateExpressions.VariableID) { names = [input: "$0"] }

    mutating func of(_ expression: Any) -> String {
        guard let expression = expression as? any TranslatableExpression else { return Self.name(of: expression) }
        return expression.text(with: &self)
    }

    /// Returns the text of a part, in parentheses if it is an infix operation.
    mutating func operand(_ expression: Any) -> String {
        let text = of(expression)
        return (expression as? any InfixExpression)?.isInfix == true ? "(\(text))" : text
    }

    mutating func infix(_ left: Any, _ symbol: String, _ right: Any) -> String {
        "\(operand(left)) \(symbol) \(operand(right))"
    }

    /// Returns text of the form `sequence.name { $1.property == 2 }`.
    mutating func closure(
        _ sequence: Any, _ name: String, _ variable: PredicateExpressions.VariableID, _ body: Any
    ) -> String {
        let base = operand(sequence)
        names[variable] = "$\(names.count)"
        return "\(base).\(name) { \(of(body)) }"
    }

    func name(of variable: PredicateExpressions.VariableID) -> String { names[variable] ?? "$?" }

    mutating func name(_ variable: PredicateExpressions.VariableID, as text: String) { names[variable] = text }

    static func literal(_ value: Any) -> String {
        guard let value = KeyValue.unwrapped(value) else { return "nil" }
        return switch value {
        case let text as String: "\"\(text)\""
        case let list as [Any]: "[" + list.map(literal).joined(separator: ", ") + "]"
        default: "\(value)"
        }
    }

    /// Returns the name of the type, for an operation without a counterpart.
    private static func name(of expression: Any) -> String {
        let type = "\(type(of: expression))"
        return "(" + (type.split(separator: "<").first.map(String.init) ?? type) + ")"
    }
}

protocol InfixExpression {
    var isInfix: Bool { get }
}

extension InfixExpression {
    var isInfix: Bool { true }
}

extension PredicateExpressions.OptionalFlatMap: InfixExpression {
    var isInfix: Bool { (transform as? any InfixExpression)?.isInfix == true }
}
