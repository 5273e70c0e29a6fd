import Foundation

/// An error that says why a predicate could not be evaluated.
///
/// ```swift
/// do { isMatch = try predicate.result(for: item) } catch { print(error.description) }
/// ```
public struct PredicateEvaluationError: Error, Hashable, Sendable, CustomStringConvertible, LocalizedError {
    /// The description of the error, as a sentence.
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
            "The regular expression \"\(pattern.prefix(200))\" of MATCHES takes too long for the texts it is "
                + "compared with. "
                + "Write it without nested repetitions.")
    }

    static var tooDeep: PredicateEvaluationError {
        PredicateEvaluationError(
            "The predicate nests deeper than \(PredicateDepth.limit) levels. Join its parts in one AND or OR of many "
                + "parts, or "
                + "evaluate it in several steps.")
    }
}
