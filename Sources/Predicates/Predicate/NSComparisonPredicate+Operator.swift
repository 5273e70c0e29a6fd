import Foundation

extension NSComparisonPredicate {
    /// The comparisons, with Apple's raw values.
    ///
    /// ```swift
    /// if let comparison = predicate as? NSComparisonPredicate,
    ///     comparison.predicateOperatorType == .beginsWith
    /// {
    ///     print(comparison.leftExpression, comparison.rightExpression)
    /// }
    /// ```
    public enum Operator: UInt, Sendable {
        /// `<`. False when a side is `nil`.
        case lessThan = 0
        /// `<=`. False when a side is `nil`.
        case lessThanOrEqualTo
        /// `>`. False when a side is `nil`.
        case greaterThan
        /// `>=`. False when a side is `nil`.
        case greaterThanOrEqualTo
        /// `==`. `nil` equals `nil` only.
        case equalTo
        /// `!=`. The opposite of `==`, also for `nil`.
        case notEqualTo
        /// `MATCHES`: the whole string matches a regular expression.
        case matches
        /// `LIKE`: `?` stands for one character, `*` for any number.
        case like
        /// `BEGINSWITH`.
        case beginsWith
        /// `ENDSWITH`.
        case endsWith
        /// `IN`: the left value is an element of the right collection, or a part of the right
        /// string.
        case `in`
        /// The method named by ``NSComparisonPredicate/customSelector``.
        case customSelector
        /// `CONTAINS`: the right value is an element of the left collection, or a part of the left
        /// string.
        case contains = 99
        /// `BETWEEN`: the left value lies within two bounds, both included.
        ///
        /// The bounds are the first and the second element of the right collection.
        case between = 100

        var symbol: String {
            switch self {
            case .lessThan: "<"
            case .lessThanOrEqualTo: "<="
            case .greaterThan: ">"
            case .greaterThanOrEqualTo: ">="
            case .equalTo: "=="
            case .notEqualTo: "!="
            case .matches: "MATCHES"
            case .like: "LIKE"
            case .beginsWith: "BEGINSWITH"
            case .endsWith: "ENDSWITH"
            case .in: "IN"
            case .customSelector: "CUSTOM"
            case .contains: "CONTAINS"
            case .between: "BETWEEN"
            }
        }
    }

    /// Whether the left side is one value or a collection.
    ///
    /// ```swift
    /// let any = NSComparisonPredicate(
    ///     leftExpression: NSExpression(forKeyPath: "tags.name"),
    ///     rightExpression: NSExpression(forConstantValue: "new"),
    ///     modifier: .any, type: .equalTo)                     // ANY tags.name == "new"
    /// ```
    public enum Modifier: UInt, Sendable {
        /// The left value itself is compared.
        case direct
        /// `ALL`: every element must fulfil the comparison; true for no elements.
        case all
        /// `ANY`: at least one element must fulfil the comparison.
        case any
    }

    /// How strings are compared.
    ///
    /// ```swift
    /// // name CONTAINS[cd] "cafe"
    /// let options: NSComparisonPredicate.Options = [.caseInsensitive, .diacriticInsensitive]
    /// ```
    public struct Options: OptionSet, Hashable, Sendable {
        /// Apple's bits.
        public let rawValue: UInt

        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// `[c]`: upper and lower case are alike.
        public static let caseInsensitive = Options(rawValue: 1)
        /// `[d]`: letters with and without diacritics are alike.
        public static let diacriticInsensitive = Options(rawValue: 2)
        /// `[n]`: the strings are known to be normalized; they are compared byte by byte.
        public static let normalized = Options(rawValue: 4)
        /// `[l]`: by the rules of the current locale. Apple parses it but has no name for it.
        public static let localeSensitive = Options(rawValue: 8)

        var suffix: String {
            if isEmpty { return "" }
            var letters = ""
            if contains(.caseInsensitive) { letters += "c" }
            if contains(.diacriticInsensitive) { letters += "d" }
            if contains(.normalized) { letters += "n" }
            if contains(.localeSensitive) { letters += "l" }
            return "[\(letters)]"
        }
    }
}

extension NSComparisonPredicate.Options {
    /// Whether strings are compared code point by code point: with no options, and always with
    /// `[n]`.
    package var comparesLiterally: Bool { StringComparison.Options(self).isLiteral }
}
