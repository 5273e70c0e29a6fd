import Foundation

/// Checks whether a store can be used with a model: its version hashes, and the supported features.
struct StoreCompatibility {
    let model: NSManagedObjectModel
    let configuration: String?
    let type: String
    let url: URL?
    let options: [AnyHashable: Any]?
    /// Migrates stores that are not open; nil for a class of the program that cannot.
    let migrator: (any MappingMigrator.Type)?
    /// Whether the store can be migrated by mapping models.
    private let takesMappingModels: Bool
    /// Whether the migrator also carries out migrations that are inferred.
    private let infersMappings: Bool
    /// The only step by which the store may be migrated; nil unless it is one of several.
    private let step: MigrationStep?

    init(
        model: NSManagedObjectModel, configuration: String?, type: String, url: URL?, options: [AnyHashable: Any]?,
        storeClass: NSPersistentStore.Type? = nil, step: MigrationStep? = nil
    ) {
        (self.model, self.configuration, self.type, self.url) = (model, configuration, type, url)
        (self.options, self.step) = (options, step)
        migrator = storeClass?.migrationManagerClass() as? any MappingMigrator.Type
        infersMappings = storeClass is any MappedStore.Type
        takesMappingModels =
            storeClass is any PartlyMigratingStore.Type
            || storeClass?.hasFile(at: url ?? URL(fileURLWithPath: "/")) == true
    }

    /// The entities that the store is to hold.
    func heldEntities() throws -> HeldEntities {
        if let held = model.heldEntities(forConfigurationName: configuration) { return held }
        throw CoreDataErrors.unknownConfiguration(
            configuration ?? "", among: model.configurations, type: type, url: url)
    }

    func checkFeatures(of entities: [NSEntityDescription], storeClass: NSPersistentStore.Type) throws {
        let problems = storeClass.unsupportedFeatures(of: entities)
        guard !problems.isEmpty else { return }
        throw CoreDataErrors.unsupportedFeatures(problems, type: type, url: url)
    }

    /// Compares the store's version hashes with those of the entities.
    ///
    /// A store without hashes (they are optional in the format) counts as compatible.
    ///
    /// - Parameter storedModel: returns the model that the store contains, if any; called only when
    ///   hashes differ.
    /// - Returns: the migration that the store needs and the options ask for; nil if the store
    ///   fits.
    /// - Throws: 134100 when the hashes differ and no migration is asked for; 134130, 134140 or
    ///   134190 when the migration is not possible.
    @discardableResult
    func checkHashes(
        in metadata: [String: Any], of held: HeldEntities, storedModel: () -> NSManagedObjectModel?
    ) throws -> NeededMigration? {
        if NSPersistentStore.flag(options, NSIgnorePersistentStoreVersioningOption) { return nil }
        guard let stored = StoreMetadataHashes.hashes(in: metadata) else { return nil }
        let migrates = NSPersistentStore.flag(options, NSMigratePersistentStoresAutomaticallyOption)
        let versions = held.versions
        let completed = migrates ? Self.completed(stored, versions, storedModel) : nil
        let difference = ModelDifference(
            stored: completed ?? stored, current: completed == nil ? versions.expected(beside: stored) : versions.hashes
        )
        let unfinished = migrates && stages != nil ? metadata[MigrationRoutes.unfinishedStageKey] as? String : nil
        guard !difference.isEmpty || unfinished != nil else { return nil }
        guard migrates else {
            throw incompatible(difference, metadata: metadata, storedModel: storedModel())
        }
        if let step {
            return try NeededMigration(
                steps: [requireSource(step, stored, metadata)], storedHashes: stored, entities: held.entities)
        }
        let staged = try stages?.versions()
        var unreadable: [ModelReadingError] = []
        let found = SourceModelSearch.model(
            fitting: completed ?? stored, metadata: metadata, destination: model,
            known: staged?.compactMap(\.model) ?? [],
            noting: { error in if !unreadable.contains(where: { $0.file == error.file }) { unreadable.append(error) } },
            storedModel: storedModel)
        guard let sourceModel = found else { throw missingModel(difference, unreadable, metadata: metadata) }
        for error in unreadable {
            Warnings.sayOnce(about: "model at \(error.file ?? "")") {
                "A model that the store \(name) may have been made with cannot be read; the store is migrated from "
                    + "another source, which "
                    + "need not have the same renaming identifiers. \(error)"
            }
        }
        var routes = MigrationRoutes(
            configuration: configuration, storedHashes: stored,
            infers: NSPersistentStore.flag(options, NSInferMappingModelAutomaticallyOption),
            mappingModels: takesMappingModels ? mappingModels : [], mapsInferred: infersMappings)
        let source = ModelVersion(sourceModel)
        let steps =
            if let staged {
                try self.steps(by: staged, from: source, unfinished: unfinished, &routes, metadata)
            } else {
                try self.steps(from: source, difference, &routes, metadata)
            }
        // A stage that has not ended may not be one of these.
        if steps.isEmpty { return nil }
        return NeededMigration(
            steps: steps, storedHashes: stored, entities: held.entities,
            detourReasons: staged == nil ? routes.detourReasons : [])
    }

    /// - Throws: an error if the store is not of the version that a step starts with.
    private func requireSource(
        _ step: MigrationStep, _ stored: [String: Data], _ metadata: [String: Any]
    ) throws -> MigrationStep {
        let fits = stored.allSatisfy { step.source.hashes[$0.key] == $0.value }
        if fits || ArchivedComposite.isForm(of: step.source.model, stored) { return step }
        throw CoreDataErrors.migratedByOthers(name, userInfo: userInfo(metadata))
    }

    private var mappingModels: [NSMappingModel] { givenMappingModels + (migrator?.mappingModels ?? []) }

    private var givenMappingModels: [NSMappingModel] {
        options?[StoreMigration.mappingModelsOption] as? [NSMappingModel] ?? []
    }

    private var stages: (any StagedMigrator)? {
        options?[NSPersistentStoreStagedMigrationManagerOptionKey] as? any StagedMigrator
    }

    /// Adds the hashes of subentities that a store of a former release does not name.
    ///
    /// They come from the store's own model.
    ///
    /// - Returns: nil if no hash is missing, or the store has no model that fits it.
    private static func completed(
        _ stored: [String: Data], _ versions: HeldVersions, _ storedModel: () -> NSManagedObjectModel?
    ) -> [String: Data]? {
        let missing = versions.unlisted.subtracting(stored.keys)
        guard !missing.isEmpty, let model = storedModel() else { return nil }
        let named = model.entities.filter { stored[$0.name ?? ""] == $0.versionHash }
        guard named.count == stored.count else { return nil }
        let found = HeldEntities(listed: named).versions.hashes.filter { missing.contains($0.key) }
        return stored.merging(found) { stored, _ in stored }
    }

    func adopt(_ held: HeldEntities, in metadata: inout [String: Any]) {
        let current = held.versions.hashes
        guard let stored = StoreMetadataHashes.hashes(in: metadata), stored != current else { return }
        metadata[NSStoreModelVersionHashesKey] = current
        metadata[NSStoreModelVersionIdentifiersKey] = model.listedVersionIdentifiers
        // Both are made from the hashes, and a store works without them.
        metadata[NSPersistentStoreModelVersionChecksumKey] = nil
        metadata["NSStoreModelVersionHashesDigest"] = nil
    }

    private func incompatible(
        _ difference: ModelDifference, metadata: [String: Any], storedModel: NSManagedObjectModel?
    ) -> NSError {
        var difference = difference
        if let storedModel, let stored = StoreMetadataHashes.hashes(in: metadata),
            ArchivedComposite.isForm(of: storedModel, stored)
        {
            return CoreDataErrors.make(
                .persistentStoreIncompatibleVersionHash,
                "The store \(name) keeps each composite attribute as one archived dictionary, as former releases of "
                    + "this library "
                    + "did; the elements have columns of their own now.",
                recovery: "Migrate it: add it with NSMigratePersistentStoresAutomaticallyOption and "
                    + "NSInferMappingModelAutomaticallyOption.",
                userInfo: userInfo(metadata))
        }
        if let storedModel { difference.explain(storedModel: storedModel, currentModel: model) }
        return CoreDataErrors.make(
            .persistentStoreIncompatibleVersionHash,
            "The store \(name) was made with another version of the model. \(difference.text)",
            recovery: "Open it with the version of the model that it was made with, or migrate it: add it with "
                + "NSMigratePersistentStoresAutomaticallyOption and NSInferMappingModelAutomaticallyOption.",
            userInfo: userInfo(metadata))
    }

    /// - Parameter unreadable: the errors of models that cannot be read, one of which may be the
    ///   missing model.
    private func missingModel(
        _ difference: ModelDifference, _ unreadable: [ModelReadingError], metadata: [String: Any]
    ) -> NSError {
        var userInfo = userInfo(metadata)
        userInfo[NSUnderlyingErrorKey] = unreadable.first.map { $0 as NSError }
        let reasons = unreadable.map { " It may be one that cannot be read: \($0)" }.joined()
        return CoreDataErrors.make(
            .migrationMissingSourceModel,
            "The store \(name) cannot be migrated: the model that it was made with was not found. "
                + "\(difference.text)\(reasons)",
            recovery: unreadable.isEmpty
                ? "Keep all versions of the model in the bundle, or open the store with the version that made it."
                : "Correct the model that cannot be read, or open the store with the version that made it.",
            userInfo: userInfo)
    }

    private func steps(
        by staged: [StagedVersion], from source: ModelVersion, unfinished: String?, _ routes: inout MigrationRoutes,
        _ metadata: [String: Any]
    ) throws -> [MigrationStep] {
        // Models in other bundles of the program count, too.
        let known = SourceModelSearch.versions(of: model) + SourceModelSearch.programVersions()
        return try routes.route(
            from: source, to: ModelVersion(model), by: staged, known: known, unfinished: unfinished, store: name,
            userInfo: userInfo(metadata, source))
    }

    private func steps(
        from source: ModelVersion, _ difference: ModelDifference, _ routes: inout MigrationRoutes,
        _ metadata: [String: Any]
    ) throws -> [MigrationStep] {
        let destination = ModelVersion(model)
        lazy var between =
            migrator == nil
            ? [] : MigrationRoutes.between(source, destination, in: SourceModelSearch.versions(of: model))
        for mapping in givenMappingModels {
            let way = routes.route(from: source, to: destination, over: between, through: mapping)
            if let way { return way }
        }
        if let direct = routes.route(from: source, to: destination, over: []) { return direct }
        if let way = routes.route(from: source, to: destination, over: between) { return way }
        let userInfo = userInfo(metadata, source)
        guard routes.infers else {
            var difference = difference
            difference.explain(storedModel: source.model, currentModel: model)
            throw CoreDataErrors.make(
                .migrationMissingMappingModel,
                "The store \(name) cannot be migrated: there is no mapping model from the version of the model that "
                    + "it was made with to the current one, and none may be inferred. \(difference.text)",
                recovery: "Add the store with NSInferMappingModelAutomaticallyOption, or change the model back.",
                userInfo: userInfo
            ).withSentence(routes.obstacleText)
        }
        throw InferenceProblem.error(
            for: routes.obstacles.first?.inference.problems ?? [], "The store \(name) cannot be migrated",
            userInfo: userInfo
        ).withSentence(routes.obstacleText)
    }

    private var name: String { StoreName.text(type: type, url: url, configuration: configuration) }

    private func userInfo(_ metadata: [String: Any], _ source: ModelVersion? = nil) -> [String: Any] {
        var userInfo = StoreOpeningErrors.userInfo(type: type, url: url)
        userInfo["metadata"] = metadata
        guard let source else { return userInfo }
        userInfo["sourceModel"] = source.model
        userInfo["destinationModel"] = model
        return userInfo
    }
}
