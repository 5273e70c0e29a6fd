import Synchronization

// The list of the coordinator's stores.
extension NSPersistentStoreCoordinator {
    /// The stores and the name of a coordinator. Only this file changes the stores.
    struct State {
        var name: String?
        /// In the order in which they were added.
        fileprivate var stores: [AddedStore] = []
        fileprivate var formerStoreTokens: [Int: StoreToken] = [:]
        fileprivate var nextNumber = 0
    }

    var addedStores: [AddedStore] { state.withLock { $0.stores } }

    /// The store with a number; nil once it was removed.
    final func store(number: Int) -> NSPersistentStore? {
        // Under the lock: a copy of the list would cost more than the search.
        state.withLock { guarded in guarded.stores.first { $0.number == number }?.store }
    }

    func takeStoreNumber() -> Int {
        state.withLock { guarded in
            defer { guarded.nextNumber += 1 }
            return guarded.nextNumber
        }
    }

    /// Adds a store that is ready for use to the list. The caller holds `changingStores`.
    func list(_ store: NSPersistentStore, holding held: HeldEntities) {
        if store.observesUse { tellsStoresOfUse.store(true, ordering: .relaxed) }
        let added = AddedStore(store, holding: held, of: modelLayout)
        state.withLock { $0.stores.append(added) }
    }

    /// Removes a store from the list. The caller holds `changingStores`.
    func unlist(_ store: NSPersistentStore) {
        let token = store.token
        state.withLock { guarded in
            guarded.formerStoreTokens[store.number] = token
            guarded.stores.removeAll { $0.store === store }
        }
    }

    /// The tokens of removed stores, by number. Object IDs still need them.
    var formerStoreTokens: [Int: StoreToken] { state.withLock { $0.formerStoreTokens } }
}
