import Foundation

/// Keeps compiled patterns, so that a predicate with the same pattern for every row compiles it once.
enum PatternCache {
    private struct Key: Hashable {
        let pattern: String
        let options: StringComparison.Options
    }

    private static let wildcardPatterns = BoundedCache<Key, WildcardPattern>()
    private static let regularExpressions = BoundedCache<Key, CompiledExpression>()

    /// A pattern that is not a regular expression is remembered as such.
    //
    // Unchecked Sendable: NSRegularExpression is immutable and documented as safe for use from several threads.
    private struct CompiledExpression: @unchecked Sendable {
        let expression: NSRegularExpression?
    }

    static func wildcards(_ pattern: String, _ options: StringComparison.Options) -> WildcardPattern {
        wildcardPatterns.value(for: Key(pattern: pattern, options: options)) {
            WildcardPattern(pattern, options: options)
        }
    }

    static func regularExpression(_ pattern: String, _ options: StringComparison.Options) -> NSRegularExpression? {
        regularExpressions.value(for: Key(pattern: pattern, options: options)) {
            var expressionOptions: NSRegularExpression.Options = []
            if options.contains(.caseInsensitive), !options.contains(.normalized) {
                expressionOptions.insert(.caseInsensitive)
            }
            var text = pattern
            if options.contains(.diacriticInsensitive), !options.contains(.normalized) {
                text = text.folding(options: .diacriticInsensitive, locale: nil)
            }
            // Compiled alone first: "a)|(b" is no expression, though it would be one between the parentheses.
            guard (try? NSRegularExpression(pattern: text)) != nil else { return CompiledExpression(expression: nil) }
            return CompiledExpression(
                expression: try? NSRegularExpression(pattern: "\\A(?:\(text))\\z", options: expressionOptions))
        }.expression
    }
}

/// Remembers the last values computed, up to a limit, and then starts anew.
//
// Unchecked Sendable: `entries` is only touched with `lock` held.
private final class BoundedCache<Key: Hashable, Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var entries: [Key: Value] = [:]
    private let limit = 256

    func value(for key: Key, make: () -> Value) -> Value {
        lock.lock()
        if let known = entries[key] {
            lock.unlock()
            return known
        }
        lock.unlock()
        // Made without the lock: two threads may compile the same pattern, and the results are alike.
        let value = make()
        lock.lock()
        defer { lock.unlock() }
        if entries.count >= limit { entries.removeAll(keepingCapacity: true) }
        entries[key] = value
        return value
    }
}
