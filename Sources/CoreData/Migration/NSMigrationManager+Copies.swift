// Migrations that begin with a copy of the store, in which the database carries out a part of them.
extension NSMigrationManager {
    /// The part of a migration that the database carries out; nil if stores of the type carry out
    /// none.
    ///
    /// - Parameters:
    ///   - hashes: Those in the store's metadata.
    ///   - sources: The entities of the store.
    ///   - destinations: The entities that it will have.
    func part(
        of steps: [MappingStep], from hashes: [String: Data], _ sources: [NSEntityDescription],
        to destinations: [NSEntityDescription], inStoreAt place: StorePlace, _ progress: MigrationProgress
    ) throws -> StoreMigration? {
        guard try StoreTypeRegistry.storeClass(for: place.type, at: place.url) is any PartlyMigratingStore.Type
        else { return nil }
        // The source model of the manager is a copy.
        let sources = sources.compactMap { sourceModel.entitiesByName[$0.name ?? ""] }
        let plan = MappingPlan(steps, from: sources, to: destinations)
        return StoreMigration(
            storedHashes: hashes, sourceModel: sourceModel, model: destinationModel, entities: destinations,
            inference: plan.inference, mappingModel: nil, movedAsObjects: plan.movedAsObjects,
            progress: plan.movedAsObjects == nil ? progress : MigrationProgress())
    }

    /// Makes a new store of the part of a source store that the database carries over, with a UUID
    /// and a history of its own; makes none where the stores are not of one type, or the version is
    /// the same.
    ///
    /// - Returns: Where the objects of the other mappings are added.
    func copy(_ source: StorePlace, to place: StorePlace, _ steps: [MappingStep]) throws -> StorePlace {
        guard source.type == place.type, StoreFiles.hasFile(ofType: source.type, at: source.url),
            StoreFiles.hasFile(ofType: place.type, at: place.url), try !place.exists()
        else { return place }
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: source.type, at: source.url, options: source.options)
        let hashes = StoreMetadataHashes.hashes(in: metadata) ?? [:]
        let held = HeldEntities(listed: sourceModel.entities.filter { hashes[$0.name ?? ""] != nil })
        guard held.versions.fit(hashes), hashes != destinationModel.entityVersionHashesByName,
            let part = try part(
                of: steps, from: hashes, held.entities, to: destinationModel.entities, inStoreAt: place,
                MigrationProgress())
        else { return place }
        try part.carryOut(at: place, inCopyOf: source)
        // Both stores may be added to one coordinator.
        try NSPersistentStoreCoordinator.setMetadata(
            [NSStoreUUIDKey: UUID().uuidString], forPersistentStoreOfType: place.type, at: place.url,
            options: place.options)
        let copy = try place.pausingHistory.open(destinationModel, .migrationManagerDestinationStore)
        defer { copy.close() }
        _ = try copy.store.history?.deleteHistory(.all)
        return place.pausingHistory
    }
}

extension StoreMigration {
    func carryOut(at place: StorePlace, inCopyOf source: StorePlace) throws {
        // The objects that follow need all indexes.
        var whole = place
        whole.options?[NSPersistentStoreDeferredLightweightMigrationOptionKey] = nil
        try place.reportErrors(as: source) {
            try source.copy(to: place)
            try carryOut(at: whole)
        }
    }

    /// Migrates the store at a place, which is not open.
    func carryOut(at place: StorePlace) throws {
        let coordinator = try NSPersistentStoreCoordinator(validating: model)
        let storeClass = try StoreTypeRegistry.storeClass(for: place.type, at: place.url)
        let store = storeClass.init(
            persistentStoreCoordinator: coordinator, configurationName: place.configuration, at: place.url,
            options: place.options)
        store.modelLayout = coordinator.modelLayout
        defer {
            store.willRemove(from: coordinator)
            store.detach()
        }
        try store.loadMetadata()
        try store.migrate(self)
    }
}

extension StorePlace {
    /// Copies the store to a place from where it comes back when it is migrated.
    ///
    /// - Throws: `CocoaError.fileWriteOutOfSpace` if there is too little space.
    func copy(to place: StorePlace) throws {
        let storeClass = try StoreTypeRegistry.storeClass(for: type, at: url) as? any PartlyMigratingStore.Type
        if let size = storeClass?.size(ofStoreAt: url) {
            // Once for the copy, and once for the result when it is put in its place.
            try FreeSpace.require(
                2 * size, in: place.url.deletingLastPathComponent(), toMigrate: StoreName.text(type: type, url: url))
        }
        try place.replace(with: self)
    }

    /// Runs a function on this copy of a store, whose errors name the store: the program does not
    /// know the place of the copy.
    func reportErrors(as store: StorePlace, _ body: () throws -> Void) throws {
        do { try body() } catch let error as CoreDataError {
            let userInfo = error.userInfo.mapValues { ($0 as? String).map { naming(store, in: $0) } ?? $0 }
            throw CoreDataError(domain: error.domain, code: error.code, userInfo: userInfo)
        }
    }

    /// A text with another store in the place of this copy, of its files and of its folder.
    private func naming(_ store: StorePlace, in text: String) -> String {
        let name = StoreName.path(store.url)
        let text = text.replacingOccurrences(of: StoreName.path(url), with: name)
        let (folder, former) = (url.deletingLastPathComponent().path, store.url.deletingLastPathComponent().path)
        guard url.isFileURL, store.url.isFileURL, folder != former else { return text }
        if text == folder { return name }
        return text.replacingOccurrences(of: folder + "/", with: former + "/")
            .replacingOccurrences(of: folder, with: "of the migration of \(name)")
    }

    /// Copies the store to where the program asked for, if it did.
    func backUp(to backup: URL?) throws {
        try StoreMigration.backUp(
            StoreTypeRegistry.storeClass(for: type, at: url), type: type, at: url, options: options, to: backup)
    }

    /// The place with options under which the objects that a migration makes are not recorded as
    /// new ones.
    var pausingHistory: StorePlace {
        var place = self
        place.options = (options ?? [:]).merging([HistoryTracking.pausingOption: true]) { $1 }
        return place
    }
}
