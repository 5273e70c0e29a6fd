/// The shared limit for the regular expressions of one fetch.
///
/// It counts matching steps and not time, so that the result does not depend on the machine.
///
/// Used by one thread at a time.
package final class PatternBudget {
    /// The limit on ICU's progress reports in one fetch: about fifteen seconds of a processor.
    ///
    /// ICU makes a report every few thousand steps of a match.
    private static let reports = 20_000

    /// The limit on the reports of one match.
    ///
    /// Where Foundation has a limit of its own, which it does not report, this one is reached
    /// first.
    static let reportsOfOneMatch = 2_000

    private var left = PatternBudget.reports

    package init() {}

    /// Resets the budget for the next fetch.
    package func renew() { left = PatternBudget.reports }

    /// Counts one report.
    ///
    /// - Returns: false when the budget is used up.
    func take() -> Bool {
        left -= 1
        return left > 0
    }
}
