import Foundation

/// The Swift files of this package's tests, or of its sources.
struct SourceFolder {
    /// The package's folder.
    static let package = Manifest.file.deletingLastPathComponent()

    /// A file, its target and its lines.
    struct File {
        let target: String
        let path: String
        let lines: [Substring]
    }

    let files: [File]

    init(_ name: String = "Tests") throws {
        let folder = Self.package.appendingPathComponent(name)
        let paths = (FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []).sorted()
        // An example's products lie beside its sources.
        files = try paths.filter { $0.hasSuffix(".swift") && !$0.contains(".build/") }.map { path in
            let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
            return File(
                target: String(path.prefix { $0 != "/" }), path: path,
                lines: text.split(separator: "\n", omittingEmptySubsequences: false))
        }
    }
}
