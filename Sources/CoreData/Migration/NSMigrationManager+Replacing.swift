import Foundation

// Automatic migration by a mapping model: the migrated store takes the place of the former one.
extension NSMigrationManager: MappingMigrator {
    static var mappingModels: [NSMappingModel] { NSMappingModel.found(in: nil) }

    static func removeLeftovers(besideStoreAt url: URL) { MigrationDestination.removeLeftovers(besideStoreAt: url) }

    func migrate(storeAt place: StorePlace, by mapping: NSMappingModel, _ migration: StoreMigration) throws {
        progressHandler = migration.progress
        progressHandler.report(0)
        var source = place
        source.configuration = ModelVersion(sourceModel).configuration(holding: migration.storedHashes)
        try migrate(mapping) { steps in
            let part = try self.part(
                of: steps, from: migration.storedHashes, migration.inference.sourceEntities, to: migration.entities,
                inStoreAt: place, migration.progress)
            if var part, part.movedAsObjects == nil {
                part.backup = migration.backup
                return try part.carryOut(at: place)
            }
            try MigrationDestination(place).write(keepingContent: false) { work in
                let before = Self.stamps(place.url)
                let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                    ofType: place.type, at: place.url, options: place.options)
                let name = StoreName.text(type: place.type, url: place.url)
                let userInfo = StoreOpeningErrors.userInfo(type: place.type, url: place.url)
                // Another program may have migrated it while this one waited for the lock.
                if try migration.wasDone(metadata, store: name, userInfo: userInfo) { return false }
                try place.backUp(to: migration.backup)
                try part?.carryOut(at: work, inCopyOf: place)
                try self.run(steps, from: source, to: work.pausingHistory)
                guard Self.stamps(place.url) == before else {
                    throw MigrationErrors.store(
                        .migrationManagerSourceStore, source,
                        "was changed by another program meanwhile; it is as that program left it")
                }
                return true
            }
        }
        progressHandler.report(1)
    }

    /// The stamps of a store's files; an empty log counts like none.
    static func stamps(_ url: URL) -> [FileStamp?] {
        [FileStamp(path: url.path), FileStamp(path: url.path + "-wal")]
    }
}
