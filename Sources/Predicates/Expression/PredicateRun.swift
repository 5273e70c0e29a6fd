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
