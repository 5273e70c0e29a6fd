import CoreData
import TestSupport
import Testing

/// Many random programs of contexts that do not know what the others have saved.
@Suite(.enabled(if: LongTests.areEnabled)) struct ManyStaleContextTests {
    @Test("Both ends of relationships agree after each save", arguments: StoreKind.allCases, 1...4)
    @MainActor
    func bothEndsAgree(kind: StoreKind, part: Int) async {
        for sequence in 0..<(kind == .postgreSQL ? 100 : 3000) {
            let seed = UInt64(part * 1_000_000 + sequence)
            if let problem = StaleContexts.problem(ofProgram: seed, kind) {
                Issue.record("Seed \(seed) on \(kind.rawValue): \(problem)")
                return
            }
            // Merges that wait for the main queue keep the files of their contexts open.
            await Task.yield()
        }
    }
}
