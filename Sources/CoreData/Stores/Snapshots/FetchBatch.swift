/// Some neighbours in the result of a fetch with a `fetchBatchSize`, whose rows are read together when the first is needed.
///
/// The faults of a batch share a page without rows, which refers to the batch: it lives as long as one of them needs it.
final class FetchBatch: Sendable {
    /// The entity that was fetched: the rows are of it or of its subentities.
    let entity: EntityLayout
    let storeNumber: Int
    /// In the order of the result, whose storage all of its batches share.
    let keys: ArraySlice<Int64>
    /// Relationships to load with the rows, as the components of key paths.
    let prefetching: [[String]]

    init(entity: EntityLayout, storeNumber: Int, keys: ArraySlice<Int64>, prefetching: [[String]]) {
        self.entity = entity
        self.storeNumber = storeNumber
        self.keys = keys
        self.prefetching = prefetching
    }

    /// The same without the keys of the rest of the result, for who keeps it longer than that.
    var withOwnKeys: FetchBatch {
        FetchBatch(entity: entity, storeNumber: storeNumber, keys: Array(keys)[...], prefetching: prefetching)
    }

    /// A page for faults of the batch.
    func placeholder() -> RowPage { RowPage(layout: entity, capacity: 0, batch: self) }

    /// Where the first of the objects waits to be put into the registry, if they were registered together.
    ///
    /// - Parameters:
    ///   - place: where another one waits; less than 0 where it does not.
    ///   - key: the key of that one.
    /// - Returns: a place where nobody waits if it cannot be told.
    func firstPlace(by place: Int, of key: Int64) -> Int {
        guard place >= 0, let index = keys.firstIndex(of: key) else { return Int.min / 2 }
        return place - (index - keys.startIndex)
    }
}

/// How the result of a fetch is divided into batches.
struct FetchBatches {
    /// At least 1.
    let size: Int
    let entity: EntityLayout
    let storeNumber: Int
    let prefetching: [[String]]

    func batch(_ keys: ArraySlice<Int64>) -> FetchBatch {
        FetchBatch(entity: entity, storeNumber: storeNumber, keys: keys, prefetching: prefetching)
    }
}
