/// Consecutive objects in the result of a fetch with a `fetchBatchSize`. Their rows are read
/// together when the first one is needed.
///
/// The faults of a batch share a page without rows, which refers to the batch. So the batch lives
/// as long as one of them needs it.
final class FetchBatch: Sendable {
    /// The entity that was fetched. The rows are of this entity or of its subentities.
    let entity: EntityLayout
    let storeNumber: Int
    /// The keys in the order of the result. All batches of a result share the storage.
    let keys: ArraySlice<Int64>
    /// Relationships to load with the rows, as the components of key paths.
    let prefetching: [[String]]

    init(entity: EntityLayout, storeNumber: Int, keys: ArraySlice<Int64>, prefetching: [[String]]) {
        self.entity = entity
        self.storeNumber = storeNumber
        self.keys = keys
        self.prefetching = prefetching
    }

    /// A copy without the keys of the rest of the result, for owners that keep it longer than the
    /// result.
    var withOwnKeys: FetchBatch {
        FetchBatch(entity: entity, storeNumber: storeNumber, keys: Array(keys)[...], prefetching: prefetching)
    }

    /// Returns a page for faults of the batch.
    func placeholder() -> RowPage { RowPage(layout: entity, capacity: 0, batch: self) }

    /// Returns the place at which the first of the objects waits for its registration, if all were
    /// registered together.
    ///
    /// - Parameters:
    ///   - place: the place at which another object of the batch waits; less than 0 if it does not
    ///     wait.
    ///   - key: the key of that object.
    /// - Returns: a place at which no object waits, if the place is not known.
    func firstPlace(by place: Int, of key: Int64) -> Int {
        guard place >= 0, let index = keys.firstIndex(of: key) else { return Int.min / 2 }
        return place - (index - keys.startIndex)
    }
}

/// The division of a fetch's result into batches.
struct FetchBatches {
    /// The number of objects in a batch; at least 1.
    let size: Int
    let entity: EntityLayout
    let storeNumber: Int
    let prefetching: [[String]]

    func batch(_ keys: ArraySlice<Int64>) -> FetchBatch {
        FetchBatch(entity: entity, storeNumber: storeNumber, keys: keys, prefetching: prefetching)
    }
}
