/// The evaluation of one predicate for many objects, on one thread at a time: the shared limit for
/// regular expressions, and the first error.
package final class PredicateRun {
    /// The first error; after it, the results mean nothing.
    private(set) var failure: PredicateEvaluationError?
    let patterns = PatternBudget()

    package init() {}

    func fail(_ error: PredicateEvaluationError) { if failure == nil { failure = error } }
}
