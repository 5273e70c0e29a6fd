import CoreData
import TestSupport
import Testing

/// Random programs of contexts that do not know what the others have saved. The long tests run more
/// of them, and many more in `ManyStaleContextTests`.
struct StaleContextTests {
    // The contexts are of the main queue, where they merge what others have saved.
    @Test("Both ends of relationships agree after each save", arguments: StoreKind.allCases)
    @MainActor
    func bothEndsAgree(kind: StoreKind) {
        // A server makes new tables for each program.
        for seed in 0..<(kind == .postgreSQL ? 6 : LongTests.areEnabled ? 60 : 12) {
            if let problem = StaleContexts.problem(ofProgram: UInt64(seed), kind) {
                Issue.record("Seed \(seed) on \(kind.rawValue): \(problem)")
                return
            }
        }
    }
}
