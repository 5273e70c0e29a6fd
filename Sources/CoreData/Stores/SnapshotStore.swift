import Foundation

/// What a store must do for contexts: the one interface between the object graph and any kind of store.
///
/// Everything crosses it as row snapshots, row references and typed values; no managed object does. Calls come from any
/// thread, many at once; a store serialises what it must.
protocol SnapshotStore: AnyObject, Sendable {
    /// Row caches, indexed by the layout index of the root entity.
    var rowCaches: [RowCache] { get }

    /// Writes metadata that were set since the last save, in a save that changes no row of this store.
    func saveMetadata() throws

    /// Runs a fetch. Rows of the result are published in the row cache by the store.
    func fetch(_ plan: StoreFetch) throws -> StoreFetchResult

    /// Reads rows again from the store itself, past the row cache, and publishes them. Missing rows are left out; order
    /// is unspecified.
    func readRows(_ keys: [Int64], of entity: EntityLayout) throws -> FetchedRows

    /// The rows related to one row through a to-many relationship, in order where it is ordered.
    func relatedRows(to key: Int64, through slot: PropertySlot, of entity: EntityLayout) throws -> FetchedRows

    /// The rows related to many rows through a relationship (of any cardinality).
    func relatedRows(toAll keys: [Int64], through slot: PropertySlot, of entity: EntityLayout) throws -> RelatedRows

    /// Reserves primary keys for new rows, so that no other user of the store hands them out again.
    /// - Returns: the first of `count` consecutive keys.
    func reserveKeys(_ count: Int, for entity: EntityLayout) throws -> Int64

    /// Whether saves and requests for keys must name their origin, because the store hands objects to a class of its user's.
    var needsObjects: Bool { get }

    /// Whether reading rows costs input or output, so that a fetch may leave them to be read in batches.
    var readsRowsInBatches: Bool { get }

    /// The primary keys for new objects of one entity, in the same order. `reserveKeys` where the store does not look at
    /// the objects.
    ///
    /// - Parameter origin: what stands for the objects, opaque to stores that do not need them.
    func obtainKeys(_ count: Int, for entity: EntityLayout, origin: AnyObject) throws -> [Int64]

    /// Writes all changes in one transaction or none.
    ///
    /// - Throws: `SaveConflicts` when rows changed underneath or uniqueness constraints fail; other errors for the rest.
    /// - Returns: snapshots of all inserted and updated rows.
    func save(_ batch: SaveBatch) throws -> SaveOutcome
}

extension SnapshotStore {
    var needsObjects: Bool { false }

    var readsRowsInBatches: Bool { false }

    func saveMetadata() throws {}

    func obtainKeys(_ count: Int, for entity: EntityLayout, origin: AnyObject) throws -> [Int64] {
        let first = try reserveKeys(count, for: entity)
        return Array(first..<(first + Int64(count)))
    }
}
