import Foundation

extension StorePlace {
    /// A store that a migration reads or writes.
    struct Opened {
        let coordinator: NSPersistentStoreCoordinator
        let store: NSPersistentStore

        /// Takes over the program's metadata entries that this store lacks.
        func copyMetadata(from source: Opened) {
            let entries = coordinator.metadata(for: source.store)
            let own = coordinator.metadata(for: store)
            let lacking = entries.filter { !NSPersistentStore.isOwnMetadata($0.key) && own[$0.key] == nil }
            if lacking.isEmpty { return }
            coordinator.setMetadata(own.merging(lacking) { own, _ in own }, for: store)
        }

        /// Nothing is lost: what a migration writes is committed before.
        func close() { try? coordinator.remove(store) }
    }

    /// - Parameter code: 134150 for the source, 134160 for the destination.
    func open(
        _ model: NSManagedObjectModel, _ code: CocoaError.Code, isReadOnly: Bool = false
    ) throws -> Opened {
        var options = options ?? [:]
        options[NSMigratePersistentStoresAutomaticallyOption] = nil
        options[NSReadOnlyPersistentStoreOption] = isReadOnly
        do {
            let coordinator = try NSPersistentStoreCoordinator(validating: model)
            let store = try coordinator.addPersistentStore(
                ofType: type, configurationName: configuration, at: url, options: options)
            return Opened(coordinator: coordinator, store: store)
        } catch {
            throw MigrationErrors.store(code, self, "cannot be opened", error)
        }
    }

    /// Whether there is a store. A file may be empty, as a destroyed store leaves it.
    func exists() throws -> Bool {
        if StoreFiles.hasFile(ofType: type, at: url) {
            let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
            guard let attributes, attributes[.size] as? Int != 0 else { return false }
            return true
        }
        return (try? NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url, options: options))
            != nil
    }
}
