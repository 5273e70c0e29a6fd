/// Rows that were copied to another store, which replaces the store they were in.
final class MovedRows: Sendable {
    /// A row's former key in the table of a root entity.
    struct FormerKey: Hashable {
        /// The layout index of the root entity.
        let root: Int
        let key: Int64
    }

    /// The store that the rows were in.
    let former: NSPersistentStore
    /// The store that the rows are in now.
    let store: NSPersistentStore
    private let references: [FormerKey: RowReference]
    /// The ID of each row in the former store, each followed by the row's new ID.
    let objectIDs: [NSManagedObjectID]

    init(
        from former: NSPersistentStore, to store: NSPersistentStore, _ references: [FormerKey: RowReference],
        objectIDs: [NSManagedObjectID]
    ) {
        self.former = former
        self.store = store
        self.references = references
        self.objectIDs = objectIDs
    }

    /// Returns the new key of a row.
    ///
    /// Nil where the row was no longer in the former store. A provisional (negative) key stays the
    /// same.
    func key(of former: Int64, root: Int) -> Int64? {
        former < 0 ? former : references[FormerKey(root: root, key: former)]?.key
    }

    /// Returns the new reference of a row; nil where the former reference pointed to no row.
    func reference(_ former: RowReference, in model: ModelLayout) -> RowReference? {
        guard model.layouts.indices.contains(former.layoutIndex) else { return nil }
        return key(of: former.key, root: model.layouts[former.layoutIndex].rootIndex).map {
            RowReference(key: $0, layoutIndex: former.layoutIndex)
        }
    }
}
