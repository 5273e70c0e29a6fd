/// The shared limit for the regular expressions of one fetch. It counts matching steps and not
/// time, so that the result does not depend on the machine. Used by one thread at a time.
package final class PatternBudget {
    /// The limit on ICU's progress reports in one fetch: about fifteen seconds of a processor.
    private static let reports = 20_000

    /// The limit on the reports of one match, which is reached before Foundation's own.
    static let reportsOfOneMatch = 2_000

    private var left = PatternBudget.reports

    package init() {}

    package func renew() { left = PatternBudget.reports }

    /// Counts one report; false when the budget is used up.
    func take() -> Bool {
        left -= 1
        return left > 0
    }
}
