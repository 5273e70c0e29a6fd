import Foundation

// Finding the stores for the requests of contexts.
extension NSPersistentStoreCoordinator {
    /// A store and which entities it holds.
    struct AddedStore {
        enum Holding: UInt8 {
            case none, asSubentity, listed
        }

        let store: NSPersistentStore
        let number: Int
        /// By layout index.
        let holdings: [Holding]

        init(_ store: NSPersistentStore, holding held: HeldEntities, of layouts: ModelLayout) {
            var holdings = Array(repeating: Holding.none, count: layouts.layouts.count)
            func note(_ entities: ArraySlice<NSEntityDescription>, _ holding: Holding) {
                for entity in entities {
                    if let layout = layouts.layoutByName[entity.name ?? ""] { holdings[layout.index] = holding }
                }
            }
            note(held.unlisted, .asSubentity)
            note(held.listed, .listed)
            self.store = store
            number = store.number
            self.holdings = holdings
        }

        @inline(__always) func holds(_ index: Int) -> Bool { holdings[index] != .none }
    }

    /// The store for a new object of an entity: the assigned store, or the first writable store
    /// that holds the entity.
    ///
    /// Stores whose configurations list the entity themselves come first.
    ///
    /// - Throws: `CocoaError.persistentStoreSave` (134030) when no store can take the object,
    ///   `fileWriteNoPermission` (513) when those that could are read-only,
    ///   `persistentStoreIncompatibleSchema` (134020) when the configuration of the store it is
    ///   assigned to lacks its entity.
    func store(for entity: EntityLayout, assigned: NSPersistentStore?) throws -> NSPersistentStore {
        let stores = addedStores
        if let assigned {
            guard let added = stores.first(where: { $0.store === assigned }) else {
                throw CoreDataErrors.assignedStoreIsNotAdded(
                    assigned, to: entity.name, named: describe(assigned), others: describe(stores))
            }
            guard added.holds(entity.index) else {
                throw CoreDataErrors.assignedStoreLacksEntity(assigned, entity.name, named: describe(assigned))
            }
            guard !assigned.isReadOnly else {
                throw CoreDataErrors.assignedStoreIsReadOnly(assigned, entity.name, named: describe(assigned))
            }
            return assigned
        }
        if let added = Self.writableStore(for: entity, among: stores) { return added.store }
        let holders = stores.filter { $0.holds(entity.index) }
        if !holders.isEmpty {
            throw CoreDataErrors.storesAreReadOnly(entity.name, holders.map(\.store), named: describe(holders))
        }
        throw CoreDataErrors.noStoreForNewObject(
            entity.name,
            stores.isEmpty
                ? "The coordinator has no stores." : "No store's configuration has the entity: \(describe(stores)).",
            stores: stores.map(\.store))
    }

    /// The writable store for new objects of an entity, among some stores.
    static func writableStore(for entity: EntityLayout, among stores: [AddedStore]) -> AddedStore? {
        for added in stores where added.holdings[entity.index] == .listed && !added.store.isReadOnly { return added }
        for added in stores where added.holds(entity.index) && !added.store.isReadOnly { return added }
        return nil
    }

    /// The stores for a request for an entity: those that hold it or one of its subentities.
    ///
    /// Only stores among `affected` count, where that is given.
    func snapshotStores(holding entity: EntityLayout, affected: [NSPersistentStore]?) -> [NSPersistentStore] {
        addedStores.compactMap { added in
            guard entity.familyIndexes.contains(where: { added.holds($0) }) else { return nil }
            if let affected, !affected.contains(where: { $0.isTwin(of: added.store) }) { return nil }
            return added.store
        }
    }

    func store(identifier: String) -> NSPersistentStore? {
        addedStores.first { $0.store.identifier == identifier }?.store
    }

    private func describe(_ stores: [AddedStore]) -> String {
        stores.isEmpty ? "none" : stores.map { describe($0.store) }.joined(separator: ", ")
    }

    private func describe(_ store: NSPersistentStore) -> String {
        StoreName.text(type: store.type, url: store.url, configuration: store.configurationName)
    }
}
