// The rows that the coordinator's stores have cached.
extension NSPersistentStoreCoordinator {
    /// Has all rows that are asked for from now on read from their stores: others may have changed them.
    ///
    /// Objects keep the rows that they have.
    package final func forgetCachedRows() {
        for added in addedStores { added.store.snapshotStore?.rowCaches.forEach { $0.removeAll() } }
    }

    /// How many requests can read at once beside one that writes.
    package final var concurrentReads: Int { addedStores.compactMap { $0.store.snapshotStore?.concurrentReads }.min() ?? 1 }

    /// Has contexts take over what others save, where the store hears of it.
    func follow(_ store: NSPersistentStore) {
        store.othersChanged = { [reference, of = store.reference] in
            guard let self = reference.object, let store = of.object else { return }
            for cache in store.snapshotStore?.rowCaches ?? [] { cache.removeAll() }
            for client in self.clients.all { client.storeWasChangedByOthers() }
        }
    }
}
