import Foundation
import TestSupport

/// A git repository of one commit, with a version as its tag.
struct Repository {
    let folder: URL

    init(at folder: URL, tag: String, files: [String: String]) throws {
        self.folder = folder
        try write(files, to: folder)
        let author = ["-c", "user.name=Tests", "-c", "user.email=tests@example.invalid"]
        for arguments in [["init", "-q"], ["add", "-A"], author + ["commit", "-q", "-m", "Files"], ["tag", tag]] {
            let run = try ProgramRun(URL(fileURLWithPath: "/usr/bin/env"), ["git", "-C", folder.path] + arguments)
            guard run.status == 0 else { throw FailedRun(output: run.output) }
        }
    }

    /// A repository of this package with nothing in its source files, which are not looked at
    /// before a program is built.
    static func ofThisPackage(in folder: TemporaryFolder) throws -> Repository {
        var files = try Manifest(copiedTo: folder.file("read")).sources
        files["Package.swift"] = try String(contentsOf: Manifest.file, encoding: .utf8)
        return try Repository(at: folder.file("OpenCoreData"), tag: "1.0.1", files: files)
    }
}
