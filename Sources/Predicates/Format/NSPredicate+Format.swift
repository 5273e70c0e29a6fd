import Foundation

extension PredicateFormatInitializable {
    /// Creates a predicate from a format string without arguments.
    ///
    /// Text that is not a predicate ends the program with a message that shows the place; for text
    /// from elsewhere use ``NSPredicate/parse(_:arguments:)``.
    public init(format: String) {
        self = Self.parsed(format, [])
    }

    /// Creates a predicate from a format string and the values for its placeholders.
    ///
    ///     NSPredicate(format: "%K == %@ AND stock < %d", "name", "Bolt", 5)
    ///
    /// `%@` takes any value, `%K` a key path, and `%d %i %u %ld %lld %f` and the like a number.
    /// Values are bound, never pasted into the text. Inside quotes a placeholder is plain text.
    ///
    /// Text that is not a predicate ends the program with a message that shows the place; for text
    /// from elsewhere use ``NSPredicate/parse(_:arguments:)``.
    public init(format: String, _ args: Any?...) {
        self = Self.parsed(format, args)
    }

    /// Creates a predicate from a format string and an array of values for its placeholders.
    ///
    /// `NSNull` in the array stands for `nil`.
    ///
    /// ```swift
    /// let predicate = NSPredicate(format: "name == %@ AND stock < %@", argumentArray: ["Bolt", 5])
    /// ```
    public init(format: String, argumentArray: [Any]?) {
        self = Self.parsed(format, argumentArray ?? [])
    }

    private static func parsed(_ format: String, _ arguments: [Any?]) -> Self {
        let predicate: NSPredicate
        do {
            predicate = try NSPredicate.parse(format, arguments: arguments)
        } catch {
            preconditionFailure("This is not a predicate format: \(error)")
        }
        guard let predicate = predicate as? Self else {
            preconditionFailure("\"\(format)\" describes a \(type(of: predicate)), not a \(Self.self).")
        }
        return predicate
    }
}

extension NSPredicate {
    /// Parses a predicate from a format string, and throws when the text is not one.
    ///
    /// Safe for text from anywhere: every mistake, and nesting too deep to handle, is an error.
    ///
    /// Cost: O(length of the text).
    ///
    /// ```swift
    /// do {
    ///     request.predicate = try NSPredicate.parse(text)     // what a user has typed
    /// } catch {
    ///     print(error.rendering, error.message)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - format: The text, in Apple's predicate format syntax.
    ///   - arguments: The values for `%@`, `%K`, `%d` ... in order. Surplus values are ignored, as
    ///     Apple does.
    /// - Throws: ``PredicateFormatError``, which contains the position of the mistake.
    public static func parse(_ format: String, arguments: [Any?] = []) throws(PredicateFormatError) -> NSPredicate {
        var parser = try PredicateParser(format: format, arguments: arguments)
        return try parser.whole { parser throws(PredicateFormatError) in try parser.predicate() }
    }
}
