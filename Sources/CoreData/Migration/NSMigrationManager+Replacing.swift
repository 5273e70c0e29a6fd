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
                let before = Self.stamps(place)
                let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                    ofType: place.type, at: place.url, options: place.options)
                let name = StoreName.text(type: place.type, url: place.url)
                let userInfo = StoreOpeningErrors.userInfo(type: place.type, url: place.url)
                // Another program may have migrated it while this one waited for the lock.
                if try migration.wasDone(metadata, store: name, userInfo: userInfo) { return false }
                try place.backUp(to: migration.backup)
                try part?.carryOut(at: work, inCopyOf: place)
                try self.run(steps, from: source, to: work.pausingHistory)
                if part == nil, let identifier = metadata[NSStoreUUIDKey] {
                    try NSPersistentStoreCoordinator.setMetadata(
                        [NSStoreUUIDKey: identifier], forPersistentStoreOfType: work.type, at: work.url,
                        options: work.options)
                }
                try Self.requireUnchanged(source, since: before)
                return true
            }
        }
        progressHandler.report(1)
    }

    /// Migrates a store that is not open, where it is. Its UUID, history and the keys of rows stay
    /// as in an automatic migration.
    package func migrate(storeAt url: URL, type: String, by mapping: NSMappingModel) throws {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url)
        let hashes = StoreMetadataHashes.hashes(in: metadata) ?? [:]
        let held = HeldEntities(listed: sourceModel.entities.filter { hashes[$0.name ?? ""] != nil })
        try migrate(
            storeAt: StorePlace(type: type, url: url), by: mapping,
            StoreMigration(
                storedHashes: hashes, sourceModel: sourceModel, model: destinationModel,
                entities: destinationModel.entities,
                inference: MappingInference(from: held.entities, to: destinationModel.entities),
                mappingModel: mapping, progress: progressHandler))
    }

    /// Calls a body that changes a copy of a store in a file, and tells whether it has. The copy
    /// then takes the place of the store, which must not be open.
    ///
    /// An error leaves the store as it was. Other programs that migrate it wait.
    ///
    /// - Throws: 134160 if files cannot be written, 134150 if another program changed the store
    ///   meanwhile, and what the body throws.
    package static func rewrite(
        storeAt url: URL, type: String, options: [AnyHashable: Any]?, _ body: (URL) throws -> Bool
    ) throws {
        try rewrite(StorePlace(type: type, url: url, options: options)) { try body($0.url) }
    }

    static func rewrite(_ place: StorePlace, _ body: (StorePlace) throws -> Bool) throws {
        try MigrationDestination(place).write(keepingContent: false) { work in
            let before = stamps(place)
            try place.copy(to: work)
            guard try body(work) else { return false }
            try requireUnchanged(place, since: before)
            return true
        }
    }

    /// The stamps of a store's files; an empty log counts like none. A store on a server has none:
    /// others cannot write it meanwhile.
    private static func stamps(_ place: StorePlace) -> [FileStamp?] {
        guard StoreFiles.hasFile(ofType: place.type, at: place.url) else { return [] }
        return ["", "-wal"].map { FileStamp(path: place.url.path + $0) }
    }

    /// - Throws: 134150 if the files of a store have other stamps now.
    private static func requireUnchanged(_ place: StorePlace, since stamps: [FileStamp?]) throws {
        guard self.stamps(place) != stamps else { return }
        throw MigrationErrors.store(
            .migrationManagerSourceStore, place,
            "was changed by another program meanwhile; it is as that program left it")
    }
}
