import Foundation
import TestSupport

/// What SwiftPM reads out of this package's manifest at some place.
struct Manifest {
    /// The manifest itself.
    static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Package.swift")

    /// The names of the packages it depends on.
    let dependencies: [String]
    /// All compiler and linker flags that SwiftPM calls unsafe.
    let unsafeFlags: [String]
    /// For each target a file that SwiftPM wants to see there when it loads the package, by its path, with its content.
    let sources: [String: String]

    /// - Parameters:
    ///   - folder: where a copy of the manifest is put and read.
    ///   - swiftSyntaxPackage: the value of `OPENCOREDATA_SWIFT_SYNTAX_PACKAGE`; nil for none.
    ///   - isDeep: whether `OPENCOREDATA_UNOPTIMIZED_TESTS` is set.
    init(copiedTo folder: URL, swiftSyntaxPackage: String? = nil, isDeep: Bool = false) throws {
        try write(["Package.swift": String(contentsOf: Self.file, encoding: .utf8)], to: folder)
        let run = try swiftPackage(["dump-package"], in: folder, swiftSyntaxPackage: swiftSyntaxPackage, isDeep: isDeep)
        guard run.status == 0, let start = run.output.firstIndex(of: "{"),
            let package = try JSONSerialization.jsonObject(with: Data(run.output[start...].utf8)) as? [String: Any],
            let targets = package["targets"] as? [[String: Any]]
        else { throw FailedRun(output: run.output) }
        dependencies = (package["dependencies"] as? [[String: Any]] ?? []).flatMap { dependency in
            (dependency["sourceControl"] as? [[String: Any]] ?? []).compactMap { $0["identity"] as? String }
        }
        let settings = targets.flatMap { $0["settings"] as? [[String: Any]] ?? [] }
        unsafeFlags = settings.flatMap { setting in
            ((setting["kind"] as? [String: Any])?["unsafeFlags"] as? [String: Any])?["_0"] as? [String] ?? []
        }
        sources = Dictionary(
            uniqueKeysWithValues: targets.map { target in
                let name = target["name"] as? String ?? ""
                let type = target["type"] as? String ?? ""
                let area = ["test": "Tests", "plugin": "Plugins"][type] ?? "Sources"
                let folder = target["path"] as? String ?? "\(area)/\(name)"
                switch type {
                case "system": return ("\(folder)/module.modulemap", "module \(name) {}")
                case "executable", "macro": return ("\(folder)/main.swift", "")
                default: return ("\(folder)/Empty.swift", "")
                }
            })
    }
}

struct FailedRun: Error {
    let output: String
}

/// Runs `swift package` in a folder, with `OPENCOREDATA_SWIFT_SYNTAX_PACKAGE` and `OPENCOREDATA_UNOPTIMIZED_TESTS` as given whatever the
/// environment says.
///
/// What SwiftPM would keep for the user (clones, mirrors, the revisions that versions had) goes to a folder beside it.
func swiftPackage(_ arguments: [String], in folder: URL, swiftSyntaxPackage: String? = nil, isDeep: Bool = false) throws -> ProgramRun {
    let (syntax, deep) = ("OPENCOREDATA_SWIFT_SYNTAX_PACKAGE", "OPENCOREDATA_UNOPTIMIZED_TESTS")
    let environment = ["-u", syntax, "-u", deep] + (swiftSyntaxPackage.map { ["\(syntax)=\($0)"] } ?? []) + (isDeep ? ["\(deep)=1"] : [])
    let own = ["cache", "config", "security"].flatMap { ["--\($0)-path", "\(folder.path)-SwiftPM/\($0)"] }
    return try ProgramRun(
        URL(fileURLWithPath: "/usr/bin/env"), environment + ["swift", "package", "--package-path", folder.path] + own + arguments)
}

/// Writes texts to files by their paths below a folder.
func write(_ files: [String: String], to folder: URL) throws {
    for (path, text) in files {
        let file = folder.appendingPathComponent(path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }
}
