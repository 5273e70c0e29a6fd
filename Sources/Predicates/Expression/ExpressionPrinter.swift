import Foundation

extension NSExpression {
    var text: String { ExpressionPrinter.text(of: body) }
}

/// Writes expressions as Apple's classes do, or so that they parse back to the same expression.
/// `LiteralPrinter.isForParser` selects the second form.
enum ExpressionPrinter {
    static func text(of body: ExpressionBody) -> String {
        switch body {
        case .constant(let value, _): return LiteralPrinter.text(of: value)
        case .evaluatedObject: return "SELF"
        case .anyKey: return "ANYKEY"
        case .variable(let name): return "$" + name
        case .keyPath(nil, let path): return keyPath(path.text)
        case .keyPath(let operand?, let path): return atom(operand) + "." + keyPath(path.text)
        case .function(let call): return function(call)
        case .set(let operation, let left, let right):
            return "\(atom(left)) \(operation.rawValue) \(atom(right))"
        case .subquery(let collection, let variable, let predicate):
            return "SUBQUERY(\(collection.text), $\(variable), \(predicate.predicateFormat))"
        case .aggregate(let elements): return "{" + list(elements) + "}"
        case .operation(_, let arguments): return "FETCH(\(list(arguments)))"
        case .block(_, let arguments): return "BLOCK(\(list(arguments)))"
        case .conditional(let predicate, let first, let second):
            return "TERNARY(\(predicate.predicateFormat), \(first.text), \(second.text))"
        }
    }

    private static func list(_ expressions: [NSExpression]) -> String {
        expressions.map(\.text).joined(separator: ", ")
    }

    /// Writes `#` before keys that read as keywords. Keys that are not names are quoted after `#`.
    private static func keyPath(_ path: String) -> String {
        let names = path.pathNames
        guard names.allSatisfy(isName) else { return "#" + LiteralPrinter.quoted(path) }
        return ReservedWords.all.contains(names[0].uppercased()) ? "#" + path : path
    }

    private static func isName(_ text: String) -> Bool {
        let scalars = text.unicodeScalars.dropFirst(text.hasPrefix("@") ? 1 : 0)
        return scalars.first?.startsName == true && scalars.allSatisfy(\.continuesName)
    }

    private static func function(_ call: FunctionCall) -> String {
        guard let builtIn = call.builtIn else {
            let parts = [call.target?.text ?? "SELF", LiteralPrinter.quoted(call.name)] + call.arguments.map(\.text)
            return "FUNCTION(\(parts.joined(separator: ", ")))"
        }
        if let sign = call.infix { return infix(sign, call.arguments[0], call.arguments[1]) }
        if call.isComplement { return complement(call.arguments[0]) }
        if builtIn == .cast, call.arguments.count == 2 { return "CAST(\(list(call.arguments)))" }
        if builtIn == .objectAtIndex, call.arguments.count == 2 {
            return "\(atom(call.arguments[0]))[\(call.arguments[1].text)]"
        }
        return "\(call.name)(\(list(call.arguments)))"
    }

    private static func infix(_ sign: InfixSign, _ left: NSExpression, _ right: NSExpression) -> String {
        let isPower = sign.precedence == InfixSign.power
        func operand(_ expression: NSExpression, isRight: Bool) -> String {
            var needsParentheses = false
            switch expression.body {
            case .set: needsParentheses = true
            case .function(let call) where call.isComplement: needsParentheses = isPower && !isRight
            case .function(let call):
                if let inner = call.infix {
                    let associates = isPower == isRight
                    needsParentheses =
                        inner.precedence < sign.precedence || (inner.precedence == sign.precedence && !associates)
                }
            case .constant:
                needsParentheses = isPower && !isRight && expression.text.hasPrefix("-")
            default: break
            }
            return needsParentheses ? "(\(expression.text))" : expression.text
        }
        return "\(operand(left, isRight: false)) \(sign.symbol) \(operand(right, isRight: true))"
    }

    /// Writes `~x`; the sign applies to the whole power that follows it.
    private static func complement(_ operand: NSExpression) -> String {
        if case .function(let call) = operand.body, let sign = call.infix, sign.precedence < InfixSign.power {
            return "~(\(operand.text))"
        }
        if case .set = operand.body { return "~(\(operand.text))" }
        return "~" + operand.text
    }

    /// Adds the parentheses that an operator needs before a point or a bracket, and beside a set
    /// operator.
    private static func atom(_ expression: NSExpression) -> String {
        let text = expression.text
        return switch expression.body {
        case .set: "(\(text))"
        case .function(let call) where call.infix != nil || call.isComplement: "(\(text))"
        case .constant where text.first.map { $0.isNumber || $0 == "-" || $0 == "." } ?? false: "(\(text))"
        default: text
        }
    }
}
