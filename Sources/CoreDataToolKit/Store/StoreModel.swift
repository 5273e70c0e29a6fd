import CoreData

/// The model that a store is read with, and where it came from.
struct StoreModel {
    enum Origin: Equatable {
        /// The store's own copy, in `Z_MODELCACHE`.
        case cache
        /// A model file that the person named.
        case file(String)
        /// Made up from the store's tables.
        case tables
    }

    let model: NSManagedObjectModel
    let origin: Origin
    /// What is odd about the model, in sentences.
    let warnings: [String]
    /// The attributes whose bytes a value transformer made.
    let transformables: Set<ObjectIdentifier>

    /// Finds the model of a store.
    ///
    /// - Parameter path: a model file that takes the place of the store's own model.
    /// - Throws: `ToolError` when that file cannot be read or has no version that fits the store.
    init(_ contents: StoreContents, reader: SQLiteReader, modelPath path: String?) throws {
        var warnings: [String] = []
        if let path {
            model = try ModelFileChoice.model(at: path, for: contents)
            origin = .file(path)
        } else if let cached = Self.cachedModel(contents, &warnings) {
            model = cached
            origin = .cache
        } else {
            var inferred = InferredModel(contents, reader: reader)
            model = try inferred.model()
            origin = .tables
        }
        self.warnings = warnings
        transformables = Self.readTransformablesAsData(in: model)
        // A class of this program that happens to have the name of one of the store's classes is none of them.
        for entity in model.entities { entity.managedObjectClassName = "NSManagedObject" }
    }

    private static func cachedModel(_ contents: StoreContents, _ warnings: inout [String]) -> NSManagedObjectModel? {
        guard let cache = contents.modelCache, !cache.isEmpty else { return nil }
        do {
            return try StoreInspection.model(modelCache: cache)
        } catch {
            warnings.append(
                "The model in the store is damaged and was inferred from the tables instead: \(ErrorText.line(error))")
            return nil
        }
    }

    /// Makes transformable attributes binary ones, because the classes of their values are not in this program.
    private static func readTransformablesAsData(in model: NSManagedObjectModel) -> Set<ObjectIdentifier> {
        var changed: Set<ObjectIdentifier> = []
        for entity in model.entities {
            for case let attribute as NSAttributeDescription in entity.properties
            where attribute.attributeType == .transformableAttributeType {
                attribute.defaultValue = nil
                attribute.valueTransformerName = nil
                attribute.attributeValueClassName = nil
                attribute.attributeType = .binaryDataAttributeType
                changed.insert(ObjectIdentifier(attribute))
            }
        }
        return changed
    }
}

/// Chooses the version of a model file that a store was made with.
enum ModelFileChoice {
    static func model(at path: String, for contents: StoreContents) throws -> NSManagedObjectModel {
        let url = URL(fileURLWithPath: path)
        do {
            let current = try NSManagedObjectModel(reading: url)
            let hasHashes = contents.metadata[NSStoreModelVersionHashesKey] != nil
            if !hasHashes || fits(current, contents) { return current }
            for name in versions(of: url) {
                if let model = try? NSManagedObjectModel(reading: url, version: name), fits(model, contents) {
                    return model
                }
            }
        } catch {
            throw ToolError("The model '\(path)' cannot be read: \(ErrorText.line(error))")
        }
        throw ToolError(
            "No version of the model '\(path)' is the one that the store was made with. Leave out --model to read the store "
                + "with the model in it, or name another model.")
    }

    private static func fits(_ model: NSManagedObjectModel, _ contents: StoreContents) -> Bool {
        model.isConfiguration(withName: nil, compatibleWithStoreMetadata: contents.metadata)
    }

    private static func versions(of url: URL) -> [String] {
        guard ["momd", "xcdatamodeld"].contains(url.pathExtension) else { return [] }
        let files = (try? FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)) ?? []
        return files.filter { ["mom", "xcdatamodel"].contains($0.pathExtension) }
            .map { $0.deletingPathExtension().lastPathComponent }.sorted()
    }
}
