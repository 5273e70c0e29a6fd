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
