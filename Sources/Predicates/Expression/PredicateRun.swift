import Foundation

/// Why a predicate could not be evaluated.
///
/// ```swift
/// do { isMatch = try predicate.result(for: item) } catch { print(error.description) }
/// ```
public struct PredicateEvaluationError: Error, Hashable, Sendable, CustomStringConvertible, LocalizedError {
    /// What went wrong, as a sentence.
    public let description: String

    init(_ description: String) { self.description = description }

    public var errorDescription: String? { description }

    static func unboundVariable(_ name: String) -> PredicateEvaluationError {
        PredicateEvaluationError("The variable $\(name) has no value; give it one with withSubstitutionVariables(_:).")
    }

    static var anyKey: PredicateEvaluationError {
        PredicateEvaluationError("ANYKEY has a meaning for Spotlight only; it cannot be evaluated.")
    }

    static func exhaustedPattern(_ pattern: String) -> PredicateEvaluationError {
        PredicateEvaluationError(
            "The regular expression \"\(pattern.prefix(200))\" of MATCHES takes too long for the texts it is compared with. "
                + "Write it without nested repetitions.")
    }

    static var tooDeep: PredicateEvaluationError {
        PredicateEvaluationError(
            "The predicate nests deeper than \(PredicateDepth.limit) levels. Join its parts in one AND or OR of many parts, or "
                + "evaluate it in several steps.")
    }
}

/// How deep predicates and expressions may nest. Evaluating, printing, translating and freeing them recurse as deep.
package enum PredicateDepth {
    /// The tallest tree that can be used. A taller one can be made, as initializers do not throw: it forgets its parts, and
    /// whatever is asked of it is an error.
    package static let limit = 512

    /// From this height on, AND in AND and OR in OR become one list, so that predicates may be joined one by one in a loop.
    static let flattening = 64

    /// The height of a tree whose parts have some heights.
    static func above(_ height: Int) -> Int { min(height, limit + 1) + 1 }
}

/// The evaluation of one predicate for many objects, as a fetch in memory does it: what they may take together, and the first
/// error.
///
/// Used by one thread at a time.
package final class PredicateRun {
    /// The error after which the answers mean nothing.
    package private(set) var failure: PredicateEvaluationError?
    let patterns = PatternBudget()

    package init() {}

    func fail(_ error: PredicateEvaluationError) { if failure == nil { failure = error } }
}

/// How long the regular expressions of one fetch may take together, counted in what they try and not in time, so that the answer
/// does not depend on the machine.
///
/// Used by one thread at a time.
package final class PatternBudget {
    /// How often ICU may report that a match goes on, which it does every some thousand steps: about fifteen seconds of a processor.
    private static let reports = 20_000

    /// How often for one match. Where Foundation has a limit of its own, which it does not report, this one is reached first.
    static let reportsOfOneMatch = 2_000

    private var left = PatternBudget.reports

    package init() {}

    /// Starts anew: for the next fetch.
    package func renew() { left = PatternBudget.reports }

    /// Counts one report.
    ///
    /// - Returns: false when the budget is used up.
    func take() -> Bool {
        left -= 1
        return left > 0
    }
}
