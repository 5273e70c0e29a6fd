import Foundation

extension NSPersistentStoreCoordinator {
    /// Returns the migration that adding a store would begin with; nothing is written.
    ///
    /// Cost: the models of the program's bundles are read, as by the migration, and the objects of
    /// each entity are counted.
    ///
    /// ```swift
    /// let plan = try coordinator.migrationPlan(for: NSPersistentStoreDescription(url: url))
    /// print(plan?.steps.map(\.destination.name) ?? ["nothing to do"])
    /// ```
    ///
    /// - Returns: nil if the store fits the model, or there is none yet.
    /// - Throws: the error of adding the store, if no way leads from its version to the model. The
    ///   text of 134190 names for each step that was tried why it cannot be inferred.
    public func migrationPlan(for storeDescription: NSPersistentStoreDescription) throws -> StoreMigrationPlan? {
        guard let url = storeDescription.url else { return nil }
        let place = StorePlace(
            type: storeDescription.type, url: url, options: storeDescription.options,
            configuration: storeDescription.configuration)
        return try migrationPlan(for: place)
    }

    private func migrationPlan(for place: StorePlace) throws -> StoreMigrationPlan? {
        try UnsupportedOptions.check(place.options, type: place.type, url: place.url)
        guard try place.exists(), let needed = try neededMigration(of: place) else { return nil }
        let hasFile = StoreFiles.hasFile(ofType: place.type, at: place.url)
        let counts = try place.objectCounts(needed)
        let isInPlace = needed.single.map { $0.mappingModel == nil } ?? !hasFile
        let bytes = hasFile ? place.byteCount : 0
        return StoreMigrationPlan(
            steps: needed.steps.filter { !$0.isEndOnly }.map(StoreMigrationPlan.Step.init),
            detourReasons: needed.detourReasons, usesCopy: !isInPlace, objectCounts: counts,
            // The former and the new rows, and the journal; and the copy.
            requiredBytes: hasFile ? bytes * (isInPlace ? 2 : 3) : nil,
            estimatedSeconds: Self.seconds(
                needed, objects: counts.values.reduce(0, +), copiedBytes: isInPlace ? 0 : bytes))
    }

    private func neededMigration(of place: StorePlace) throws -> NeededMigration? {
        let storeClass = try StoreTypeRegistry.storeClass(for: place.type, at: place.url)
        let compatibility = StoreCompatibility(
            model: managedObjectModel, configuration: place.configuration, type: place.type, url: place.url,
            options: place.options, storeClass: storeClass)
        let metadata = try Self.metadataForPersistentStore(
            ofType: place.type, at: place.url, options: place.options)
        return try compatibility.checkHashes(in: metadata, of: try compatibility.heldEntities()) {
            try? StoreFiles.cachedModel(ofType: place.type, at: place.url, options: place.options)
        }
    }

    /// - Returns: microseconds for rows and objects, as `make bench` shows on a common machine.
    private static func seconds(_ needed: NeededMigration, objects: Int, copiedBytes: Int) -> Double {
        let perObject = needed.steps.reduce(0.0) { $0 + ($1.mappingModel == nil ? 3 : 60) }
        return Double(objects) * perObject / 1_000_000 + Double(copiedBytes) / 200_000_000
    }
}

extension StorePlace {
    fileprivate func objectCounts(_ needed: NeededMigration) throws -> [String: Int] {
        guard let source = needed.steps.first?.source else { return [:] }
        var own = self
        own.configuration = source.configuration(holding: needed.storedHashes)
        // The hashes of a store with archived composite attributes are not those of its model.
        own.options = (options ?? [:]).merging([NSIgnorePersistentStoreVersioningOption: true]) { $1 }
        let opened = try own.open(source.model, .migrationManagerSourceStore, isReadOnly: true)
        defer { opened.close() }
        let context = NSManagedObjectContext()
        context.persistentStoreCoordinator = opened.coordinator
        var counts: [String: Int] = [:]
        for entity in source.model.entities where needed.storedHashes[entity.name ?? ""] != nil && !entity.isAbstract {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
            request.includesSubentities = false
            counts[entity.name ?? ""] = try context.count(for: request)
        }
        return counts
    }

    /// The size of the store's files, with its journal and external values.
    fileprivate var byteCount: Int {
        func size(_ path: String) -> Int {
            (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int ?? 0
        }
        let name = url.deletingPathExtension().lastPathComponent
        let support = url.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT").path
        let files = (try? FileManager.default.subpathsOfDirectory(atPath: support)) ?? []
        return size(url.path) + size(url.path + "-wal") + files.reduce(0) { $0 + size("\(support)/\($1)") }
    }
}

extension StoreMigrationPlan.Step {
    fileprivate init(_ step: MigrationStep) {
        self.init(
            source: .init(step.source), destination: .init(step.destination),
            mapping: step.mappingModel == nil ? .inferred : .mappingModel, isCustomStage: step.handlers != nil,
            stageLabel: step.handlers?.label,
            entities: StoreMigrationPlan.EntityChange.changes(
                by: step.mappingModel?.entityMappings ?? step.inference.entityMappings(),
                areInferred: step.mappingModel == nil))
    }
}

extension StoreMigrationPlan.EntityChange {
    /// Returns what entity mappings do, sorted by the name of the entity.
    package static func changes(by mappings: [NSEntityMapping], areInferred: Bool) -> [Self] {
        let changes = mappings.map { mapping in
            let action: StoreMigrationPlan.EntityAction =
                switch mapping.mappingType {
                case .addEntityMappingType: .added
                case .removeEntityMappingType: .removed
                case .copyEntityMappingType where areInferred: .unchanged
                default:
                    areInferred ? .copiedBySQL : .movedByObjects(policy: mapping.entityMigrationPolicyClassName)
                }
            return Self(source: mapping.sourceEntityName, destination: mapping.destinationEntityName, action: action)
        }
        return changes.sorted { ($0.destination ?? $0.source ?? "") < ($1.destination ?? $1.source ?? "") }
    }
}

extension StoreMigrationPlan.Version {
    fileprivate init(_ version: ModelVersion) { self.init(name: version.name, checksum: version.checksum) }
}
