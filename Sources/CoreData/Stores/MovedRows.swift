/// Rows that were copied to another store, which takes the place of the one they were in.
final class MovedRows: Sendable {
    /// A row's former key in the table of a root entity.
    struct FormerKey: Hashable {
        /// The layout index of the root entity.
        let root: Int
        let key: Int64
    }

    /// The store that they were in.
    let former: NSPersistentStore
    /// The store that they are in.
    let store: NSPersistentStore
    private let references: [FormerKey: RowReference]
    /// The ID of each row in the former store, followed by the one that it has now.
    let objectIDs: [NSManagedObjectID]

    init(
        from former: NSPersistentStore, to store: NSPersistentStore, _ references: [FormerKey: RowReference], objectIDs: [NSManagedObjectID]
    ) {
        self.former = former
        self.store = store
        self.references = references
        self.objectIDs = objectIDs
    }

    /// The key that a row has now; nil where it was not in the former store any more. A provisional key stays.
    func key(of former: Int64, root: Int) -> Int64? {
        former < 0 ? former : references[FormerKey(root: root, key: former)]?.key
    }

    /// What a reference of a former row is now; nil where it led nowhere.
    func reference(_ former: RowReference, in model: ModelLayout) -> RowReference? {
        guard model.layouts.indices.contains(former.layoutIndex) else { return nil }
        return key(of: former.key, root: model.layouts[former.layoutIndex].rootIndex).map {
            RowReference(key: $0, layoutIndex: former.layoutIndex)
        }
    }
}
