/// Where a context's rows come from and where its changes go: the one interface between the object graph and what lies below it.
///
/// A store is one. Everything crosses it as row snapshots, row references and typed values; no managed object does. Calls come from
/// any thread, many at once; a source serialises what it must.
package protocol RowSource: AnyObject, Sendable {
    /// The committed rows of a table that somebody still uses; nil where none are kept.
    func rowCache(of entity: EntityLayout) -> RowCache?

    /// The row as it was last read or saved, if somebody still uses it; no input or output.
    func cachedRow(_ key: Int64, of entity: EntityLayout) -> Snapshot?

    /// Has the row read anew by who asks for it next: it was changed by others, or is gone.
    func forgetCachedRow(_ key: Int64, of entity: EntityLayout)

    /// Whether metadata were set since the last save.
    var hasChangedMetadata: Bool { get }

    /// Writes metadata that were set since the last save, in a save that changes no row of this store: in one transaction, which waits for
    /// other sources before it is committed.
    ///
    /// - Parameter others: called once, when nothing but the commit is left to do; what it throws undoes everything.
    func saveMetadata(beforeCommit others: () throws -> Void) throws

    /// Runs a fetch. The source publishes the rows of the result, so that they are found as cached ones.
    func fetch(_ plan: StoreFetch) throws -> StoreFetchResult

    /// Reads rows again, past all caches, and publishes them. Missing rows are left out; order
    /// is unspecified.
    func readRows(_ keys: [Int64], of entity: EntityLayout) throws -> FetchedRows

    /// Reads rows again like `readRows(_:of:)`, but only about as many as take so many bytes, and at least one.
    ///
    /// - Returns: the rows, and the keys that are still to be asked for.
    func readRows(_ keys: [Int64], of entity: EntityLayout, upTo bytes: Int) throws -> (rows: FetchedRows, rest: [Int64])

    /// The rows related to one row through a to-many relationship, in order where it is ordered.
    func relatedRows(to key: Int64, through slot: PropertySlot, of entity: EntityLayout) throws -> FetchedRows

    /// The rows related to many rows through a relationship (of any cardinality).
    func relatedRows(toAll keys: [Int64], through slot: PropertySlot, of entity: EntityLayout) throws -> RelatedRows

    /// What rows are related to many rows through a to-many relationship, in order where it is ordered, by owner. Reads no row.
    func relatedReferences(
        toAll keys: [Int64], through slot: PropertySlot, of entity: EntityLayout
    ) throws -> [Int64: [RowReference]]

    /// Reserves primary keys for new rows, so that no other user of the store hands them out again.
    /// - Returns: the first of `count` consecutive keys.
    func reserveKeys(_ count: Int, for entity: EntityLayout) throws -> Int64

    /// Whether fetches, saves and requests for keys must name their origin, because the store hands objects to a class of its user's.
    var needsObjects: Bool { get }

    /// Whether dictionaries are computed by a class of the store's user, which is given the whole request.
    var computesDictionaries: Bool { get }

    /// Whether keys that are reserved together are consecutive. Otherwise they are obtained one by one: `obtainKeys`.
    var keysAreConsecutive: Bool { get }

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

    /// Writes all changes in one transaction, which waits for other sources before it is committed.
    ///
    /// - Parameter others: called once, when nothing but the commit is left to do; what it throws undoes everything. A source that cannot
    ///   undo what it has written calls it first.
    func save(_ batch: SaveBatch, beforeCommit others: () throws -> Void) throws -> SaveOutcome

    /// Writes new rows and relationships, which come in blocks, in one transaction or none.
    ///
    /// - Parameter body: is given what writes a block, to be called any number of times. Where it throws, nothing is written.
    func saveBlocks(_ body: (_ save: (SaveBatch) throws -> Void) throws -> Void) throws

    /// What changes many rows at once without objects; nil where the store cannot.
    var batchRows: (any BatchRows)? { get }
}

extension RowSource {
    package func cachedRow(_ key: Int64, of entity: EntityLayout) -> Snapshot? { rowCache(of: entity)?.snapshot(for: key) }

    package var needsObjects: Bool { false }

    package var computesDictionaries: Bool { false }

    package var keysAreConsecutive: Bool { true }

    package var readsRowsInBatches: Bool { false }

    package var batchRows: (any BatchRows)? { nil }

    package var hasChangedMetadata: Bool { false }

    package func saveMetadata(beforeCommit others: () throws -> Void) throws { try others() }

    package func readRows(_ keys: [Int64], of entity: EntityLayout, upTo bytes: Int) throws -> (rows: FetchedRows, rest: [Int64]) {
        (try readRows(keys, of: entity), [])
    }

    package func relatedReferences(
        toAll keys: [Int64], through slot: PropertySlot, of entity: EntityLayout
    ) throws -> [Int64: [RowReference]] {
        var references: [Int64: [RowReference]] = [:]
        for key in keys {
            let related = try relatedRows(to: key, through: slot, of: entity)
            // Rows are read by address: their pages must live until then.
            defer { withExtendedLifetime(related) {} }
            references[key] = related.rows.map { RowReference(key: $0.rowKey, layoutIndex: $0.rowLayoutIndex) }
        }
        return references
    }

    package func saveBlocks(_ body: (_ save: (SaveBatch) throws -> Void) throws -> Void) throws {
        let all = SaveBatch()
        try body { block in
            all.inserts += block.inserts
            all.relationshipChanges += block.relationshipChanges
        }
        _ = try save(all)
    }

    package func save(_ batch: SaveBatch, beforeCommit others: () throws -> Void) throws -> SaveOutcome {
        try others()
        return try save(batch)
    }

    package func obtainKeys(_ count: Int, for entity: EntityLayout, origin: AnyObject) throws -> [Int64] {
        let first = try reserveKeys(count, for: entity)
        return Array(first..<(first + Int64(count)))
    }
}
