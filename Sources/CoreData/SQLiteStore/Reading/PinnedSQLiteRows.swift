import Synchronization

/// A snapshot of a SQLite store's rows at one moment.
///
/// It is a connection that keeps a read transaction open, with its own row caches.
///
/// Saves go to the store and are checked against its current rows. While the moment is pinned, the
/// store's log cannot be reset past it.
final class PinnedSQLiteRows: RowSource {
    private let store: SQLiteStore
    /// Guards the connection: nil once it was closed.
    private let pinned: Mutex<Result<SQLiteBackend, any Error>?>

    /// Pins the current committed state. If that fails, reading throws the error.
    init(_ store: SQLiteStore) {
        self.store = store
        pinned = Mutex(Result { try store.backend().pinned() })
    }

    private func backend() throws -> SQLiteBackend {
        if let backend = try pinned.withLock({ try $0?.get() }) { return backend }
        throw CoreDataErrors.make(
            .persistentStoreOperation,
            "The generation of the store at \(store.url?.path ?? "") that the context was pinned to is gone: the "
                + "store was removed.",
            recovery: "Pin the context to the current generation with setQueryGenerationFrom(_:), or unpin it.")
    }

    /// Releases the state, before the store is closed.
    func close() { pinned.withLock { $0 = nil } }

    var readsRowsInBatches: Bool { store.readsRowsInBatches }

    var batchRows: (any BatchRows)? { store.batchRows }

    func rowCache(of entity: EntityLayout) -> RowCache? {
        (try? pinned.withLock { try $0?.get() })?.rowCaches[entity.rootIndex]
    }

    func forgetCachedRow(_ key: Int64, of entity: EntityLayout) { store.forgetCachedRow(key, of: entity) }

    func fetch(_ plan: StoreFetch) throws -> StoreFetchResult { try store.fetch(plan, in: backend()) }

    func readRows(_ keys: [Int64], of entity: EntityLayout) throws -> FetchedRows {
        try store.readRows(keys, of: entity, in: backend())
    }

    func relatedRows(to key: Int64, through slot: PropertySlot, of entity: EntityLayout) throws -> FetchedRows {
        try store.relatedRows(to: key, through: slot, of: entity, in: backend())
    }

    func relatedRows(toAll keys: [Int64], through slot: PropertySlot, of entity: EntityLayout) throws -> RelatedRows {
        try store.relatedRows(toAll: keys, through: slot, of: entity, in: backend())
    }

    func reserveKeys(_ count: Int, for entity: EntityLayout) throws -> Int64 {
        try store.reserveKeys(count, for: entity)
    }

    func save(_ batch: SaveBatch) throws -> SaveOutcome { try store.save(batch) }

    func save(_ batch: SaveBatch, beforeCommit others: () throws -> Void) throws -> SaveOutcome {
        try store.save(batch, beforeCommit: others)
    }

    var hasChangedMetadata: Bool { store.hasChangedMetadata }

    func saveMetadata(beforeCommit others: () throws -> Void) throws { try store.saveMetadata(beforeCommit: others) }
}
