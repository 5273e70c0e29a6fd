import Foundation

extension NSPersistentStoreCoordinator {
    /// Does all that migrations of the coordinator's stores have left for later.
    ///
    /// A store that was added with `NSPersistentStoreDeferredLightweightMigrationOptionKey` has
    /// that key with true in its metadata while something is left. Then the entry is removed.
    ///
    /// Cost: each index is built, which sorts its rows, and each former table is dropped. Saves
    /// wait for each of these tasks.
    ///
    /// ```swift
    /// let key = NSPersistentStoreDeferredLightweightMigrationOptionKey
    /// if coordinator.metadata(for: store)[key] as? Bool == true {
    ///     try coordinator.finishDeferredLightweightMigration()
    /// }
    /// ```
    ///
    /// - Throws: a `CocoaError` when a store cannot be written. The tasks before stay done.
    public func finishDeferredLightweightMigration() throws {
        for store in deferringStores { while try store.finishMigrationTask() {} }
    }

    /// Does one task that a migration has left for later, if there is one: an index, or a table.
    ///
    /// - Throws: a `CocoaError` when the store cannot be written.
    public func finishDeferredLightweightMigrationTask() throws {
        for store in deferringStores { if try store.finishMigrationTask() { return } }
    }

    private var deferringStores: [any DeferringStore] { persistentStores.compactMap { $0 as? any DeferringStore } }
}
