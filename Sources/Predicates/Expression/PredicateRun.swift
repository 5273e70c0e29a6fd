/// The evaluation of one predicate for many objects, as in a fetch in memory.
///
/// It holds the shared limit for regular expressions and the first error.
///
/// Used by one thread at a time.
package final class PredicateRun {
    /// The first error; after it, the results mean nothing.
    package private(set) var failure: PredicateEvaluationError?
    let patterns = PatternBudget()

    package init() {}

    func fail(_ error: PredicateEvaluationError) { if failure == nil { failure = error } }
}
