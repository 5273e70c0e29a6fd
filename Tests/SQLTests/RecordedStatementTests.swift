import Foundation
import Testing

/// The statements of a fixed run are those in the folder `Recorded`, to the letter: stores of the format's other readers and writers, and
/// indexes, are made for them.
///
/// With `RECORD_STATEMENTS` set in the environment the files are written instead, to look at what a change makes of them.
@Suite struct RecordedStatementTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Recorded")

    @Test(arguments: RecordedRuns.all.map(\.name))
    func statementsAreTheRecordedOnes(name: String) throws {
        let run = try #require(RecordedRuns.all.first { $0.name == name })
        let text = try run.run()
        let file = Self.folder.appendingPathComponent(name + ".sql")
        if ProcessInfo.processInfo.environment["RECORD_STATEMENTS"] != nil {
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        let recorded = try String(contentsOf: file, encoding: .utf8)
        if text == recorded { return }
        let (lines, wanted) = (text.split(separator: "\n"), recorded.split(separator: "\n"))
        let first = zip(lines, wanted).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? min(lines.count, wanted.count)
        Issue.record(
            """
            line \(first + 1) of \(lines.count) (recorded: \(wanted.count)):
            \(first < lines.count ? String(lines[first]) : "nothing")
            recorded:
            \(first < wanted.count ? String(wanted[first]) : "nothing")
            """)
    }
}
