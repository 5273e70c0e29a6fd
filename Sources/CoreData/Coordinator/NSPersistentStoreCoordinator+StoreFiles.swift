import Foundation

// Copying, replacing and destroying whole stores.
extension NSPersistentStoreCoordinator {
    /// Empties the store at a URL: a SQLite database through its own locks, a file of another type by removing it.
    ///
    /// If the coordinator has the store, it is removed from it first, so that a new one can be added in its place; it stays removed
    /// when the store cannot be destroyed. A database in memory that stores share ends with the last of them, not here; of any other
    /// store in memory nothing is at the URL, and whatever is there is left alone.
    ///
    /// - Throws: a `CocoaError` when the type is unknown, the store cannot be destroyed, or there is no regular file of a store of
    ///   the type. With `NSPersistentStoreForceDestroyOption` the file need not be readable as one.
    public func destroyPersistentStore(
        at url: URL, type: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyPersistentStore(at: url, ofType: type.rawValue, options: options)
    }

    /// Empties the store at a URL: a SQLite database through its own locks, a file of another type by removing it.
    ///
    /// If the coordinator has the store, it is removed from it first, so that a new one can be added in its place; it stays removed
    /// when the store cannot be destroyed. A database in memory that stores share ends with the last of them, not here; of any other
    /// store in memory nothing is at the URL, and whatever is there is left alone.
    ///
    /// - Throws: a `CocoaError` when the type is unknown, the store cannot be destroyed, or there is no regular file of a store of
    ///   the type. With `NSPersistentStoreForceDestroyOption` the file need not be readable as one.
    public func destroyPersistentStore(
        at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
    ) throws {
        let storeClass = try StoreTypeRegistry.storeClass(for: storeType, at: url)
        // Removed before the lock is taken, because observers are told of it.
        if let open = persistentStore(for: url) { try remove(open) }
        try changingStores.withLock { try storeClass.destroyStore(ofType: storeType, at: url, options: options) }
    }

    /// Copies a store with its journal and external files over another one. The destination must not be added to a coordinator.
    ///
    /// - Throws: a `CocoaError` when the type is unknown, a store cannot be read or written, or something else than a store of the type is
    ///   at the destination. Stores in memory cannot be replaced.
    public func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom sourceURL: URL,
        sourceOptions: [AnyHashable: Any]? = nil, type: NSPersistentStore.StoreType
    ) throws {
        try replacePersistentStore(
            at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
            sourceOptions: sourceOptions, ofType: type.rawValue)
    }

    /// Copies a store with its journal and external files over another one. The destination must not be added to a coordinator.
    ///
    /// - Throws: a `CocoaError` when the type is unknown, a store cannot be read or written, or something else than a store of the type is
    ///   at the destination. Stores in memory cannot be replaced.
    public func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom sourceURL: URL,
        sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
    ) throws {
        if let open = persistentStore(for: destinationURL) {
            throw CoreDataErrors.make(
                .persistentStoreOperation,
                "The store \(StoreName.text(type: open.type, url: open.url)) cannot be replaced while the coordinator has it.",
                recovery: "Remove the store from the coordinator first.",
                userInfo: StoreOpeningErrors.userInfo(type: open.type, url: open.url))
        }
        try StoreTypeRegistry.storeClass(for: storeType, at: destinationURL).replaceStore(
            ofType: storeType, at: destinationURL, options: destinationOptions, withStoreAt: sourceURL, sourceOptions: sourceOptions)
    }

    /// Copies all objects of a store to a new store, possibly of another type, and puts the new one in the old one's place.
    ///
    /// The old store is removed from the coordinator; its file stays. Object IDs of the old store do not name objects of the
    /// new one: `NSPersistentStoreCoordinatorStoresDidChange` says under `NSUUIDChangedPersistentStoresKey` which do. The whole
    /// content passes through memory.
    ///
    /// - Throws: a `CocoaError` when the new store cannot be made or written; the old store then stays.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil, type: NSPersistentStore.StoreType
    ) throws -> NSPersistentStore {
        try migratePersistentStore(store, to: url, options: options, withType: type.rawValue)
    }

    /// Copies all objects of a store to a new store, possibly of another type, and puts the new one in the old one's place.
    ///
    /// The old store is removed from the coordinator; its file stays. Object IDs of the old store do not name objects of the
    /// new one: `NSPersistentStoreCoordinatorStoresDidChange` says under `NSUUIDChangedPersistentStoresKey` which do. The whole
    /// content passes through memory.
    ///
    /// - Throws: a `CocoaError` when the new store cannot be made or written; the old store then stays.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
    ) throws -> NSPersistentStore {
        try changingStores.withLock {
            guard let added = addedStores.first(where: { $0.store === store }) else {
                throw CoreDataErrors.make(
                    .persistentStoreOperation,
                    "The store \(StoreName.text(type: store.type, url: store.url)) cannot be migrated: it does not belong to "
                        + "the coordinator.", userInfo: StoreOpeningErrors.userInfo(type: store.type, url: store.url))
            }
            let configuration =
                store.configurationName == NSPersistentStore.defaultConfigurationName ? nil : store.configurationName
            let copy = try addPersistentStore(
                ofType: storeType, configurationName: configuration, at: url, options: options)
            let movedIDs: [NSManagedObjectID]
            do {
                let entities = modelLayout.layouts.filter { added.holds[$0.index] }
                movedIDs = try StoreCopy(from: store, to: copy, entities: entities).run()
                setMetadata(
                    (store.metadata ?? [:]).filter { !Self.ownMetadataKeys.contains($0.key) }, for: copy)
            } catch {
                // The copy is of no use; why it could not be made matters more than a failure to remove it.
                try? remove(copy)
                throw error
            }
            post(
                .NSPersistentStoreCoordinatorStoresDidChange,
                [NSUUIDChangedPersistentStoresKey: [store, copy, movedIDs] as [Any]])
            try remove(store)
            return copy
        }
    }

    /// The model that a store keeps in itself.
    ///
    /// - Throws: `CocoaError.migrationMissingSourceModel` when the store has none (only SQLite stores do); `ModelReadingError`, which
    ///   names the class or key, when it has one that cannot be read.
    public class func cachedModelForPersistentStore(
        at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> NSManagedObjectModel {
        if let model = try StoreFiles.cachedModel(ofType: NSSQLiteStoreType, at: url) { return model }
        throw CoreDataErrors.make(
            .migrationMissingSourceModel, "The store \(StoreName.path(url)) keeps no model in itself.",
            recovery: "Open it with the model that it was made with.",
            userInfo: StoreOpeningErrors.userInfo(type: nil, url: url))
    }
}
