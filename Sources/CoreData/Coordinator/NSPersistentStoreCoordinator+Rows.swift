// The cached rows of the coordinator's stores.
extension NSPersistentStoreCoordinator {
    /// Makes all later requests read rows from their stores, because other programs may have
    /// changed them.
    ///
    /// Objects keep the rows that they have.
    package final func forgetCachedRows() {
        for added in addedStores { added.store.snapshotStore?.rowCaches.forEach { $0.removeAll() } }
    }

    /// The number of requests that can read at once while another request writes.
    package final var concurrentReads: Int {
        addedStores.compactMap { $0.store.snapshotStore?.concurrentReads }.min() ?? 1
    }

    /// Makes contexts merge the saves of other programs, if the store is notified of them.
    func follow(_ store: NSPersistentStore) {
        store.othersChanged = { [reference, of = store.reference] transaction in
            guard let self = reference.object, let store = of.object else { return }
            for cache in store.snapshotStore?.rowCaches ?? [] { cache.removeAll() }
            let changed = ChangedStores(store, after: transaction)
            for client in self.mergingClients.all { client.wasChangedByOthers(changed) }
        }
    }
}
