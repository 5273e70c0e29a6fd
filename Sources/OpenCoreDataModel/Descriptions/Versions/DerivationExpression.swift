import Predicates

/// The form in which derivation expressions are stored and hashed. For example, `pages.@count` is
/// stored as the function `count:` of `pages` and hashed as `count:(pages)`.
enum DerivationExpression {
    /// Returns the stored form of an expression as it was written.
    static func compiled(_ expression: NSExpression) -> NSExpression {
        guard expression.expressionType == .keyPath else { return expression }
        let parts = expression.keyPath.pathNames
        if let last = parts.last, last == "@count", parts.count > 1 {
            return function("count:", of: parts.dropLast())
        }
        if let index = parts.firstIndex(of: "@sum"), index > 0 {
            return function("sum:", of: parts[..<index] + parts[(index + 1)...])
        }
        return expression
    }

    /// Returns the text that a person writes, from which `compiled` makes the stored form.
    static func source(of compiled: NSExpression) -> String {
        guard compiled.expressionType == .function, let path = compiled.arguments?.first,
            compiled.arguments?.count == 1, path.expressionType == .keyPath
        else { return compiled.description }
        switch compiled.function {
        case "count:": return path.keyPath + ".@count"
        case "sum:":
            var parts = path.keyPath.pathNames
            parts.insert("@sum", at: max(parts.count - 1, 1))
            return parts.joined(separator: ".")
        default: return compiled.description
        }
    }

    /// Returns the text that goes into the version hash.
    static func text(of expression: NSExpression) -> String {
        let compiled = compiled(expression)
        guard compiled.expressionType == .function else { return compiled.description }
        let arguments = (compiled.arguments ?? []).map { text(of: $0) }
        return "\(compiled.function)(\(arguments.joined(separator: ", ")))"
    }

    private static func function(_ name: String, of path: some Collection<String>) -> NSExpression {
        NSExpression(forFunction: name, arguments: [NSExpression(forKeyPath: path.joined(separator: "."))])
    }

    /// Returns the expression as a person writes it; nil when its text would not give it again.
    static func editableText(of expression: NSExpression) -> String? {
        let compiled = compiled(expression)
        let text = source(of: compiled)
        guard let again = try? NSExpression.parse(text) else { return nil }
        return self.compiled(again).description == compiled.description ? text : nil
    }
}
