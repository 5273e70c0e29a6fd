import TestSupport
import Testing

/// Controllers over many objects.
@Suite(.enabled(if: LongTests.areEnabled)) struct ManyResultsTests {
    @Test(arguments: [RandomResults.Setup(.sqlite), RandomResults.Setup(.sqlite, hasSections: false, limit: 100)])
    func aControllerOverManyObjectsFollowsManyChanges(_ setup: RandomResults.Setup) throws {
        var run = try RandomResults(setup, count: 20_000, seed: 20)
        for step in 0..<5000 {
            if let difference = try run.step() {
                Issue.record("step \(step): \(difference)")
                return
            }
        }
    }
}
