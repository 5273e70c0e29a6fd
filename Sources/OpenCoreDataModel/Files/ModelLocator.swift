import Foundation

/// Finds model files beside a program. SwiftPM puts a target's resources into
/// `Package_Target.resources` (or `.bundle`) beside the executable; the folder is searched two
/// levels deep, which covers test bundles.
package enum ModelLocator {
    private static let endings = ["momd", "mom", "xcdatamodeld", "xcdatamodel"]

    /// Returns the first file with a name, compiled forms first.
    static func url(named name: String, in bundles: [Bundle]) -> URL? {
        let folders = folders(of: bundles)
        for ending in endings {
            for folder in folders {
                let url = folder.appendingPathComponent("\(name).\(ending)")
                if FileManager.default.fileExists(atPath: url.path) { return url }
            }
        }
        return nil
    }

    /// Returns the files of bundles with some endings, sorted by name. Of files with one name in
    /// one folder it is that with the first of the endings.
    package static func files(endingIn endings: [String], in bundles: [Bundle]) -> [URL] {
        folders(of: bundles).flatMap { files(in: $0, endings).values }
            .sorted { ($0.lastPathComponent, $0.path) < ($1.lastPathComponent, $1.path) }
    }

    /// Returns the models of bundles, in the order of their names; skips files that cannot be read.
    ///
    /// In one folder the compiled form of a model is used. Models of one name in several folders
    /// are several models, unless they are the same. Outside of the folders of `bundles`
    /// themselves, a model that contradicts one found before is treated as another version of it,
    /// and left out.
    ///
    /// - Parameters:
    ///   - allVersions: Whether to read all versions of each model, including those that
    ///     contradict.
    ///   - note: Receives the reason why a file cannot be read.
    package static func models(
        in bundles: [Bundle], allVersions: Bool = false, noting note: (ModelReadingError) -> Void = { _ in }
    ) -> [NSManagedObjectModel] {
        func read<Result>(_ body: () throws -> Result) -> Result? {
            do { return try body() } catch {
                note(error as? ModelReadingError ?? .damagedArchive(error.localizedDescription))
                return nil
            }
        }
        let own = Set(unique(ownFolders(of: bundles)).map(\.path))
        var filesByName: [String: [(url: URL, isOwn: Bool)]] = [:]
        for folder in folders(of: bundles) {
            for (name, url) in files(in: folder, endings) {
                filesByName[name, default: []].append((url, own.contains(folder.path)))
            }
        }
        return filesByName.sorted { $0.key < $1.key }.flatMap { _, files -> [NSManagedObjectModel] in
            if allVersions {
                let urls = files.flatMap { file in read { try versions(of: file.url) } ?? [] }
                return urls.compactMap { url in read { try ModelFile.model(at: url) } }
            }
            var models: [NSManagedObjectModel] = []
            for file in files {
                guard let model = read({ try ModelFile.model(at: file.url) }) else { continue }
                let hashes = model.entityVersionHashesByName
                let isSkipped = models.contains { other in
                    let known = other.entityVersionHashesByName
                    return known == hashes
                        || !file.isOwn && known.contains { name, hash in hashes[name].map { $0 != hash } ?? false }
                }
                if !isSkipped { models.append(model) }
            }
            return models
        }
    }

    /// Returns the files of models and of versions with a name.
    package static func versions(named name: String, in bundles: [Bundle]) -> [URL] {
        func isNamed(_ url: URL) -> Bool { url.deletingPathExtension().lastPathComponent == name }
        return files(endingIn: endings, in: bundles).flatMap { file in
            ((try? versions(of: file)) ?? []).filter { isNamed(file) || isNamed($0) }
        }
    }

    package static func versions(of url: URL) throws -> [URL] {
        guard ModelFile.isBundle(url) else { return [url] }
        return try ModelFile.versions(of: url).sorted { $0.key < $1.key }.map(\.value)
    }

    private static func files(in folder: URL, _ endings: [String]) -> [String: URL] {
        var files: [String: URL] = [:]
        for url in contents(of: folder) {
            guard let rank = endings.firstIndex(of: url.pathExtension) else { continue }
            let name = url.deletingPathExtension().lastPathComponent
            let previous = files[name].flatMap { endings.firstIndex(of: $0.pathExtension) } ?? endings.count
            if rank < previous { files[name] = url }
        }
        return files
    }

    /// Returns the folders to search: those of the bundles, those within them, those beside their
    /// executables.
    private static func folders(of bundles: [Bundle]) -> [URL] {
        let own = ownFolders(of: bundles)
        let beside = bundles.compactMap { $0.executableURL?.deletingLastPathComponent() }
        return unique(own + own.flatMap(foldersOfBundles) + beside + beside.flatMap(foldersOfBundles))
    }

    private static func ownFolders(of bundles: [Bundle]) -> [URL] {
        bundles.flatMap { [$0.resourceURL, $0.bundleURL].compactMap { $0 } }
    }

    private static func foldersOfBundles(in root: URL) -> [URL] {
        nestedBundles(in: root).flatMap {
            [$0, $0.appendingPathComponent("Contents/Resources")] + nestedBundles(in: $0)
        }
    }

    private static func unique(_ folders: [URL]) -> [URL] {
        var seen: Set<String> = []
        return folders.map(\.standardizedFileURL).filter { seen.insert($0.resolvingSymlinksInPath().path).inserted }
    }

    private static func nestedBundles(in folder: URL) -> [URL] {
        contents(of: folder).filter { ["resources", "bundle", "xctest"].contains($0.pathExtension) }
    }

    private static func contents(of folder: URL) -> [URL] {
        ((try? ModelFile.contents(of: folder)) ?? []).sorted { $0.path < $1.path }
    }
}
