import Foundation

/// Finds model files beside a program.
///
/// SwiftPM puts a target's resources into `Package_Target.resources` (or `.bundle`) beside the executable; the folder
/// is searched two levels deep, which covers test bundles.
enum ModelLocator {
    private static let endings = ["momd", "mom", "xcdatamodeld", "xcdatamodel"]

    /// The first file of a name, compiled forms first.
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

    /// The models of bundles; files that cannot be read are passed over.
    static func models(in bundles: [Bundle], allVersions: Bool = false) -> [NSManagedObjectModel] {
        var byName: [String: URL] = [:]
        for folder in folders(of: bundles) {
            for url in contents(of: folder) {
                guard let rank = endings.firstIndex(of: url.pathExtension) else { continue }
                let name = url.deletingPathExtension().lastPathComponent
                let previous = byName[name].flatMap { endings.firstIndex(of: $0.pathExtension) } ?? endings.count
                if rank < previous { byName[name] = url }
            }
        }
        let urls = byName.sorted { $0.key < $1.key }.map(\.value)
        return urls.flatMap { url -> [NSManagedObjectModel] in
            guard allVersions, ["momd", "xcdatamodeld"].contains(url.pathExtension),
                let versions = try? ModelFile.versions(of: url)
            else { return [try? ModelFile.model(at: url)].compactMap { $0 } }
            return versions.sorted { $0.key < $1.key }.compactMap { try? ModelFile.model(at: $0.value) }
        }
    }

    private static func folders(of bundles: [Bundle]) -> [URL] {
        var folders: [URL] = []
        for bundle in bundles {
            var roots = [bundle.resourceURL, bundle.bundleURL].compactMap { $0 }
            if let executable = bundle.executableURL { roots.append(executable.deletingLastPathComponent()) }
            for root in roots {
                folders.append(root)
                for nested in nestedBundles(in: root) {
                    folders.append(nested)
                    folders.append(nested.appendingPathComponent("Contents/Resources"))
                    folders += nestedBundles(in: nested)
                }
            }
        }
        var seen: Set<String> = []
        return folders.map(\.standardizedFileURL).filter { seen.insert($0.path).inserted }
    }

    private static func nestedBundles(in folder: URL) -> [URL] {
        contents(of: folder).filter { ["resources", "bundle", "xctest"].contains($0.pathExtension) }
    }

    private static func contents(of folder: URL) -> [URL] {
        let found = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return (found ?? []).sorted { $0.path < $1.path }
    }
}
