/// The source of a context's rows and the destination of its changes.
///
/// It is the one interface between the object graph and the layers below it.
///
/// A store is a row source. Row snapshots, row references and typed values cross it, and objects
/// only within an `origin`, which custom stores and parent contexts look into. Calls come from any
/// thread, many at once; a source serialises what it must.
package protocol RowSource: AnyObject, Sendable {
    /// The cache of the committed rows of a table that are in use; nil where none are kept.
    func rowCache(of entity: EntityLayout) -> RowCache?

    /// The row as it was last read or saved, if it is still in use; no input or output.
    func cachedRow(_ key: Int64, of entity: EntityLayout) -> Snapshot?

    /// Removes a row from the cache, as another context or process changed or deleted it. The next
    /// request for it reads it again.
    func forgetCachedRow(_ key: Int64, of entity: EntityLayout)

    /// Whether metadata were set since the last save.
    var hasChangedMetadata: Bool { get }

    /// Writes metadata set since the last save, in a save that changes no row of this store.
    ///
    /// Uses one transaction, which waits for other sources before it commits.
    ///
    /// - Parameter others: called once, when only the commit is left to do; an error that it throws
    ///   undoes everything.
    func saveMetadata(beforeCommit others: () throws -> Void) throws

    /// Runs a fetch. The source publishes the rows of the result in its cache.
    func fetch(_ plan: StoreFetch) throws -> StoreFetchResult

    /// Reads rows again, past all caches, and publishes them. Leaves out missing rows; order is
    /// unspecified.
    func readRows(_ keys: [Int64], of entity: EntityLayout) throws -> FetchedRows

    /// Reads rows again like `readRows(_:of:)`, up to about `bytes` bytes, but at least one row.
    ///
    /// - Returns: the rows, and the keys that are still to be read.
    func readRows(_ keys: [Int64], of entity: EntityLayout, upTo bytes: Int) throws -> (
        rows: FetchedRows, rest: [Int64]
    )

    /// Returns the rows related to one row through a to-many relationship.
    ///
    /// In order where the relationship is ordered.
    func relatedRows(to key: Int64, through slot: PropertySlot, of entity: EntityLayout) throws -> FetchedRows

    /// Returns the rows related to many rows through a relationship (of any cardinality).
    func relatedRows(toAll keys: [Int64], through slot: PropertySlot, of entity: EntityLayout) throws -> RelatedRows

    /// Returns references to the rows related to many rows by a to-many relationship, by owner.
    ///
    /// In order where the relationship is ordered. Reads no row.
    func relatedReferences(
        toAll keys: [Int64], through slot: PropertySlot, of entity: EntityLayout
    ) throws -> [Int64: [RowReference]]

    /// Reserves primary keys for new rows, so that no other user of the store hands them out again.
    /// - Returns: the first of `count` consecutive keys.
    func reserveKeys(_ count: Int, for entity: EntityLayout) throws -> Int64

    /// Whether fetches, saves and requests for keys must name their origin.
    ///
    /// The store then passes objects to a class of the program.
    var needsObjects: Bool { get }

    /// Whether a store class of the program computes dictionary results; it receives the whole
    /// request.
    var computesDictionaries: Bool { get }

    /// Whether keys that are reserved together are consecutive. Otherwise they are obtained one by
    /// one: `obtainKeys`.
    var keysAreConsecutive: Bool { get }

    /// Whether reading rows costs input or output; a fetch may then leave rows to be read in
    /// batches.
    var readsRowsInBatches: Bool { get }

    /// Returns the primary keys for new objects of one entity, in the same order. Uses
    /// `reserveKeys` where the store does not look at the objects.
    ///
    /// - Parameter origin: a token for the objects, opaque to stores that do not need them.
    func obtainKeys(_ count: Int, for entity: EntityLayout, origin: AnyObject) throws -> [Int64]

    /// Writes all changes in one transaction or none.
    ///
    /// - Throws: `SaveConflicts` when rows changed underneath or uniqueness constraints fail; other
    ///   errors for the rest.
    /// - Returns: snapshots of all inserted and updated rows.
    func save(_ batch: SaveBatch) throws -> SaveOutcome

    /// Writes all changes in one transaction, which waits for other sources before it commits.
    ///
    /// - Parameter others: called once, when only the commit is left to do; an error that it throws
    ///   undoes everything. A source that cannot undo its writes calls it first.
    func save(_ batch: SaveBatch, beforeCommit others: () throws -> Void) throws -> SaveOutcome

    /// Writes new rows and relationships, which come in blocks, in one transaction or none.
    ///
    /// - Parameter body: receives a closure that writes a block and may be called any number of
    ///   times. If the body throws, nothing is written.
    func saveBlocks(_ body: (_ save: (SaveBatch) throws -> Void) throws -> Void) throws

    /// The interface for batch changes of many rows without objects; nil where the store has none.
    var batchRows: (any BatchRows)? { get }
}

extension RowSource {
    package func cachedRow(_ key: Int64, of entity: EntityLayout) -> Snapshot? {
        rowCache(of: entity)?.snapshot(for: key)
    }

    package var needsObjects: Bool { false }

    package var computesDictionaries: Bool { false }

    var keysAreConsecutive: Bool { true }

    var readsRowsInBatches: Bool { false }

    var batchRows: (any BatchRows)? { nil }

    var hasChangedMetadata: Bool { false }

    func saveMetadata(beforeCommit others: () throws -> Void) throws { try others() }

    func readRows(_ keys: [Int64], of entity: EntityLayout, upTo bytes: Int) throws -> (
        rows: FetchedRows, rest: [Int64]
    ) {
        (try readRows(keys, of: entity), [])
    }

    func relatedReferences(
        toAll keys: [Int64], through slot: PropertySlot, of entity: EntityLayout
    ) throws -> [Int64: [RowReference]] {
        var references: [Int64: [RowReference]] = [:]
        for key in keys {
            let related = try relatedRows(to: key, through: slot, of: entity)
            // Rows are read by address: their pages must live until the end of this pass.
            defer { withExtendedLifetime(related) {} }
            references[key] = related.rows.map { RowReference(key: $0.rowKey, layoutIndex: $0.rowLayoutIndex) }
        }
        return references
    }

    func saveBlocks(_ body: (_ save: (SaveBatch) throws -> Void) throws -> Void) throws {
        var all = SaveBatch()
        try body { block in
            all.inserts += block.inserts
            all.relationshipChanges += block.relationshipChanges
        }
        _ = try save(all)
    }

    func save(_ batch: SaveBatch, beforeCommit others: () throws -> Void) throws -> SaveOutcome {
        try others()
        return try save(batch)
    }

    func obtainKeys(_ count: Int, for entity: EntityLayout, origin: AnyObject) throws -> [Int64] {
        let first = try reserveKeys(count, for: entity)
        return Array(first..<(first + Int64(count)))
    }
}
