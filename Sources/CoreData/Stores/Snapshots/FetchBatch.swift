/// Some neighbours in the result of a fetch with a `fetchBatchSize`, whose rows are read together when the first is needed.
///
/// The faults of a batch share a page without rows, which refers to the batch: it lives as long as one of them needs it.
final class FetchBatch: Sendable {
    /// The entity that was fetched: the rows are of it or of its subentities.
    let entity: EntityLayout
    let storeNumber: Int
    /// In the order of the result.
    let keys: [Int64]
    /// Relationships to load with the rows, as the components of key paths.
    let prefetching: [[String]]

    init(entity: EntityLayout, storeNumber: Int, keys: [Int64], prefetching: [[String]]) {
        self.entity = entity
        self.storeNumber = storeNumber
        self.keys = keys
        self.prefetching = prefetching
    }

    /// A page for faults of the batch.
    func placeholder() -> RowPage { RowPage(layout: entity, capacity: 0, batch: self) }
}
