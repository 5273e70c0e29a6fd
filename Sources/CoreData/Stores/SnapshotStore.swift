/// What a store must do for contexts, with the caches that all of them share.
package protocol SnapshotStore: RowSource {
    /// Row caches, indexed by the layout index of the root entity.
    var rowCaches: [RowCache] { get }

    /// How many requests can read at once beside one that writes.
    var concurrentReads: Int { get }
}

extension SnapshotStore {
    package var concurrentReads: Int { 1 }

    package func rowCache(of entity: EntityLayout) -> RowCache? { rowCaches[entity.rootIndex] }

    package func forgetCachedRow(_ key: Int64, of entity: EntityLayout) { rowCache(of: entity)?.remove(key) }
}
