import Foundation

// Copying, replacing and destroying whole stores.
extension NSPersistentStoreCoordinator {
    func destroyStore(
        at url: URL, ofType storeType: String, options: [AnyHashable: Any]?
    ) throws {
        let storeClass = try StoreTypeRegistry.storeClass(for: storeType, at: url, ignoresCase: true)
        // Removed before the lock is taken, because observers are notified of it.
        if let open = persistentStore(for: url) { try remove(open) }
        try changingStores.withLock { try storeClass.destroyStore(ofType: storeType, at: url, options: options) }
    }

    func replaceStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]?, withPersistentStoreFrom sourceURL: URL,
        sourceOptions: [AnyHashable: Any]?, ofType storeType: String
    ) throws {
        let storeClass = try StoreTypeRegistry.storeClass(for: storeType, at: destinationURL, ignoresCase: true)
        // Removed before the lock is taken, because observers are notified of it.
        let open = persistentStore(for: destinationURL)
        if let open { try remove(open) }
        do {
            try changingStores.withLock {
                try storeClass.replaceStore(
                    ofType: storeType, at: destinationURL, options: destinationOptions, withStoreAt: sourceURL,
                    sourceOptions: sourceOptions)
            }
        } catch let error as NSError {
            guard let open else { throw error }
            var userInfo = error.userInfo
            userInfo[NSLocalizedDescriptionKey] =
                "\(error.localizedDescription) The store \(StoreName.text(type: open.type, url: destinationURL)) was "
                + "removed from the "
                + "coordinator before it was to be replaced; add it again to go on with it."
            throw CoreDataError(domain: error.domain, code: error.code, userInfo: userInfo)
        }
    }

    func migrateStore(
        _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]?, withType storeType: String
    ) throws -> NSPersistentStore {
        try changingStores.withLock {
            let added = try requireAdded(store, toBe: "migrated")
            let configuration =
                store.configurationName == NSPersistentStore.defaultConfigurationName ? nil : store.configurationName
            // A store that is read-only from the start could be neither created nor filled.
            let isReadOnly = NSPersistentStore.flag(options, NSReadOnlyPersistentStoreOption)
            let copy = try addPersistentStore(
                ofType: storeType, configurationName: configuration, at: url,
                options: isReadOnly
                    ? options?.filter { $0.key != AnyHashable(NSReadOnlyPersistentStoreOption) } : options)
            let moved: MovedRows
            do {
                let entities = modelLayout.layouts.filter { added.holds($0.index) }
                let rows = try StoreCopy(from: store, to: copy, entities: entities)
                // Set before the rows, because they are written together.
                setMetadata(
                    (store.metadata ?? [:]).filter {
                        !NSPersistentStore.isOwnMetadata($0.key) && $0.key != MigrationRoutes.unfinishedStageKey
                    }, for: copy)
                moved = try rows.run()
                if isReadOnly { copy.becomeReadOnly(options) }
            } catch {
                // The copy is of no use. The error of copying matters more than a failure to remove
                // the copy.
                try? remove(copy)
                throw error
            }
            post(
                .NSPersistentStoreCoordinatorStoresDidChange,
                [NSUUIDChangedPersistentStoresKey: [store, copy, moved.objectIDs] as [Any]])
            movedRows.withLock { $0 = moved }
            defer { movedRows.withLock { $0 = nil } }
            try remove(store)
            return copy
        }
    }

    /// The model that a store contains.
    ///
    /// Cost: O(size of the model).
    ///
    /// ```swift
    /// let former = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
    /// let mapping = try NSMappingModel.inferredMappingModel(
    ///     forSourceModel: former, destinationModel: model)
    /// ```
    ///
    /// - Throws: `CocoaError.migrationMissingSourceModel` when the store has none (stores in SQLite
    ///   files and on servers have one); `ModelReadingError`, which names the class or key, when it
    ///   has a model that cannot be read.
    public class func cachedModelForPersistentStore(
        at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> NSManagedObjectModel {
        if let model = try StoreFiles.cachedModel(ofType: StoreTypeRegistry.type(of: url), at: url, options: options) {
            return model
        }
        throw CoreDataErrors.make(
            .migrationMissingSourceModel, "The store \(StoreName.path(url)) keeps no model in itself.",
            recovery: "Open it with the model that it was made with.",
            userInfo: StoreOpeningErrors.userInfo(type: nil, url: url))
    }
}
