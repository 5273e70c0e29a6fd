import Foundation

/// A cache of compiled patterns: a predicate with the same pattern for every row compiles it once.
enum PatternCache {
    private struct Key: Hashable {
        let pattern: LiteralText
        let options: StringComparison.Options
    }

    private static let wildcardPatterns = BoundedCache<Key, WildcardPattern>()
    /// A pattern that is not a regular expression is cached as nil.
    private static let regularExpressions = BoundedCache<Key, RegularExpression?>()

    static func wildcards(_ pattern: String, _ options: StringComparison.Options) -> WildcardPattern {
        wildcardPatterns.value(for: Key(pattern: LiteralText(pattern), options: options)) {
            WildcardPattern(pattern, options: options)
        }
    }

    static func regularExpression(_ pattern: String, _ options: StringComparison.Options) -> RegularExpression? {
        regularExpressions.value(for: Key(pattern: LiteralText(pattern), options: options)) {
            RegularExpression(pattern, options)
        }
    }
}

/// Caches the last values computed. The cache is emptied when it reaches its limit.
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
        // Made without the lock: two threads may compile the same pattern, with equal results.
        let value = make()
        lock.lock()
        defer { lock.unlock() }
        if entries.count >= limit { entries.removeAll(keepingCapacity: true) }
        entries[key] = value
        return value
    }
}
