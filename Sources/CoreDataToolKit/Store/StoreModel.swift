import CoreData

/// The model with which a store is read, and its origin.
struct StoreModel {
    enum Origin: Equatable {
        /// The store's own copy, in `Z_MODELCACHE`.
        case cache
        case file(String)
        case tables

        var name: String {
            switch self {
            case .cache: "cache"
            case .file: "file"
            case .tables: "tables"
            }
        }

        var text: String {
            switch self {
            case .cache: "the store's own (Z_MODELCACHE)"
            case .file(let path): path
            case .tables: "inferred from the tables: the names of properties are those of columns, in lower case"
            }
        }
    }

    let model: NSManagedObjectModel
    let origin: Origin
    let warnings: [String]
    /// The attributes whose bytes a value transformer made.
    let transformables: Set<ObjectIdentifier>

    /// The coordinator with which the engine reads the store.
    let coordinator: NSPersistentStoreCoordinator
    /// The configuration whose entities the store holds; nil for all.
    let configuration: String?

    var entities: [NSEntityDescription] { model.heldEntities(forConfigurationName: configuration)?.entities ?? [] }

    /// Finds the model of a store, and completes the store's list of entities from it.
    ///
    /// If the store's own model cannot be read or used, a model is inferred from the tables.
    ///
    /// - Parameter path: a model file that replaces the store's own model.
    /// - Throws: `ToolError` when that file cannot be read or has no version that fits the store.
    init(_ contents: inout StoreCatalog, reader: SQLiteReader, modelPath path: String?) throws {
        if let path {
            let model = try ModelFileChoice.model(at: path, for: contents.metadata)
            self = try Self(model, .file(path), [], &contents, reader)
            return
        }
        var warnings: [String] = []
        if let cache = contents.modelCache, !cache.isEmpty {
            do {
                let cached = try StoreInspection.model(modelCache: cache)
                do {
                    self = try Self(cached, .cache, [], &contents, reader)
                    return
                } catch let failure as SQLiteReader.Failure {
                    throw failure
                } catch {
                    warnings.append(
                        "The model in the store cannot be used, and the tables are read instead: "
                            + "\(ErrorText.line(error))"
                    )
                }
            } catch let failure as SQLiteReader.Failure {
                throw failure
            } catch {
                warnings.append(
                    "The model in the store cannot be read; it was inferred from the tables instead: "
                        + "\(ErrorText.line(error))"
                )
            }
        }
        try contents.addEntities(missingIn: nil, reader: reader)
        var inferred = InferredModel(contents, reader: reader)
        let model = try inferred.model()
        for entity in contents.entities where contents.table(of: entity) == nil {
            warnings.append("The table of the entity '\(entity.name)' is missing.")
        }
        self = try Self(model, .tables, warnings, &contents, reader)
    }

    private init(
        _ model: NSManagedObjectModel, _ origin: Origin, _ warnings: [String], _ contents: inout StoreCatalog,
        _ reader: SQLiteReader
    ) throws {
        self.model = model
        self.origin = origin
        self.warnings = warnings
        transformables = Self.readTransformablesAsData(in: model)
        model.forgetClasses()
        // A model that was inferred from tables has only entities of the store.
        configuration = origin == .tables ? nil : Self.makeConfiguration(of: model, contents)
        coordinator = try NSPersistentStoreCoordinator(validating: model)
        var completed = contents
        try completed.addEntities(missingIn: model, configuration: configuration, reader: reader)
        contents = completed
    }

    /// Returns a coordinator for the store's unchanged model, with which the engine can write, and
    /// the configuration that the store holds.
    ///
    /// The model in this value reads transformable attributes as bytes, so its hashes are others.
    ///
    /// - Parameter path: a model file that replaces the store's own model.
    /// - Throws: `ToolError`, or an error of the engine for a model that it cannot use.
    static func writingCoordinator(
        for contents: StoreCatalog, modelPath path: String?
    ) throws -> (coordinator: NSPersistentStoreCoordinator, configuration: String?) {
        let model =
            try path.map { try ModelFileChoice.model(at: $0, for: contents.metadata) }
            ?? StoreInspection.model(modelCache: contents.modelCache ?? Data())
        model.forgetClasses()
        let configuration = makeConfiguration(of: model, contents)
        return (try NSPersistentStoreCoordinator(validating: model), configuration)
    }

    /// Creates a configuration of those hierarchies of a model for which a store was made, or whose
    /// tables it has.
    ///
    /// - Returns: its name; nil if these are all hierarchies.
    private static func makeConfiguration(of model: NSManagedObjectModel, _ contents: StoreCatalog) -> String? {
        guard let hashes = contents.metadata[NSStoreModelVersionHashesKey] as? [String: Any] else { return nil }
        let listed = Set(contents.entityNames(in: model).values)
        var roots: Set<ObjectIdentifier> = []
        for entity in model.entities {
            let (name, root) = (entity.name ?? "", entity.rootEntity)
            let isHeld =
                hashes[name] != nil || listed.contains(name)
                || contents.present("Z" + (root.name ?? "").uppercased()) != nil
            if isHeld { roots.insert(ObjectIdentifier(root)) }
        }
        let held = model.entities.filter { roots.contains(ObjectIdentifier($0.rootEntity)) }
        guard !held.isEmpty, held.count < model.entities.count else { return nil }
        let name = "what the store holds"
        model.setEntities(held, forConfigurationName: name)
        return name
    }

    /// Returns the ID of a row of the store that the coordinator has open, with the entity that its
    /// row has; nil for an unknown entity.
    func objectID(entity: String, key: Int64) -> NSManagedObjectID? {
        guard let uuid = coordinator.persistentStores.first?.identifier,
            let name = entity.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed),
            let url = URL(string: "x-coredata://\(uuid)/\(name)/p\(key)")
        else { return nil }
        return coordinator.managedObjectID(forURIRepresentation: url)
    }

    /// - Throws: `ToolError` with near names.
    func entity(named name: String, in file: StoreFile) throws(ToolError) -> NSEntityDescription {
        let entities = entities
        let names = entities.compactMap(\.name).sorted()
        if let entity = entities.first(where: { $0.name == name }) { return entity }
        let near = entities.filter { $0.name?.lowercased() == name.lowercased() }
        if near.count == 1 { return near[0] }
        throw ToolError(
            "The store '\(file.originalURL.path)' has no entity '\(name)'. "
                + NearNames.advice(for: name, among: names, kind: "entity"))
    }

    /// Changes transformable attributes to binary ones, because the classes of their values are not
    /// in this program.
    private static func readTransformablesAsData(in model: NSManagedObjectModel) -> Set<ObjectIdentifier> {
        var changed: Set<ObjectIdentifier> = []
        func read(_ attributes: [NSAttributeDescription]) {
            for attribute in attributes {
                if let composite = attribute as? NSCompositeAttributeDescription {
                    read(composite.elements)
                } else if attribute.attributeType == .transformableAttributeType {
                    attribute.defaultValue = nil
                    attribute.valueTransformerName = nil
                    attribute.attributeValueClassName = nil
                    attribute.attributeType = .binaryDataAttributeType
                    changed.insert(ObjectIdentifier(attribute))
                }
            }
        }
        for entity in model.entities { read(entity.properties.compactMap { $0 as? NSAttributeDescription }) }
        return changed
    }
}

/// Chooses the version of a model file that a store was made with.
enum ModelFileChoice {
    static func model(at path: String, for metadata: [String: Any]) throws -> NSManagedObjectModel {
        let url = URL(fileURLWithPath: path)
        do {
            let current = try NSManagedObjectModel(reading: url)
            let hasHashes = metadata[NSStoreModelVersionHashesKey] != nil
            if !hasHashes || fits(current, metadata) { return current }
            for name in versions(of: url) {
                if let model = try? NSManagedObjectModel(reading: url, version: name), fits(model, metadata) {
                    return model
                }
            }
        } catch {
            throw ToolError("The model '\(path)' cannot be read: \(ErrorText.line(error))")
        }
        throw ToolError(
            "No version of the model '\(path)' is the one that the store was made with. Leave out --model to read "
                + "the store "
                + "with the model in it, or name another model.")
    }

    private static func fits(_ model: NSManagedObjectModel, _ metadata: [String: Any]) -> Bool {
        configuration(of: model, for: metadata) != nil
    }

    /// Returns the configuration of a model with which a store was made: `.some(nil)` is the whole
    /// model; nil if none fits.
    static func configuration(of model: NSManagedObjectModel, for metadata: [String: Any]) -> String?? {
        ([nil] + model.configurations).first {
            model.isConfiguration(withName: $0, compatibleWithStoreMetadata: metadata)
        }
    }

    private static func versions(of url: URL) -> [String] {
        guard ["momd", "xcdatamodeld"].contains(url.pathExtension) else { return [] }
        return ((try? ModelFile.versions(of: url)) ?? [:]).keys.sorted()
    }
}
