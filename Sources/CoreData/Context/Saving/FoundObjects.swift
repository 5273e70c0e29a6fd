/// The objects that a context has of the rows of one table which a large save has changed, and those rows.
///
/// They are looked for on the thread that has saved, so that the context's queue has only to take the rows over.
final class FoundObjects: @unchecked Sendable {
    // Sendable: constants. Where the objects are looked for, only references to them are counted, under the registry's lock; the context's
    // queue alone uses them. Rows do not change, and their pages are kept here.

    let objects: ContiguousArray<NSManagedObject>
    /// As many: where each is among the rows.
    let places: ContiguousArray<Int>
    /// Where the rows were looked for; nil where that is not known, or where later rows cannot be told from earlier ones.
    let cache: RowCache?
    private let chunks: ContiguousArray<CachedRows>
    /// How many objects had been registered then.
    private let registrationCount: Int

    /// How many objects, or rows, are looked up under one lock: whoever reads meanwhile waits for these only.
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
            // What is registered between two of them may have been looked for already.
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
                // Not the objects' keys, which are their queue's to read.
                chunks.append(cache.rows(for: places[start..<min(start + Self.chunk, places.count)].lazy.map { rows.keys[$0] }))
            }
        }
        self.chunks = chunks
    }

    /// Whether no other object can have come to the table since.
    func isComplete(_ rows: SavedObjectIDs.RowsOfTable, in registry: ObjectRegistry) -> Bool {
        registry.withTable(store: rows.store, root: rows.root) { $0.registrationCount } == registrationCount
    }

    /// Calls a block with the place of each object, and the row that was found for it.
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
    /// What a context without a parent has of the updated rows that are sorted by table, in their order; nil for none.
    func foundUpdates(in registry: ObjectRegistry) -> [FoundObjects]? {
        updatedRows?.map { rows in
            let first = rows.places.first.map { updated[$0] }
            let cache = first.flatMap { $0.persistentStore?.snapshotStore?.rowCache(of: $0.layout) }
            return FoundObjects(rows, in: registry, cache)
        }
    }
}
