/// A context's objects for the rows of one table that a large save has changed, and those rows.
///
/// They are looked up on the thread that has saved, so that the context's queue only has to adopt
/// the rows.
final class FoundObjects {
    // The look-up only counts references to the objects, under the registry's lock. The context's
    // queue alone uses the objects. Rows do not change, and their pages are kept here.

    let objects: ContiguousArray<NSManagedObject>
    /// The index among the rows of each object.
    let places: ContiguousArray<Int>
    /// The cache of the rows; nil if unknown, or if it cannot order versions.
    let cache: RowCache?
    private let chunks: ContiguousArray<CachedRows>
    /// The registration count of the table at the look-up.
    private let registrationCount: Int

    /// How many are looked up under one lock, for which other readers wait.
    private static let chunk = 512

    init(_ rows: SavedObjectIDs.RowsOfTable, in registry: ObjectRegistry, _ cache: RowCache?) {
        var objects: ContiguousArray<NSManagedObject> = []
        var places: ContiguousArray<Int> = []
        var registrationCount: Int?
        registry.prepareLookUps(store: rows.store, root: rows.root)
        for start in stride(from: 0, to: rows.keys.count, by: Self.chunk) {
            let keys = rows.keys[start..<min(start + Self.chunk, rows.keys.count)]
            let found = registry.objects(store: rows.store, root: rows.root, keys: keys)
            objects += found.objects
            places += found.places
            // An object registered between two look-ups may have a key that was looked up before.
            if registrationCount == nil { registrationCount = found.registrationCount }
        }
        self.objects = objects
        self.places = places
        self.registrationCount = registrationCount ?? 0
        self.cache = cache?.ordersVersions == true ? cache : nil
        var chunks: ContiguousArray<CachedRows> = []
        if let cache = self.cache {
            cache.prepareLookUps()
            for start in stride(from: 0, to: places.count, by: Self.chunk) {
                // Not the objects' own keys: only their queue may read them.
                chunks.append(
                    cache.rows(for: places[start..<min(start + Self.chunk, places.count)].lazy.map { rows.keys[$0] }))
            }
        }
        self.chunks = chunks
    }

    /// Whether no object can have been registered in the table since.
    func isComplete(_ rows: SavedObjectIDs.RowsOfTable, in registry: ObjectRegistry) -> Bool {
        registry.withTable(store: rows.store, root: rows.root) { $0.registrationCount } == registrationCount
    }

    /// Calls a block with the index of each object and the row that was found for it.
    func forEachRow(_ body: (Int, RowPointer?) -> Void) {
        var place = 0
        for chunk in chunks {
            for row in chunk.rows {
                body(place, row)
                place += 1
            }
        }
        withExtendedLifetime(self) {}
    }
}

extension SavedObjectIDs {
    /// Looks up the objects of a context without a parent for the updated rows that are sorted by
    /// table, in their order. Returns nil if there are none.
    func foundUpdates(in registry: ObjectRegistry) -> [FoundObjects]? {
        updatedRows?.map { rows in
            let first = rows.places.first.map { updated[$0] }
            let cache = first.flatMap { $0.persistentStore?.snapshotStore?.rowCache(of: $0.layout) }
            return FoundObjects(rows, in: registry, cache)
        }
    }
}
