import Foundation

/// Finds the right file of a model's bundle and reads it.
enum ModelFile {
    /// Reads the model at a place.
    static func model(at url: URL, version: String? = nil) throws -> NSManagedObjectModel {
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw ModelReadingError(
                .missing, "There is no such file.", advice: "Check the path and that the file is copied along.",
                file: url.path)
        }
        switch url.pathExtension {
        case "xcdatamodeld": return try model(at: sourceVersion(of: url, named: version))
        case "momd": return try model(at: compiledVersion(of: url, named: version))
        case "xcdatamodel": return try sourceModel(at: url.appendingPathComponent("contents"))
        case "contents": return try sourceModel(at: url)
        default: return url.lastPathComponent == "contents" ? try sourceModel(at: url) : try compiledModel(at: url)
        }
    }

    /// Reads every version of a model's bundle, by version name.
    static func versions(of url: URL) throws -> [String: URL] {
        let isSource = url.pathExtension == "xcdatamodeld"
        let files = try contents(of: url).filter { $0.pathExtension == (isSource ? "xcdatamodel" : "mom") }
        return Dictionary(
            files.map { ($0.deletingPathExtension().lastPathComponent, $0) }, uniquingKeysWith: { first, _ in first })
    }

    private static func sourceVersion(of url: URL, named version: String?) throws -> URL {
        let versions = try versions(of: url)
        let list = url.appendingPathComponent(".xccurrentversion")
        let current = try? propertyList(at: list)["_XCCurrentVersionName"] as? String
        let name = version ?? current
        return try choose(name.map { strip($0, ".xcdatamodel") }, among: versions, of: url)
    }

    private static func compiledVersion(of url: URL, named version: String?) throws -> URL {
        let versions = try versions(of: url)
        let list = url.appendingPathComponent("VersionInfo.plist")
        let current = try? propertyList(at: list)["NSManagedObjectModel_CurrentVersionName"] as? String
        return try choose((version ?? current).map { strip($0, ".mom") }, among: versions, of: url)
    }

    /// The version of a name; without a name the only one, or the newest by version number in its name.
    private static func choose(_ name: String?, among versions: [String: URL], of url: URL) throws -> URL {
        if let name {
            if let chosen = versions[name] { return chosen }
            throw ModelReadingError(
                .missing, "The model has no version '\(name)', only \(versions.keys.sorted().joined(separator: ", ")).",
                advice: "Name one of these, or correct the bundle's current version.", file: url.path)
        }
        guard let newest = versions.keys.max(by: { $0.compare($1, options: .numeric) == .orderedAscending }),
            let chosen = versions[newest]
        else {
            throw ModelReadingError(
                .missing, "The bundle holds no model.", advice: "Add a version to it.", file: url.path)
        }
        return chosen
    }

    private static func strip(_ name: String, _ ending: String) -> String {
        name.hasSuffix(ending) ? String(name.dropLast(ending.count)) : name
    }

    private static func sourceModel(at url: URL) throws -> NSManagedObjectModel {
        let root = try ModelElementParser.parse(data(at: url), file: url.path)
        return try ModelElementReader.model(from: root, file: url.path)
    }

    private static func compiledModel(at url: URL) throws -> NSManagedObjectModel {
        do {
            return try ModelArchiveReader.model(from: data(at: url))
        } catch var error as ModelReadingError {
            error.file = error.file ?? url.path
            throw error
        }
    }

    private static func contents(of url: URL) throws -> [URL] {
        do {
            return try FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)
        } catch {
            throw unreadable(url, error)
        }
    }

    private static func data(at url: URL) throws -> Data {
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw ModelReadingError(
                .missing, "There is no such file.", advice: "Use a complete copy of the model.", file: url.path)
        }
        do {
            return try Data(contentsOf: url)
        } catch {
            throw unreadable(url, error)
        }
    }

    private static func propertyList(at url: URL) throws -> [String: Any] {
        let list = try PropertyListSerialization.propertyList(from: data(at: url), options: [], format: nil)
        return list as? [String: Any] ?? [:]
    }

    private static func unreadable(_ url: URL, _ error: any Error) -> ModelReadingError {
        ModelReadingError(
            .missing, "It cannot be read: \(error.localizedDescription).", advice: "Check the permissions.",
            file: url.path)
    }
}
