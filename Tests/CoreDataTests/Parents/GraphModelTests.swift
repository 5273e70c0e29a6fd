import CoreData
import TestSupport
import Testing

/// Random work of a tree of contexts and others beside it, compared step by step with a plain model
/// of what they should show.
struct GraphModelTests {
    private static let stepsOfASequence = 30

    @Test(
        "Contexts show what a plain model of their changes shows", arguments: StoreKind.allCases,
        0..<(LongTests.areEnabled ? 4 : 1))
    func contextsShowWhatAModelShows(kind: StoreKind, part: Int) throws {
        // A server makes new tables for each sequence.
        let sequences = (LongTests.areEnabled ? 2500 : 25) / (kind == .postgreSQL ? 25 : 1)
        var undoneCount = 0
        var redoneCount = 0
        for sequence in 0..<sequences {
            var random = SeededGenerator(seed: UInt64(part * 1_000_000 + sequence))
            let steps = (0..<Self.stepsOfASequence).map { _ in GraphWorld.Step(using: &random) }
            let problem = Self.problem(of: steps, kind) {
                undoneCount += $0.undoneCount
                redoneCount += $0.redoneCount
            }
            guard let problem else { continue }
            let report = failureReport(problem, of: steps) { Self.problem(of: $0, kind) }
            Issue.record("Sequence \(sequence) of part \(part) on \(kind.rawValue): \(report)")
            return
        }
        // The sequences are of no use where nothing is undone in them. A server sees some of those
        // of the others.
        if kind == .postgreSQL { return }
        #expect(undoneCount > sequences / 2)
        #expect(redoneCount > sequences / 10)
    }

    /// The first difference after one of the steps; nil when there is none.
    private static func problem(
        of steps: [GraphWorld.Step], _ kind: StoreKind, whenDone: (GraphWorld) -> Void = { _ in }
    ) -> String? {
        do {
            let world = try GraphWorld(kind)
            for (index, step) in steps.enumerated() {
                do {
                    try world.take(step)
                    try world.check()
                } catch {
                    return "after step \(index), \(step): \(error)"
                }
            }
            try world.checkStore()
            whenDone(world)
            return nil
        } catch {
            return "\(error)"
        }
    }
}
