import Foundation

/// The string comparisons of predicates and sorts, and of a store's own comparison functions.
///
/// Without options, strings are compared literally, code point by code point: case, diacritics and
/// the way an accented letter is composed all count.
///
/// ```swift
/// let isSame = StringComparison.equal(
///     "Café", "CAFE", options: [.caseInsensitive, .diacriticInsensitive])     // true
/// let fits = StringComparison.like("Bolt M8", "Bolt*")    // true
/// ```
public enum StringComparison {
    /// The differences that a comparison ignores.
    public struct Options: OptionSet, Hashable, Sendable {
        /// The bits of ``NSComparisonPredicate/Options``.
        public let rawValue: UInt

        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// The options of a predicate.
        public init(_ options: NSComparisonPredicate.Options) { rawValue = options.rawValue }

        /// Upper and lower case are alike.
        public static let caseInsensitive = Options(rawValue: 1)
        /// Letters with and without diacritics are alike.
        public static let diacriticInsensitive = Options(rawValue: 2)
        /// The strings are normalized already: nothing is folded.
        public static let normalized = Options(rawValue: 4)
        /// The rules of the current locale apply.
        public static let localeSensitive = Options(rawValue: 8)

        /// Whether the strings are folded. `[n]` says that they need no folding.
        var folds: Bool {
            !contains(.normalized) && !isDisjoint(with: [.caseInsensitive, .diacriticInsensitive])
        }

        var isLiteral: Bool { !folds && !contains(.localeSensitive) }
    }

    /// Whether the strings are the same.
    public static func equal(_ lhs: String, _ rhs: String, options: Options = []) -> Bool {
        if options.isLiteral { return LiteralText.areSame(lhs, rhs) }
        if options.folds, let result = ASCIIText.equal(lhs, rhs, ignoringCase: options.contains(.caseInsensitive)) {
            return result
        }
        if options.contains(.localeSensitive) { return compare(lhs, rhs, options: options) == .orderedSame }
        return folded(lhs, options) == folded(rhs, options)
    }

    /// Whether `lhs` contains `rhs`. Every string contains the empty string.
    ///
    /// ```swift
    /// let isIn = StringComparison.contains(
    ///     "Crème", "creme", options: [.caseInsensitive, .diacriticInsensitive])  // true
    /// ```
    public static func contains(_ lhs: String, _ rhs: String, options: Options = []) -> Bool {
        if options.folds, ASCIIText.isASCII(rhs), ASCIIText.isASCII(lhs) {
            return ASCIIText.contains(lhs, rhs, ignoringCase: options.contains(.caseInsensitive))
        }
        return ASCIIText.bytes(of: composed(lhs, options)) { text in
            ASCIIText.bytes(of: composed(rhs, options)) { ASCIIText.contains(text, $0) }
        }
    }

    /// Whether `lhs` starts with `rhs`.
    public static func beginsWith(_ lhs: String, _ rhs: String, options: Options = []) -> Bool {
        composed(lhs, options).utf8.starts(with: composed(rhs, options).utf8)
    }

    /// Whether `lhs` ends with `rhs`.
    public static func endsWith(_ lhs: String, _ rhs: String, options: Options = []) -> Bool {
        composed(lhs, options).utf8.reversed().starts(with: composed(rhs, options).utf8.reversed())
    }

    /// Whether the whole of `lhs` fits the pattern.
    ///
    /// `?` stands for one code point, `*` for any number, and a backslash takes the next character
    /// literally. Where options fold, letters and the marks above them are composed first. Compiled
    /// patterns are kept for the next call.
    public static func like(_ lhs: String, _ pattern: String, options: Options = []) -> Bool {
        PatternCache.wildcards(pattern, options).matches(lhs)
    }

    /// Whether the whole of `lhs` matches the regular expression (ICU syntax).
    ///
    /// False when the pattern is not a regular expression (see ``isValidPattern(_:)``), and when
    /// the match takes too long. Compiled patterns are kept for the next call.
    ///
    /// ```swift
    /// let isCode = StringComparison.matches("AB12", "[A-Z]{2}[0-9]+")         // true
    /// ```
    public static func matches(_ lhs: String, _ pattern: String, options: Options = []) -> Bool {
        PatternCache.regularExpression(pattern, options)?.matches(lhs, PatternBudget()) ?? false
    }

    /// Whether the text is a regular expression that ``matches(_:_:options:)`` understands.
    public static func isValidPattern(_ pattern: String) -> Bool {
        PatternCache.regularExpression(pattern, []) != nil
    }

    /// Returns the order of two strings by code points, after folding what the options ignore.
    ///
    /// With the option `localeSensitive`, the strings are compared by the rules of the current
    /// locale.
    public static func compare(_ lhs: String, _ rhs: String, options: Options) -> ComparisonResult {
        if options.contains(.localeSensitive) {
            return lhs.compare(rhs, options: foundationOptions(options), range: nil, locale: .current)
        }
        return options.folds ? literalOrder(folded(lhs, options), folded(rhs, options)) : literalOrder(lhs, rhs)
    }

    /// Returns the order of two strings by a sort selector.
    ///
    /// The selectors are `compare:`, `caseInsensitiveCompare:`, `localizedCompare:`,
    /// `localizedCaseInsensitiveCompare:` and `localizedStandardCompare:`. Others order as
    /// `compare:`.
    ///
    /// ```swift
    /// // ascending
    /// let order = StringComparison.compare(
    ///     "Item 9", "Item 10", selectorName: "localizedStandardCompare:")
    /// ```
    public static func compare(_ lhs: String, _ rhs: String, selectorName: String) -> ComparisonResult {
        switch selectorName {
        case "caseInsensitiveCompare:": compare(lhs, rhs, options: .caseInsensitive)
        case "localizedCompare:": lhs.localizedCompare(rhs)
        case "localizedCaseInsensitiveCompare:": lhs.localizedCaseInsensitiveCompare(rhs)
        case "localizedStandardCompare:": lhs.localizedStandardCompare(rhs)
        default: literalOrder(lhs, rhs)
        }
    }

    /// Two strings are equal under the options when the folded ones are.
    static func folded(_ text: String, _ options: Options) -> String {
        guard options.folds else { return text }
        if ASCIIText.isASCII(text) { return options.contains(.caseInsensitive) ? text.lowercased() : text }
        return text.folding(options: foundationOptions(options), locale: nil).decomposedStringWithCanonicalMapping
    }

    /// The folded string for searches of parts: `é` does not contain `e`, unless diacritics are
    /// ignored.
    static func composed(_ text: String, _ options: Options) -> String {
        guard options.folds else { return text }
        let folded = folded(text, options)
        return ASCIIText.isASCII(folded) ? folded : folded.precomposedStringWithCanonicalMapping
    }

    private static func foundationOptions(_ options: Options) -> String.CompareOptions {
        var result: String.CompareOptions = []
        if options.contains(.caseInsensitive) { result.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { result.insert(.diacriticInsensitive) }
        return result
    }

    /// The order of UTF-8 is the order of code points.
    private static func literalOrder(_ lhs: String, _ rhs: String) -> ComparisonResult {
        if LiteralText.areSame(lhs, rhs) { return .orderedSame }
        return lhs.utf8.lexicographicallyPrecedes(rhs.utf8) ? .orderedAscending : .orderedDescending
    }
}
