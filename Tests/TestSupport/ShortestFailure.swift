/// The steps of a failing sequence without those that are not needed to fail.
public func shortestFailure<Step>(of steps: [Step], fails: ([Step]) -> Bool) -> [Step] {
    var steps = steps
    var index = steps.count - 1
    while index >= 0 {
        var fewer = steps
        fewer.remove(at: index)
        if fails(fewer) {
            steps = fewer
            index = min(index, steps.count)
        }
        index -= 1
    }
    return steps
}

/// A report of a failing sequence: its problem, and the shortest sequence that fails as well.
public func failureReport<Step>(_ problem: String, of steps: [Step], problemOf: ([Step]) -> String?) -> String {
    let minimal = shortestFailure(of: steps) { problemOf($0) != nil }
    return """
        \(problem)
        The shortest one that fails: \(problemOf(minimal) ?? "")
        \(minimal.map { "\($0)" }.joined(separator: "\n"))
        """
}
