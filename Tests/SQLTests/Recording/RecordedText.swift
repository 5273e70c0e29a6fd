import Foundation
import Testing

/// A text that a run makes, as a file beside the tests has it.
///
/// With `RECORD_STATEMENTS` set in the environment the file is written instead, to look at what a
/// change makes of it, and the test fails: it has compared nothing.
struct RecordedText {
    private let file: URL

    /// - Parameter folder: one of the tests' folder.
    init(_ name: String, in folder: String) {
        file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent(folder)
            .appendingPathComponent(name + ".sql")
    }

    func expect(_ text: String, _ location: SourceLocation = #_sourceLocation) throws {
        if ProcessInfo.processInfo.environment["RECORD_STATEMENTS"] != nil {
            try text.write(to: file, atomically: true, encoding: .utf8)
            Issue.record("\(file.lastPathComponent) was written, and nothing compared", sourceLocation: location)
            return
        }
        let recorded = try String(contentsOf: file, encoding: .utf8)
        if text == recorded { return }
        let (lines, wanted) = (text.split(separator: "\n"), recorded.split(separator: "\n"))
        let first =
            zip(lines, wanted).enumerated().first { $0.element.0 != $0.element.1 }?.offset
            ?? min(lines.count, wanted.count)
        Issue.record(
            """
            \(file.lastPathComponent), line \(first + 1) of \(lines.count) (recorded: \(wanted.count)):
            \(first < lines.count ? String(lines[first]) : "nothing")
            recorded:
            \(first < wanted.count ? String(wanted[first]) : "nothing")
            """, sourceLocation: location)
    }
}
