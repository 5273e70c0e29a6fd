import Foundation

extension NSExpression {
    /// Creates an expression from a format string without arguments, such as `price * 1.2`.
    ///
    /// Text that is not an expression ends the program; for text from elsewhere use
    /// ``parse(_:arguments:)``.
    public convenience init(format: String) {
        self.init(body: NSExpression.parsed(format, []).body)
    }

    /// Creates an expression from a format string and the values for its placeholders.
    ///
    /// The placeholders are those of ``NSPredicate``.
    ///
    /// Text that is not an expression ends the program; for text from elsewhere use
    /// ``parse(_:arguments:)``.
    ///
    /// ```swift
    /// let price = NSExpression(format: "%K * %@", "price", 1.2)
    /// ```
    public convenience init(format: String, _ args: Any?...) {
        self.init(body: NSExpression.parsed(format, args).body)
    }

    /// Creates an expression from a format string and an array of values for its placeholders.
    public convenience init(format: String, argumentArray: [Any]) {
        self.init(body: NSExpression.parsed(format, argumentArray).body)
    }

    /// Parses an expression from a format string, and throws when the text is not one.
    ///
    /// ```swift
    /// do {
    ///     expression = try NSExpression.parse(text)
    /// } catch {
    ///     print(error.rendering, error.message)
    /// }
    /// ```
    ///
    /// - Throws: ``PredicateFormatError``, which contains the position of the mistake.
    public static func parse(_ format: String, arguments: [Any?] = []) throws(PredicateFormatError) -> NSExpression {
        var parser = try PredicateParser(format: format, arguments: arguments)
        return try parser.whole { parser throws(PredicateFormatError) in try parser.expression() }
    }

    private static func parsed(_ format: String, _ arguments: [Any?]) -> NSExpression {
        do {
            return try parse(format, arguments: arguments)
        } catch {
            preconditionFailure("This is not an expression format: \(error)")
        }
    }
}
