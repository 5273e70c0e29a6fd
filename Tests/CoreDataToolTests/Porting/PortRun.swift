import Foundation
import Testing

@testable import CoreDataToolKit

/// A folder of Swift files and what `coredata port` makes of them.
final class PortRun {
    let workplace: Workplace
    /// The run with `--write`.
    let run: ToolRun

    /// Writes a file and ports it, twice: the second time changes nothing.
    init(_ text: String, others: [String: String] = [:]) throws {
        workplace = try Workplace()
        for (name, text) in others { _ = try workplace.file(name, Data(text.utf8)) }
        _ = try workplace.file("File.swift", Data(text.utf8))
        run = ToolRun(["port", workplace.folder.path, "--write"])
        #expect(run.status == 0)
        let first = try workplace.contents()
        let again = ToolRun(["port", workplace.folder.path, "--write"])
        #expect(again.output.contains("0 changes in 0 files"), "\(again.output)")
        #expect(try workplace.contents() == first)
    }

    func text(_ name: String = "File.swift") throws -> String {
        String(decoding: try Data(contentsOf: workplace.folder.appendingPathComponent(name)), as: UTF8.self)
    }

    /// The places that are left, as `line: rule`.
    var left: [String] {
        run.lines.filter { $0.contains(": left: ") }.map { line in
            line.dropFirst("File.swift:".count).replacingOccurrences(of: ": left: ", with: ": ")
        }
    }
}
