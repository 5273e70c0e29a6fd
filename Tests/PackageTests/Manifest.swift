import Foundation
import TestSupport

/// The manifest of this package as SwiftPM reads it in a given environment.
struct Manifest {
    /// The manifest itself.
    static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("Package.swift")

    /// The names of the packages it depends on.
    let dependencies: [String]
    /// All compiler and linker flags that SwiftPM calls unsafe.
    let unsafeFlags: [String]
    /// The targets that each product names.
    private let targetsOfProducts: [String: [String]]
    /// The targets that each target names.
    private let targetsOfTargets: [String: [String]]
    /// The libraries of the system that each target links by itself, as the linker or pkg-config
    /// calls them.
    private let librariesOfTargets: [String: [String]]
    /// For each target a file that SwiftPM wants to see there when it loads the package, by its
    /// path, with its content.
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
        unsafeFlags = targets.flatMap(Self.unsafeFlags(of:))
        targetsOfProducts = Self.byName(package["products"] as? [[String: Any]] ?? []) {
            $0["targets"] as? [String] ?? []
        }
        targetsOfTargets = Self.byName(targets) { target in
            (target["dependencies"] as? [[String: Any]] ?? []).compactMap { dependency in
                ((dependency["byName"] ?? dependency["target"]) as? [Any])?.first as? String
            }
        }
        librariesOfTargets = Self.byName(targets) { target in
            var libraries = Self.settings("linkedLibrary", of: target).compactMap { $0 as? String }
            if let package = target["pkgConfig"] as? String { libraries.append(package) }
            return libraries + Self.unsafeFlags(of: target).filter { $0.hasPrefix("-l") }
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

    /// The values of a target's settings of one kind.
    private static func settings(_ kind: String, of target: [String: Any]) -> [Any] {
        (target["settings"] as? [[String: Any]] ?? []).compactMap { setting in
            ((setting["kind"] as? [String: Any])?[kind] as? [String: Any])?["_0"]
        }
    }

    private static func unsafeFlags(of target: [String: Any]) -> [String] {
        settings("unsafeFlags", of: target).flatMap { $0 as? [String] ?? [] }
    }

    private static func byName(_ list: [[String: Any]], _ value: ([String: Any]) -> [String]) -> [String: [String]] {
        Dictionary(uniqueKeysWithValues: list.map { ($0["name"] as? String ?? "", value($0)) })
    }

    /// All targets that a product is made of: those that it names, and what these depend on.
    func targets(of product: String) -> Set<String> {
        var found: Set<String> = []
        var waiting = targetsOfProducts[product] ?? []
        while let target = waiting.popLast() {
            if found.insert(target).inserted { waiting += targetsOfTargets[target] ?? [] }
        }
        return found
    }

    /// The libraries of the system that a product links.
    func libraries(of product: String) -> Set<String> {
        Set(targets(of: product).flatMap { librariesOfTargets[$0] ?? [] })
    }
}

struct FailedRun: Error {
    let output: String
}

/// Runs `swift package` in a folder, with `OPENCOREDATA_SWIFT_SYNTAX_PACKAGE` and
/// `OPENCOREDATA_UNOPTIMIZED_TESTS` as given whatever the environment says.
///
/// Clones, mirrors and resolved revisions, which SwiftPM would keep for the user, go to a folder
/// beside it.
func swiftPackage(_ arguments: [String], in folder: URL, swiftSyntaxPackage: String? = nil, isDeep: Bool = false) throws
    -> ProgramRun
{
    let (syntax, deep) = ("OPENCOREDATA_SWIFT_SYNTAX_PACKAGE", "OPENCOREDATA_UNOPTIMIZED_TESTS")
    let environment =
        ["-u", syntax, "-u", deep] + (swiftSyntaxPackage.map { ["\(syntax)=\($0)"] } ?? [])
        + (isDeep ? ["\(deep)=1"] : [])
    let own = ["cache", "config", "security"].flatMap { ["--\($0)-path", "\(folder.path)-SwiftPM/\($0)"] }
    return try ProgramRun(
        URL(fileURLWithPath: "/usr/bin/env"),
        environment + ["swift", "package", "--package-path", folder.path] + own + arguments)
}

/// Writes texts to files by their paths below a folder.
func write(_ files: [String: String], to folder: URL) throws {
    for (path, text) in files {
        let file = folder.appendingPathComponent(path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }
}
