import Foundation

/// A string comparison with a fixed right side, prepared for the many values that SQL has.
package struct StringMatcher: Sendable {
    private enum Preparation: Sendable {
        case composed(String, bytes: [UInt8], isASCII: Bool)
        case wildcards(WildcardPattern)
        case expression(RegularExpression)
        /// The right side is not a regular expression.
        case nothing
    }

    private let operation: NSComparisonPredicate.Operator
    private let options: StringComparison.Options
    private let pattern: String
    private let preparation: Preparation

    /// - Parameters:
    ///   - operation: A comparison of two strings, CONTAINS among them.
    ///   - pattern: The right side.
    package init(_ operation: NSComparisonPredicate.Operator, _ options: NSComparisonPredicate.Options, pattern: String)
    {
        self.operation = operation
        self.options = StringComparison.Options(options)
        self.pattern = pattern
        switch operation {
        case .like: preparation = .wildcards(PatternCache.wildcards(pattern, self.options))
        case .matches:
            preparation = PatternCache.regularExpression(pattern, self.options).map { .expression($0) } ?? .nothing
        default:
            let composed = StringComparison.composed(pattern, self.options)
            let bytes = Array(composed.utf8)
            preparation = .composed(composed, bytes: bytes, isASCII: bytes.allSatisfy { $0 < 0x80 })
        }
    }

    /// - Throws: ``PredicateEvaluationError`` when a regular expression exceeds the budget.
    package func holds(utf8 bytes: UnsafeBufferPointer<UInt8>, _ budget: PatternBudget) throws(PredicateEvaluationError)
        -> Bool
    {
        if case .composed(_, let part, isASCII: true) = preparation, !options.contains(.localeSensitive),
            bytes.allSatisfy({ $0 < 0x80 })
        {
            return holdsASCII(bytes, part)
        }
        return try holds(String(decoding: bytes, as: UTF8.self), budget)
    }

    /// - Throws: ``PredicateEvaluationError`` when a regular expression exceeds the budget.
    func holds(_ text: String, _ budget: PatternBudget) throws(PredicateEvaluationError) -> Bool {
        switch preparation {
        case .nothing: return false
        case .wildcards(let wildcards): return wildcards.matches(text)
        case .expression(let expression):
            guard let holds = expression.matches(text, budget) else { throw .exhaustedPattern(pattern) }
            return holds
        case .composed(let part, _, _): return compare(text, part)
        }
    }

    private func compare(_ text: String, _ part: String) -> Bool {
        switch operation {
        case .equalTo: return StringComparison.equal(text, pattern, options: options)
        case .notEqualTo: return !StringComparison.equal(text, pattern, options: options)
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
            return operation.holds(for: StringComparison.compare(text, pattern, options: options))
        case .beginsWith: return StringComparison.composed(text, options).utf8.starts(with: part.utf8)
        case .endsWith:
            return StringComparison.composed(text, options).utf8.reversed().starts(with: part.utf8.reversed())
        case .contains:
            return ASCIIText.bytes(of: StringComparison.composed(text, options)) { text in
                ASCIIText.bytes(of: part) { ASCIIText.contains(text, $0) }
            }
        case .like, .matches, .in, .between, .customSelector: return false
        }
    }

    private func holdsASCII(_ bytes: UnsafeBufferPointer<UInt8>, _ part: [UInt8]) -> Bool {
        let folds = options.folds && options.contains(.caseInsensitive)
        @inline(__always) func byte(_ index: Int) -> UInt8 {
            let byte = bytes[index]
            return folds && byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
        }
        func matches(at start: Int) -> Bool {
            var index = 0
            while index < part.count {
                if byte(start + index) != part[index] { return false }
                index += 1
            }
            return true
        }
        /// Negative when the value sorts before the right side.
        var order: Int {
            for index in 0..<min(bytes.count, part.count) where byte(index) != part[index] {
                return Int(byte(index)) - Int(part[index])
            }
            return bytes.count - part.count
        }
        switch operation {
        case .equalTo: return bytes.count == part.count && matches(at: 0)
        case .notEqualTo: return bytes.count != part.count || !matches(at: 0)
        case .beginsWith: return bytes.count >= part.count && matches(at: 0)
        case .endsWith: return bytes.count >= part.count && matches(at: bytes.count - part.count)
        case .contains:
            var start = 0
            while start + part.count <= bytes.count {
                if matches(at: start) { return true }
                start += 1
            }
            return false
        case .lessThan: return order < 0
        case .lessThanOrEqualTo: return order <= 0
        case .greaterThan: return order > 0
        case .greaterThanOrEqualTo: return order >= 0
        case .like, .matches, .in, .between, .customSelector: return false
        }
    }
}

/// A compiled regular expression that the whole of a text must match.
struct RegularExpression: Sendable {
    private let expression: NSRegularExpression
    private let options: StringComparison.Options

    /// `nil` when the pattern is no regular expression.
    init?(_ pattern: String, _ options: StringComparison.Options) {
        var expressionOptions: NSRegularExpression.Options = []
        if options.contains(.caseInsensitive), !options.contains(.normalized) {
            expressionOptions.insert(.caseInsensitive)
        }
        var text = pattern
        if options.contains(.diacriticInsensitive), !options.contains(.normalized) {
            text = text.folding(options: .diacriticInsensitive, locale: nil)
        }
        // Compiled alone first: "a)|(b" is not an expression, though it would be one between the
        // parentheses.
        guard (try? NSRegularExpression(pattern: text)) != nil,
            let expression = try? NSRegularExpression(pattern: "\\A(?:\(text))\\z", options: expressionOptions)
        else { return nil }
        self.expression = expression
        self.options = options
    }

    /// Whether the whole text matches; `nil` when the match exceeds a limit.
    func matches(_ text: String, _ budget: PatternBudget) -> Bool? {
        let text =
            options.contains(.diacriticInsensitive) && !options.contains(.normalized)
            ? text.folding(options: .diacriticInsensitive, locale: nil) : text
        var isMatch = false
        var isExhausted = false
        var reports = 0
        let whole = NSRange(location: 0, length: text.utf16.count)
        expression.enumerateMatches(in: text, options: [.reportProgress, .reportCompletion], range: whole) {
            result, flags, stop in
            if result != nil {
                isMatch = true
                stop.pointee = true
            } else if flags.contains(.internalError) {
                // ICU has limits of its own for the memory of one match.
                isExhausted = true
                stop.pointee = true
            } else if flags.contains(.progress) {
                reports += 1
                guard reports > PatternBudget.reportsOfOneMatch || !budget.take() else { return }
                isExhausted = true
                stop.pointee = true
            }
        }
        return isMatch ? true : isExhausted ? nil : false
    }
}
