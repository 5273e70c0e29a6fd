/// What a store must do for contexts, with the caches that all of them share.
protocol SnapshotStore: RowSource {
    /// Row caches, indexed by the layout index of the root entity.
    var rowCaches: [RowCache] { get }
}

extension SnapshotStore {
    func rowCache(of entity: EntityLayout) -> RowCache? { rowCaches[entity.rootIndex] }

    func forgetCachedRow(_ key: Int64, of entity: EntityLayout) { rowCache(of: entity)?.remove(key) }
}
