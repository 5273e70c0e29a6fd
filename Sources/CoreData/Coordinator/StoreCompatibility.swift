import Foundation

/// Whether a store can be used with a model: its version hashes, and what its type can keep.
struct StoreCompatibility {
    let model: NSManagedObjectModel
    let configuration: String?
    let type: String
    let url: URL?
    let options: [AnyHashable: Any]?

    /// The entities that the store shall hold.
    ///
    /// - Throws: `CocoaError.coreData` when the model has no such configuration.
    func entities() throws -> [NSEntityDescription] {
        if let configuration, configuration == NSPersistentStore.defaultConfigurationName { return model.entities }
        if let entities = model.entities(forConfigurationName: configuration) { return entities }
        let known = model.configurations.map { "'\($0)'" }.joined(separator: ", ")
        throw CoreDataErrors.make(
            .coreData,
            "The store \(StoreName.text(type: type, url: url)) cannot be added: the model has no configuration "
                + "'\(configuration ?? "")'. It has \(known.isEmpty ? "none" : known).",
            recovery: "Name one of the model's configurations, or none for all entities.",
            userInfo: StoreOpeningErrors.userInfo(type: type, url: url))
    }

    /// Refuses entities with features that the store class cannot keep.
    func checkFeatures(of entities: [NSEntityDescription], storeClass: NSPersistentStore.Type) throws {
        let problems = storeClass.unsupportedFeatures(of: entities)
        guard !problems.isEmpty else { return }
        throw CoreDataErrors.make(
            .coreData,
            "The store \(StoreName.text(type: type, url: url)) cannot be added. Stores of this type do not support "
                + problems.joined(separator: ", ") + ".",
            recovery: "Use a SQLite store, or take these out of the model's configuration.",
            userInfo: StoreOpeningErrors.userInfo(type: type, url: url))
    }

    /// Compares the store's version hashes with those of the entities.
    ///
    /// A store without hashes (they are optional in the format) counts as compatible.
    ///
    /// - Parameter storedModel: gives the model that the store keeps in itself, if any; asked only when hashes differ.
    /// - Throws: 134100 when the hashes differ; 134130 or 134140 when the options ask for a migration that cannot be made.
    func checkHashes(
        in metadata: [String: Any], of entities: [NSEntityDescription], storedModel: () -> NSManagedObjectModel?
    ) throws {
        if NSPersistentStore.flag(options, NSIgnorePersistentStoreVersioningOption) { return }
        guard let stored = StoreMetadataHashes.hashes(in: metadata) else { return }
        let current = Dictionary(
            entities.map { ($0.name ?? "", $0.versionHash) }, uniquingKeysWith: { first, _ in first })
        var difference = ModelDifference(stored: stored, current: current)
        guard !difference.isEmpty else { return }
        let storedModel = storedModel()
        if let storedModel { difference.explain(storedModel: storedModel, currentModel: model) }
        throw error(for: difference, metadata: metadata, storedModel: storedModel)
    }

    private func error(
        for difference: ModelDifference, metadata: [String: Any], storedModel: NSManagedObjectModel?
    ) -> NSError {
        var userInfo = StoreOpeningErrors.userInfo(type: type, url: url)
        userInfo["metadata"] = metadata
        let name = StoreName.text(type: type, url: url, configuration: configuration)
        guard NSPersistentStore.flag(options, NSMigratePersistentStoresAutomaticallyOption) else {
            return CoreDataErrors.make(
                .persistentStoreIncompatibleVersionHash,
                "The store \(name) was made with another version of the model. \(difference.text)",
                recovery: "Open it with the version of the model that it was made with, or migrate it: add it with "
                    + "NSMigratePersistentStoresAutomaticallyOption and NSInferMappingModelAutomaticallyOption.",
                userInfo: userInfo)
        }
        guard let storedModel else {
            return CoreDataErrors.make(
                .migrationMissingSourceModel,
                "The store \(name) cannot be migrated: the model that it was made with was not found. \(difference.text)",
                recovery:
                    "Keep all versions of the model in the bundle, or open the store with the version that made it.",
                userInfo: userInfo)
        }
        userInfo["sourceModel"] = storedModel
        userInfo["destinationModel"] = model
        return CoreDataErrors.make(
            .migrationMissingMappingModel,
            "The store \(name) cannot be migrated: there is no mapping model from the version of the model that it was made "
                + "with to the current one. \(difference.text)",
            recovery: "Provide a mapping model for these changes, or change the model back.",
            userInfo: userInfo)
    }
}
