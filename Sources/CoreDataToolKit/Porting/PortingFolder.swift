import Foundation

/// The Swift files of a folder, with the porter's changes and findings.
struct PortingFolder {
    struct File {
        let name: String
        let url: URL
        let ported: PortedFile
    }

    let files: [File]
    /// Files and folders that were not read, with the reason.
    let skipped: [String]

    /// Reads all Swift files of a folder and its subfolders. Symbolic links are not followed, and
    /// neither are hidden folders, which hold builds and version control data.
    ///
    /// - Throws: `ToolError` when the folder is missing or cannot be read.
    init(path: String) throws {
        let root = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: root.path, isDirectory: &isFolder) else {
            throw ToolError("There is no folder '\(path)'. Check the path.")
        }
        var skipped: [String] = []
        let found =
            isFolder.boolValue ? try Self.swiftFiles(in: root, named: "", &skipped) : [(root.lastPathComponent, root)]
        var sources: [(name: String, url: URL, source: SwiftSource)] = []
        for (name, url) in found {
            guard let data = try? Data(contentsOf: url) else {
                throw ToolError("'\(url.path)' cannot be read. Check its permissions.")
            }
            guard String(data: data, encoding: .utf8) != nil else {
                skipped.append("\(name) is not UTF-8 text.")
                continue
            }
            sources.append((name, url, SwiftSource([UInt8](data))))
        }
        let classes = ManagedClasses(sources.map(\.source))
        files = sources.map { File(name: $0.name, url: $0.url, ported: PortedFile($0.source, classes: classes)) }
        self.skipped = skipped
    }

    private static func swiftFiles(in folder: URL, named prefix: String, _ skipped: inout [String]) throws -> [(
        String, URL
    )] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        } catch {
            throw ToolError("The folder '\(folder.path)' cannot be read. Check its permissions.")
        }
        var files: [(String, URL)] = []
        for name in names where !name.hasPrefix(".") {
            let url = folder.appendingPathComponent(name)
            // The type of the entry itself, not of the target of a link.
            let type = try? FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType
            switch type {
            case .typeDirectory?: files += try swiftFiles(in: url, named: prefix + name + "/", &skipped)
            case .typeRegular? where name.hasSuffix(".swift"): files.append((prefix + name, url))
            case .typeSymbolicLink?: skipped.append("\(prefix + name) is a symbolic link.")
            default: break
            }
        }
        return files
    }

    /// Writes the changed files, each as a whole and with its previous permissions.
    func write() throws {
        for file in files where !file.ported.edits.isEmpty {
            do {
                let permissions = try FileManager.default.attributesOfItem(atPath: file.url.path)[.posixPermissions]
                try Data(file.ported.bytes).write(to: file.url, options: .atomic)
                if let permissions {
                    try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file.url.path)
                }
            } catch {
                throw ToolError(
                    "'\(file.url.path)' cannot be written: \(ErrorText.line(error)) Files before it are changed.")
            }
        }
    }
}
