/// A row source with the row caches that all contexts share: the interface of a store to contexts.
package protocol SnapshotStore: RowSource {
    /// Row caches, indexed by the layout index of the root entity.
    var rowCaches: [RowCache] { get }

    /// The number of requests that can read at once beside one that writes.
    var concurrentReads: Int { get }
}

extension SnapshotStore {
    var concurrentReads: Int { 1 }

    func rowCache(of entity: EntityLayout) -> RowCache? { rowCaches[entity.rootIndex] }

    package func forgetCachedRow(_ key: Int64, of entity: EntityLayout) { rowCache(of: entity)?.remove(key) }
}
