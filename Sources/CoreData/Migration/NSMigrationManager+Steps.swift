import Foundation

// Migrations of several steps, and with the handlers of stages.
extension NSMigrationManager {
    /// Migrates a store step by step.
    ///
    /// A store in a file is migrated in a copy, which then takes its place: it has either none of
    /// the steps or all. A store on a server is migrated where it is; each step is a transaction.
    static func migrate(storeAt place: StorePlace, along migration: NeededMigration) throws {
        migration.progress.report(0)
        if StoreFiles.hasFile(ofType: place.type, at: place.url) {
            try migrateCopy(of: place, migration)
        } else {
            for (number, step) in migration.steps.enumerated() {
                try run(step, number, of: migration, at: place, isCopy: false)
            }
            // The stage whose end was missing may be of another version.
            try setUnfinished(nil, at: place)
        }
        migration.progress.report(1)
    }

    private static func migrateCopy(of place: StorePlace, _ migration: NeededMigration) throws {
        try rewrite(place) { work in
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: work.type, at: work.url, options: work.options)
            // Another program may have migrated it while this one waited for the lock.
            let present = StoreMetadataHashes.hashes(in: metadata)
            if present == migration.hashes, !migration.steps.contains(where: \.isEndOnly) { return false }
            guard present == migration.storedHashes else {
                throw CoreDataErrors.migratedByOthers(
                    StoreName.text(type: place.type, url: place.url),
                    userInfo: StoreOpeningErrors.userInfo(type: place.type, url: place.url))
            }
            try place.backUp(to: migration.backup)
            for (number, step) in migration.steps.enumerated() {
                try run(step, number, of: migration, at: work, isCopy: true)
            }
            return true
        }
    }

    private static func run(
        _ step: MigrationStep, _ number: Int, of migration: NeededMigration, at place: StorePlace, isCopy: Bool
    ) throws {
        if !step.isEndOnly {
            var own = place
            // The source may have other configurations than the destination.
            if number == 0 { own.configuration = step.source.configuration(holding: migration.storedHashes) }
            try step.handlers?.willMigrate(own.forSteps, step.source.model)
            if step.handlers != nil, !isCopy { try setUnfinished(step.destination.checksum, at: place) }
            let share = 1 / Double(migration.steps.count)
            let progress = MigrationProgress { [progress = migration.progress] fraction in
                progress.report((Double(number) + fraction) * share)
            }
            var plain = step
            plain.handlers = nil
            try NSPersistentStoreCoordinator.requireConsistency(of: step.destination.model)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: step.destination.model)
            let store = try coordinator.add(
                type: place.type, configuration: place.configuration, at: place.url, options: place.migrating,
                progress: progress, by: plain)
            try coordinator.remove(store)
        }
        guard let handlers = step.handlers else { return }
        try handlers.didMigrate(place.forSteps, step.destination.model)
        if !isCopy || step.isEndOnly { try setUnfinished(nil, at: place) }
    }

    /// Notes in a store that is migrated in place which version's stage has not ended.
    private static func setUnfinished(_ checksum: String?, at place: StorePlace) throws {
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: place.type, at: place.url, options: place.options)
        metadata[MigrationRoutes.unfinishedStageKey] = checksum
        try NSPersistentStoreCoordinator.setMetadata(
            metadata, forPersistentStoreOfType: place.type, at: place.url, options: place.options)
    }
}

extension StorePlace {
    /// The place with the options for a program's work between steps.
    fileprivate var forSteps: StorePlace {
        var place = self
        place.options = options?.filter { !Self.migrationOptions.contains($0.key as? String ?? "") }
        return place
    }

    /// The options for a step.
    fileprivate var migrating: [AnyHashable: Any] {
        (forSteps.options ?? [:]).merging([
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]) { $1 }
    }

    private static let migrationOptions: Set<String> = [
        NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption,
        NSPersistentStoreStagedMigrationManagerOptionKey, NSPersistentStoreDeferredLightweightMigrationOptionKey,
        NSPersistentStoreRemoteChangeNotificationPostOptionKey, NSPersistentStoreMigrationBackupURLOption,
    ]
}
