import Foundation

/// Finds the right file of a model's bundle and reads it.
package enum ModelFile {
    /// Reads the model at a URL. Its classes are looked for first in `module`, or in the modules
    /// that its resource bundle may belong to.
    package static func model(at url: URL, version: String? = nil, module: String? = nil) throws -> NSManagedObjectModel
    {
        let modules = module.map { [$0] } ?? ResourceBundleName.modules(ofFileAt: url)
        let model = try model(at: url, version: version, modules: modules)
        for entity in model.entities { entity.classModules = modules }
        return model
    }

    private static func model(at url: URL, version: String?, modules: [String]) throws -> NSManagedObjectModel {
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw ModelReadingError(
                .missing, "There is no such file.", advice: "Check the path and that the file is copied along.",
                file: url.path)
        }
        switch url.pathExtension {
        case "xcdatamodeld", "momd":
            return try model(at: Self.version(of: url, named: version), version: nil, modules: modules)
        case "xcdatamodel":
            try refuseEarlierForm(url)
            return try sourceModel(at: url.appendingPathComponent("contents"), modules)
        case "contents": return try sourceModel(at: url, modules)
        default:
            return url.lastPathComponent == "contents" ? try sourceModel(at: url, modules) : try compiledModel(at: url)
        }
    }

    /// Whether a URL is that of a bundle of versions.
    package static func isBundle(_ url: URL) -> Bool { ["momd", "xcdatamodeld"].contains(url.pathExtension) }

    /// Returns the files of all versions of a model's bundle, by version name.
    package static func versions(of url: URL) throws -> [String: URL] {
        let isSource = url.pathExtension == "xcdatamodeld"
        let files = try contents(of: url).filter { $0.pathExtension == (isSource ? "xcdatamodel" : "mom") }
        return Dictionary(
            files.map { ($0.deletingPathExtension().lastPathComponent, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the file of a version, the current one if none is named; the file itself for a model
    /// without versions.
    package static func version(of url: URL, named version: String? = nil) throws -> URL {
        let (list, key, ending): (String, String, String)
        switch url.pathExtension {
        case "xcdatamodeld": (list, key, ending) = (".xccurrentversion", "_XCCurrentVersionName", ".xcdatamodel")
        case "momd": (list, key, ending) = ("VersionInfo.plist", "NSManagedObjectModel_CurrentVersionName", ".mom")
        default: return url
        }
        let versions = try versions(of: url)
        let current = try? propertyList(at: url.appendingPathComponent(list))[key] as? String
        let name = (version ?? current).map { $0.hasSuffix(ending) ? String($0.dropLast(ending.count)) : $0 }
        return try choose(name, among: versions, of: url)
    }

    /// Returns the version with a name; without one the only version, or the newest by the number
    /// in its name.
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

    private static func sourceModel(at url: URL, _ modules: [String]) throws -> NSManagedObjectModel {
        let root = try ModelElementParser.parse(data(at: url), file: url.path)
        let model = try ModelElementReader.model(from: root, file: url.path, module: modules.first)
        // Problems that every coordinator rejects are reported here, where the file is known.
        let problems = model.consistencyProblems()
        if problems.isEmpty { return model }
        throw ModelReadingError(
            .damaged, problems.joined(separator: " "), advice: "Correct the model in its editor.", file: url.path)
    }

    /// Rejects the binary form that Xcode wrote up to version 3: files `elements` and `layout`, or
    /// one file.
    private static func refuseEarlierForm(_ url: URL) throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else { return }
        func holds(_ name: String) -> Bool {
            FileManager.default.fileExists(atPath: url.appendingPathComponent(name).path)
        }
        guard !isFolder.boolValue || (holds("elements") && !holds("contents")) else { return }
        throw ModelReadingError(
            .damaged, "This model is in the binary form that Xcode wrote before version 4.",
            advice: "Open it in Xcode and save it again, or use the compiled model (.mom or .momd).", file: url.path)
    }

    private static func compiledModel(at url: URL) throws -> NSManagedObjectModel {
        do {
            return try ModelArchiveReader.model(from: data(at: url))
        } catch var error as ModelReadingError {
            error.file = error.file ?? url.path
            throw error
        }
    }

    static func contents(of url: URL) throws -> [URL] {
        do {
            // Foundation does not list a folder through a symbolic link.
            return try FileManager.default.contentsOfDirectory(
                at: url.resolvingSymlinksInPath(), includingPropertiesForKeys: nil)
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
        try PropertyListReader.dictionary(from: data(at: url))
    }

    private static func unreadable(_ url: URL, _ error: any Error) -> ModelReadingError {
        ModelReadingError(
            .missing, "It cannot be read: \(error.localizedDescription).", advice: "Check the permissions.",
            file: url.path)
    }
}
