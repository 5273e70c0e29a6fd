import Foundation

/// Brings stores to the newest version of a plan.
struct MigrationChain: Sendable {
    let versions: [SchemaVersion]
    /// The step from each version to the next one; nil for an inferred one.
    let steps: [MigrationStep?]

    var newest: SchemaVersion { versions[steps.count] }

    /// Migrates a store that is not open, if it is not of the newest version.
    ///
    /// The steps run on a copy, which then takes the store's place. A store that does not exist is
    /// left to its opening.
    ///
    /// - Parameter report: receives the fraction that is done.
    func migrate(_ store: NSPersistentStoreDescription, _ report: @escaping @Sendable (Double) -> Void) throws {
        guard let url = store.url, let found = try version(of: store, at: url), found < steps.count else { return }
        guard url.isFileURL else { throw PlanErrors.server(store, versions[found]) }
        report(0)
        try NSMigrationManager.rewrite(storeAt: url, type: store.type, options: store.options) { work in
            // Another program may have migrated it while this one waited for the lock.
            guard let first = try version(of: store, at: work), first < steps.count else { return false }
            for index in first..<steps.count {
                let done = Double(index - first)
                let progress = MigrationProgress { report((done + $0) / Double(steps.count - first)) }
                do { try run(index, on: work, type: store.type, progress) } catch {
                    throw PlanErrors.failed(versions[index], versions[index + 1], error)
                }
            }
            return true
        }
    }

    /// Returns the index of a store's version; nil if there is no store.
    ///
    /// - Throws: 134100 for a version that is not listed.
    private func version(of store: NSPersistentStoreDescription, at url: URL) throws -> Int? {
        let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: store.type, at: url, options: store.options)
        guard let metadata, metadata[NSStoreModelVersionHashesKey] != nil else { return nil }
        for (index, version) in versions.enumerated().reversed() {
            if try version.model().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) {
                return index
            }
        }
        throw PlanErrors.unlisted(store, versions)
    }

    /// Carries out a step.
    private func run(_ index: Int, on url: URL, type: String, _ progress: MigrationProgress) throws {
        let (from, to) = (versions[index], versions[index + 1])
        let model = try to.model()
        guard let step = steps[index] else { return try infer(model, storeAt: url, type: type, progress) }
        let mappings = NSMappingModel()
        let source = try from.model()
        let mapping = try StepMapping(step, from: from, source, to: to, model, into: mappings)
        let manager = NSMigrationManager(sourceModel: source, destinationModel: model)
        for (name, objectClass) in from.classes {
            manager.sourceModel.entitiesByName[name]?.setManagedObjectClass(objectClass)
        }
        manager.userInfo = [StepMapping.key: mapping]
        manager.progressHandler = progress
        try manager.migrate(storeAt: url, type: type, by: mappings)
    }

    private func infer(
        _ model: NSManagedObjectModel, storeAt url: URL, type: String, _ progress: MigrationProgress
    ) throws {
        let description = NSPersistentStoreDescription(url: url)
        description.type = type
        description.shouldMigrateStoreAutomatically = true
        description.shouldInferMappingModelAutomatically = true
        description.setOption(NSNumber(value: true), forKey: HistoryTracking.continuingOption)
        description.migrationProgressHandler = { progress.report($0) }
        let coordinator = try NSPersistentStoreCoordinator(validating: model)
        var failure: (any Error)?
        coordinator.addPersistentStore(with: description) { failure = $1 }
        if let failure { throw failure }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
}
