import TestSupport
import Testing

/// Controllers under random changes: what their calls amount to is what a fetch gives.
struct RandomResultsTests {
    private static let setups =
        [
            RandomResults.Setup(.sqlite), RandomResults.Setup(.inMemory),
            RandomResults.Setup(.sqlite, hasSections: false),
            RandomResults.Setup(.sqlite, limit: 20),
            RandomResults.Setup(.inMemory, hasSections: false, limit: 10, offset: 5),
            RandomResults.Setup(.sqlite, parents: 1), RandomResults.Setup(.inMemory, parents: 2),
            RandomResults.Setup(.sqlite, limit: 20, parents: 2),
        ]
        + (StoreKind.allCases.contains(.postgreSQL)
            ? [
                RandomResults.Setup(.postgreSQL), RandomResults.Setup(.postgreSQL, limit: 20),
                RandomResults.Setup(.postgreSQL, hasSections: false, parents: 1),
            ] : [])

    @Test(arguments: setups, 1...(LongTests.areEnabled ? 3 : 1))
    func callsAmountToWhatAFetchGives(_ setup: RandomResults.Setup, _ seed: Int) throws {
        var run = try RandomResults(setup, count: 120, seed: UInt64(seed))
        for step in 0..<(LongTests.areEnabled ? 150 : 40) {
            if let difference = try run.step() {
                Issue.record("seed \(seed), step \(step): \(difference)")
                return
            }
        }
    }
}
