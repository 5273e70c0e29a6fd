import CoreData
import TestSupport
import Testing

/// Random work of a tree of contexts with undo, over ordered relationships, external data,
/// composites, derived and unique values and a read-only store, compared step by step with a plain
/// model, and after each save with the file.
@Suite(.foldsTexts) struct ExhibitionModelTests {
    private static let stepsOfASequence = 40

    @Test(
        "Every kind of value goes up and down a tree, and to the file and back", arguments: StoreKind.allCases,
        0..<(LongTests.areEnabled ? 2 : 1))
    func everyKindOfValueGoesUpAndDown(kind: StoreKind, part: Int) throws {
        // A server makes new tables for each sequence.
        let sequences = LongTests.areEnabled ? (kind == .postgreSQL ? 20 : 150) : (kind == .postgreSQL ? 4 : 10)
        var counts: [String: Int] = [:]
        for sequence in 0..<sequences {
            var random = SeededGenerator(seed: UInt64(part * 1_000_000 + sequence))
            let steps = (0..<Self.stepsOfASequence).map { _ in ExhibitionWorld.Step(using: &random) }
            let problem = Self.problem(of: steps, kind) { counts.merge($0.counts, uniquingKeysWith: +) }
            guard let problem else { continue }
            let report = failureReport(problem, of: steps) { Self.problem(of: $0, kind) }
            Issue.record("Sequence \(sequence) of part \(part) on \(kind.rawValue): \(report)")
            return
        }
        // The sequences are of no use where little happens in them. A server sees some of those of
        // the others.
        if kind == .postgreSQL { return }
        for name in [
            "undone", "redone", "refused", "arrangeRoom", "arrangeThemes", "image", "size", "swapCodes", "saveUp",
        ] {
            #expect(counts[name, default: 0] >= sequences / 4, "\(name)")
        }
    }

    /// The first difference after one of the steps; nil when there is none.
    private static func problem(
        of steps: [ExhibitionWorld.Step], _ kind: StoreKind, whenDone: (ExhibitionWorld) -> Void = { _ in }
    ) -> String? {
        do {
            let world = try ExhibitionWorld(kind)
            for (index, step) in steps.enumerated() {
                do {
                    try world.take(step)
                    try world.check()
                    if [.save, .saveUp].contains(step.action), step.level == 0 || step.action == .saveUp {
                        try world.checkStore()
                    }
                } catch {
                    return "after step \(index), \(step): \(error)"
                }
            }
            whenDone(world)
            return nil
        } catch {
            return "\(error)"
        }
    }
}
