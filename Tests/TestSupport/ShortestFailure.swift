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
