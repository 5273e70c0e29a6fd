// The sources of the context's rows. Only this file of the layer knows them.

extension NSManagedObjectContext {
    var modelLayout: ModelLayout? { registry.modelLayout }

    func requireCoordinator(_ action: String) throws -> NSPersistentStoreCoordinator {
        ConcurrencyDebug.check(self, action)
        if parentContext != nil { followParent() }
        followRemovedStores()
        guard let coordinator = persistentStoreCoordinator else {
            throw CoreDataErrors.noCoordinator(nameInMessages, action, hasParent: parentContext != nil)
        }
        return coordinator
    }

    var nameInMessages: String { name.map { " \"\($0)\"" } ?? "" }

    /// Returns the source of a store's rows for the context; nil once the store was removed.
    func rows(ofStore number: Int) -> (any RowSource)? {
        guard let store = store(number: number) else { return nil }
        guard let parent = parentContext else {
            if let generation { return generation.rows(of: store) }
            return store.snapshotStore
        }
        if let rows = parentRows[number] { return rows }
        let rows = ParentRows(of: parent, for: self, store: number)
        parentRows[number] = rows
        return rows
    }

    /// Returns the source of an object's rows; nil for a new object and a removed store.
    func rows(near object: NSManagedObject) -> (any RowSource)? {
        object.storeNumber < 0 ? nil : rows(ofStore: Int(object.storeNumber))
    }

    /// Whether a store needs the objects and the context of a request.
    func needsObjects(_ stores: [NSPersistentStore]) -> Bool {
        stores.contains { rows(ofStore: $0.number)?.needsObjects ?? false }
    }

    /// Reads an object's row from the store, bypassing all caches; nil when the row is gone.
    func freshSnapshot(of object: NSManagedObject) throws -> Snapshot? {
        guard let rows = rows(near: object) else { return nil }
        let read = try rows.readRows([object.key], of: object.layout)
        defer { withExtendedLifetime(read) {} }
        return read.rows.first.map(Snapshot.init(retaining:))
    }
}
