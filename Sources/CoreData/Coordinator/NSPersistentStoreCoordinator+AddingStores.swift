import Foundation

// Adding and removing stores.
extension NSPersistentStoreCoordinator {
    /// Adds a store, or refuses it with an error, and reports this now or later, as the description
    /// says.
    func addStore(
        with storeDescription: NSPersistentStoreDescription, refusing refusal: (any Error)? = nil,
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        // The description and the block are handed over: the caller gets the description back in
        // the block.
        let handedOver = Unchecked((description: storeDescription, block: block))
        @Sendable func addNow() {
            let (description, block) = handedOver.value
            var failure = refusal
            if failure == nil { do { try add(description) } catch { failure = error } }
            block(description, failure)
        }
        if storeDescription.shouldAddStoreAsynchronously { additions.async(execute: addNow) } else { addNow() }
    }

    func addStore(
        with storeDescription: NSPersistentStoreDescription
    ) async throws -> NSPersistentStore {
        // The copy is used by this call alone.
        let copy = Unchecked(storeDescription.copy() as? NSPersistentStoreDescription ?? storeDescription)
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try self.add(copy.value) })
            }
        }
    }

    @discardableResult
    func add(_ description: NSPersistentStoreDescription) throws -> NSPersistentStore {
        try add(
            type: description.type, configuration: description.configuration, at: description.url,
            options: description.options, progress: MigrationProgress(handler: description.migrationProgressHandler))
    }

    func add(
        type: String, configuration: String?, at url: URL?, options: [AnyHashable: Any]?,
        progress: MigrationProgress = MigrationProgress(), by step: MigrationStep? = nil
    ) throws -> NSPersistentStore {
        let store = try changingStores.withLock {
            try addWhileLocked(
                type: type, configuration: configuration, at: url, options: options, progress: progress, step)
        }
        // Not under the lock: observers may wait for other threads.
        post(.NSPersistentStoreCoordinatorStoresDidChange, [NSAddedPersistentStoresKey: [store]])
        return store
    }

    private func addWhileLocked(
        type: String, configuration: String?, at url: URL?, options: [AnyHashable: Any]?, progress: MigrationProgress,
        _ step: MigrationStep?
    ) throws -> NSPersistentStore {
        while true {
            do {
                return try addOnce(
                    type: type, configuration: configuration, at: url, options: options, progress: progress, step)
            } catch let needed as ClosedStoreMigration {
                guard let url else { throw needed }
                try needed.run(at: StorePlace(type: type, url: url, options: options, configuration: configuration))
            }
        }
    }

    /// - Throws: `ClosedStoreMigration` when the store has to be migrated first.
    private func addOnce(
        type: String, configuration: String?, at url: URL?, options: [AnyHashable: Any]?, progress: MigrationProgress,
        _ step: MigrationStep?
    ) throws -> NSPersistentStore {
        let storeClass = try StoreTypeRegistry.storeClass(for: type, at: url)
        do { try DispatchDescriptors.open() } catch {
            let path = url?.path ?? type
            throw error.error("The store \(path) cannot be opened", path: path, otherwise: .persistentStoreOpen)
        }
        try UnsupportedOptions.check(options, type: type, url: url)
        let compatibility = StoreCompatibility(
            model: managedObjectModel, configuration: configuration, type: type, url: url, options: options,
            storeClass: storeClass, step: step)
        let held = try compatibility.heldEntities()
        try compatibility.checkFeatures(of: held.entities, storeClass: storeClass)
        let url = try self.url(url, for: storeClass, type: type)
        // Each store at the null device is a separate store.
        if url.path != SQLiteStore.nullDevice, let other = persistentStore(for: url) {
            throw duplicate(other, of: type, at: url)
        }

        let store = storeClass.init(
            persistentStoreCoordinator: self, configurationName: configuration, at: url, options: options)
        do {
            store.registeredType = type
            store.modelLayout = modelLayout
            store.number = takeStoreNumber()
            try open(store, type: type, holding: held, compatibility: compatibility, progress: progress)
        } catch {
            store.detach()
            throw error
        }
        list(store, holding: held)
        follow(store)
        if store.isFollowed { store.beginFollowing() }
        store.didAdd(to: self)
        if !store.isReadOnly, storeClass.hasFile(at: url) {
            compatibility.migrator?.removeLeftovers(besideStoreAt: url)
        }
        return store
    }

    /// Reads and checks the store's metadata, migrates the store if needed and asked for, and makes
    /// it ready for requests.
    private func open(
        _ store: NSPersistentStore, type: String, holding held: HeldEntities, compatibility: StoreCompatibility,
        progress: MigrationProgress
    ) throws {
        try store.loadMetadata()
        var metadata: [String: Any] = store.metadata ?? [:]
        if let storedType = metadata[NSStoreTypeKey] as? String, storedType != store.type {
            throw CoreDataErrors.make(
                .persistentStoreTypeMismatch,
                "The store \(StoreName.path(store.url)) is of the type '\(storedType)', not '\(store.type)'.",
                recovery: "Add it with the type '\(storedType)'.",
                userInfo: StoreOpeningErrors.userInfo(type: type, url: store.url))
        }
        if var migration = try neededMigration(of: store, holding: held, compatibility: compatibility) {
            if let known = metadata[NSStoreUUIDKey] as? String, let other = self.store(identifier: known) {
                throw duplicate(other, of: type, at: store.url)
            }
            migration.progress = progress
            migration.backup = StoreMigration.backup(in: compatibility.options)
            if let single = migration.single, single.mappingModel == nil {
                try store.migrate(single)
            } else if let migrator = compatibility.migrator {
                if store.isReadOnly { throw CoreDataErrors.migrationOfReadOnlyStore(at: StoreName.path(store.url)) }
                throw ClosedStoreMigration(migration, migrator)
            }
        }
        metadata = store.metadata ?? [:]
        if metadata[NSStoreTypeKey] == nil { metadata[NSStoreTypeKey] = store.type }
        if metadata[NSStoreUUIDKey] == nil { metadata[NSStoreUUIDKey] = newIdentifier(of: store) }
        if StoreMetadataHashes.hashes(in: metadata) == nil {
            metadata[NSStoreModelVersionHashesKey] = held.versions.hashes
        }
        if metadata[NSStoreModelVersionIdentifiersKey] == nil {
            metadata[NSStoreModelVersionIdentifiersKey] = managedObjectModel.listedVersionIdentifiers
        }
        if NSPersistentStore.flag(compatibility.options, NSIgnorePersistentStoreVersioningOption) {
            compatibility.adopt(held, in: &metadata)
        }
        store.metadata = metadata
        let identifier = metadata[NSStoreUUIDKey] as? String ?? UUID().uuidString
        store.identifier = identifier
        if let other = self.store(identifier: identifier) { throw duplicate(other, of: type, at: store.url) }
        try store.prepareForRequests()
    }

    private func neededMigration(
        of store: NSPersistentStore, holding held: HeldEntities, compatibility: StoreCompatibility
    ) throws -> NeededMigration? {
        while true {
            let metadata: [String: Any] = store.metadata ?? [:]
            var unreadable: ModelReadingError?
            do {
                return try compatibility.checkHashes(in: metadata, of: held) {
                    do {
                        return try StoreFiles.cachedModel(of: store)
                    } catch {
                        unreadable = error as? ModelReadingError
                        return nil
                    }
                }
            } catch let error as NSError where error.code == NSMigrationMissingSourceModelError {
                // The hashes and the model are read one after the other: another program may have
                // migrated the store in between.
                try store.loadMetadata()
                let former = StoreMetadataHashes.hashes(in: metadata)
                if StoreMetadataHashes.hashes(in: store.metadata ?? [:]) == former {
                    throw unreadable.map { Self.missingModel(error, $0) } ?? error
                }
            }
        }
    }

    private static func missingModel(_ error: NSError, _ unreadable: ModelReadingError) -> NSError {
        var userInfo = error.userInfo
        userInfo[NSUnderlyingErrorKey] = unreadable as NSError
        userInfo[NSLocalizedDescriptionKey] =
            "\(error.localizedDescription) The model in the store cannot be read: \(unreadable.problem)"
        return CoreDataError(domain: error.domain, code: error.code, userInfo: userInfo)
    }

    private func newIdentifier(of store: NSPersistentStore) -> String {
        store.identifier ?? Swift.type(of: store).newIdentifier(at: store.url ?? URL(fileURLWithPath: "/"))
    }

    /// The URL for a store.
    ///
    /// A store without URL, or at the null device, gets a URL of its own if it need not have a
    /// file.
    private func url(_ url: URL?, for storeClass: NSPersistentStore.Type, type: String) throws -> URL {
        let place = url.flatMap { $0.isFileURL && $0.path == SQLiteStore.nullDevice ? nil : $0 }
        if let url = place ?? storeClass.ownURL() ?? url { return url }
        throw CoreDataErrors.make(
            .persistentStoreOpen, "A store of the type '\(type)' needs a URL, and none was given.",
            recovery: "Set the URL of the store, or of its description.",
            userInfo: StoreOpeningErrors.userInfo(type: type, url: nil))
    }

    private func duplicate(_ store: NSPersistentStore, of type: String, at url: URL?) -> NSError {
        CoreDataErrors.make(
            .duplicateStore,
            "The store \(StoreName.text(type: type, url: url)) is added to the coordinator already, as "
                + "\(StoreName.text(type: store.type, url: store.url)) with the UUID \(store.identifier ?? "none").",
            recovery: "Use the store that is there, or remove it first. Stores in memory need different URLs too.",
            userInfo: StoreOpeningErrors.userInfo(type: type, url: url))
    }

    func removeStore(_ store: NSPersistentStore) throws {
        try requireAdded(store, toBe: "removed")
        // Not under the lock, as observers may wait for other threads. The store may be gone when
        // they return.
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store, userInfo: nil)
        try changingStores.withLock {
            try requireAdded(store, toBe: "removed")
            store.endFollowing()
            store.willRemove(from: self)
            unlist(store)
            store.detach()
        }
        let moved = movedRows.withLock { $0?.former === store ? $0 : nil }
        let clients = clients.all
        // Notify all before the first moves its objects: a child reads the rows of its parent.
        for client in clients { client.noteRemoval(of: store, rows: moved) }
        for client in clients { client.storesWereRemoved() }
        post(.NSPersistentStoreCoordinatorStoresDidChange, [NSRemovedPersistentStoresKey: [store]])
    }

    /// - Parameter purpose: the operation on the store, for the text of the error.
    @discardableResult
    func requireAdded(_ store: NSPersistentStore, toBe purpose: String) throws -> AddedStore {
        if let added = changingStores.withLock({ addedStores.first { $0.store === store } }) { return added }
        throw CoreDataErrors.make(
            .persistentStoreOperation,
            "The store \(StoreName.text(type: store.type, url: store.url)) cannot be \(purpose): it does not belong "
                + "to the coordinator.",
            userInfo: StoreOpeningErrors.userInfo(type: store.type, url: store.url))
    }

    func post(_ name: Notification.Name, _ userInfo: [AnyHashable: Any]?) {
        NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
    }

    // MARK: - Store classes

    /// Registers a class that opens stores of a type; nil removes the type.
    ///
    /// ```swift
    /// let list = NSPersistentStore.StoreType(rawValue: "List")
    /// NSPersistentStoreCoordinator.registerStoreClass(ListStore.self, type: list)
    /// try coordinator.addPersistentStore(type: list, at: url)
    /// ```
    ///
    /// - Precondition: the class inherits from `NSPersistentStore`.
    public class func registerStoreClass(_ storeClass: AnyClass?, type: NSPersistentStore.StoreType) {
        registerStoreClass(storeClass, forStoreType: type.rawValue)
    }

    /// Registers a class that opens stores of a type; nil removes the type.
    ///
    /// - Precondition: the class inherits from `NSPersistentStore`.
    public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
        guard let storeClass else { return StoreTypeRegistry.register(nil, for: storeType) }
        guard let persistentStoreClass = storeClass as? NSPersistentStore.Type else {
            preconditionFailure(
                "The class \(storeClass) cannot open stores: it does not inherit from NSPersistentStore.")
        }
        StoreTypeRegistry.register(persistentStoreClass, for: storeType)
    }

    /// The registered classes by type. The values are the classes themselves, not boxed as on
    /// platforms with Objective-C.
    public class var registeredStoreTypes: [String: AnyClass] { StoreTypeRegistry.classesByType }
}
