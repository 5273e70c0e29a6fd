import Foundation

extension StoreInspection {
    /// Reserves consecutive keys for new rows of an entity's table.
    ///
    /// Costs a transaction.
    ///
    /// - Returns: the first of the keys; nil where the store has no keys of its own.
    package static func reserveKeys(
        _ count: Int, of entity: NSEntityDescription, in store: NSPersistentStore
    ) throws -> Int64? {
        guard let rows = store.snapshotStore, let layout = store.modelLayout?.layoutByName[entity.name ?? ""] else {
            return nil
        }
        return try rows.reserveKeys(count, for: layout)
    }

    /// Gives a new object the key with which its row is saved, and the ID of that row.
    ///
    /// Does nothing to objects that have a key. No row of the table may have this key: reserve it.
    package static func assign(_ key: Int64, to object: NSManagedObject, in store: NSPersistentStore) {
        guard key > 0, object.flags.contains(.inserted), object.storeNumber < 0,
            let context = object.managedObjectContext
        else { return }
        object.take(key: key, store: store.number)
        context.adoptPermanentID(object, in: store)
    }
}
