/// A managed object or object ID in a predicate, as far as a store has to know it.
protocol RowIdentity {
    /// The row it stands for in a store; nil when it has none there (not saved yet, or from another store).
    func rowReference(in store: any SnapshotStore) -> RowReference?
}

extension NSManagedObjectID: RowIdentity {
    func rowReference(in store: any SnapshotStore) -> RowReference? {
        guard let key, let own = anyStore, own === store else { return nil }
        return RowReference(key: key, layoutIndex: layout.index)
    }
}

extension NSManagedObject: RowIdentity {
    func rowReference(in store: any SnapshotStore) -> RowReference? { objectID.rowReference(in: store) }
}
