import Foundation
import Testing

/// The statements of a fixed run are those in the folder `Recorded`, to the letter: stores of the
/// format's other readers and writers, and indexes, are made for them.
struct RecordedStatementTests {
    @Test(arguments: RecordedRuns.all.map(\.name))
    func statementsAreTheRecordedOnes(name: String) throws {
        let run = try #require(RecordedRuns.all.first { $0.name == name })
        try RecordedText(name, in: "Recorded").expect(try run.run())
    }
}
