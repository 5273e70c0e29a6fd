import Foundation
import TestSupport
import Testing

/// `Scripts/docs.sh` says what is missing before it builds anything.
struct DocsScriptTests {
    private func run(swift: String) throws -> ProgramRun {
        let script = Manifest.file.deletingLastPathComponent().appendingPathComponent("Scripts/docs.sh").path
        return try ProgramRun(URL(fileURLWithPath: "/usr/bin/env"), ["SWIFT=\(swift)", "bash", script])
    }

    @Test func aMissingCompilerIsNamed() throws {
        let run = try run(swift: "/nowhere/swift")
        #expect(run.status == 1)
        #expect(run.output.hasPrefix("docs: there is no '/nowhere/swift'. Set SWIFT"), "\(run.output)")
    }

    @Test func aToolchainWithoutTheDocumentationCompilerIsNamed() throws {
        let folder = try TemporaryFolder()
        let swift = folder.file("swift")
        try Data("#!/bin/sh\nexit 1\n".utf8).write(to: swift)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: swift.path)
        let run = try run(swift: swift.path)
        #expect(run.status == 1)
        #expect(run.output.contains("has no docc"), "\(run.output)")
        #expect(run.output.split(separator: "\n").count == 1, "\(run.output)")
    }
}
