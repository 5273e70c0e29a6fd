// The rows that the coordinator's stores have cached.
extension NSPersistentStoreCoordinator {
    /// Has all rows that are asked for from now on read from their stores: others may have changed them.
    ///
    /// Objects keep the rows that they have.
    package final func forgetCachedRows() {
        for added in addedStores { added.store.snapshotStore?.rowCaches.forEach { $0.removeAll() } }
    }
}
