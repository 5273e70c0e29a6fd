import CoreData

/// The compiled form of a model: a folder with an archive of each version and a list of them, as
/// Xcode's compiler makes it.
struct CompiledModelFolder {
    private let files: [(name: String, data: Data)]

    /// - Parameter module: the prefix of class names in the "current product module".
    /// - Throws: `ModelReadingError`.
    init(compiling url: URL, module: String?) throws {
        let current = try ModelFile.version(of: url)
        let versions = url.pathExtension == "xcdatamodeld" ? try ModelFile.versions(of: url) : [Self.name(of: url): url]
        let models = try versions.sorted { $0.key < $1.key }.map { name, url in
            (name, try NSManagedObjectModel(reading: url, module: module))
        }
        try self.init(models, current: Self.name(of: current))
    }

    /// Creates the folder of a model with one version.
    ///
    /// - Throws: `ModelReadingError` when a predicate cannot be archived.
    init(_ model: NSManagedObjectModel, version: String) throws {
        try self.init([(version, model)], current: version)
    }

    private init(_ versions: [(name: String, model: NSManagedObjectModel)], current: String) throws {
        var files: [(name: String, data: Data)] = []
        var hashes: [String: [String: Data]] = [:]
        var checksums: [String: String] = [:]
        for (name, model) in versions {
            files.append((name + ".mom", try model.archivedModel()))
            hashes[name] = model.entityVersionHashesByName
            checksums[name] = model.versionChecksum
        }
        let list: [String: Any] = [
            "NSManagedObjectModel_CurrentVersionName": current,
            "NSManagedObjectModel_VersionHashes": hashes,
            "NSManagedObjectModel_VersionChecksums": checksums,
        ]
        let data = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        files.append(("VersionInfo.plist", try PropertyListReader.inOrder(data)))
        self.files = files
    }

    private static func name(of url: URL) -> String { url.deletingPathExtension().lastPathComponent }

    /// Writes the files that differ from the existing ones, and removes archives of versions that
    /// no longer exist.
    ///
    /// - Returns: whether anything was written.
    /// - Throws: errors of Foundation when the folder cannot be written to.
    func write(to folder: URL) throws -> Bool {
        let manager = FileManager.default
        try manager.createDirectory(at: folder, withIntermediateDirectories: true)
        var isWritten = false
        for (name, data) in files where (try? Data(contentsOf: folder.appendingPathComponent(name))) != data {
            try data.write(to: folder.appendingPathComponent(name), options: .atomic)
            isWritten = true
        }
        let names = files.map(\.name)
        for name in try manager.contentsOfDirectory(atPath: folder.path)
        where name.hasSuffix(".mom") && !names.contains(name) {
            try manager.removeItem(at: folder.appendingPathComponent(name))
            isWritten = true
        }
        return isWritten
    }
}
