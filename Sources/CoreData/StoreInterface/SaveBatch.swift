/// One row to insert, update or delete.
package struct RowChange {
    // unowned(unsafe): a save keeps the model of its objects alive.
    package unowned(unsafe) let layout: EntityLayout
    package let key: Int64
    /// The committed row the change is based on; nil for an insert.
    package let base: Snapshot?
    /// New values in the store's form. Slots that are not present keep the base's value (nil in an
    /// insert).
    ///
    /// In a deletion: the values that the history preserves, as the object had them when it was
    /// deleted.
    package let values: RowValues?
    /// Whether the row changed only through to-many relationships: its version still grows.
    var touchesVersionOnly = false
    /// The version of an inserted row: 1, or the version of a row that replaces a deleted one.
    package var insertedVersion: Int64 = 1
    /// The slots of the to-many relationships that changed, in an update.
    var changedToMany: [Int] = []

    package init(
        layout: EntityLayout, key: Int64, base: Snapshot?, values: RowValues?, touchesVersionOnly: Bool = false,
        changedToMany: [Int] = []
    ) {
        self.layout = layout
        self.key = key
        self.base = base
        self.values = values
        self.touchesVersionOnly = touchesVersionOnly
        self.changedToMany = changedToMany
    }
}

/// A change of one to-many relationship that the destinations' to-one columns do not express.
///
/// It changes rows of a join table, or positions in an ordered relationship.
///
/// Where both sides of a many-to-many relationship are ordered, both report their additions and
/// removals, each in its own order.
package struct RelationshipChange {
    package let layout: EntityLayout
    package let slot: Int
    package let ownerKey: Int64
    package var added: [RowReference] = []
    package var removed: [RowReference] = []
    /// All destinations in order, for an ordered relationship whose order changed; nil for appended
    /// ones.
    package var order: [RowReference]?
}

/// All changes of one save to one store. The context that saves fills it and the store reads it.
package struct SaveBatch {
    package var inserts: [RowChange] = []
    package var updates: [RowChange] = []
    package var deletes: [RowChange] = []
    /// Unchanged rows whose version must still be the same (`detectConflicts(for:)`).
    package var versionChecks: [RowChange] = []
    package var relationshipChanges: [RelationshipChange] = []
    package var author = ChangeAuthor()
    /// The origin of the save, for stores that need it (`RowSource.needsObjects`); opaque to all
    /// others.
    var origin: AnyObject?

    package init() {}

    var isEmpty: Bool {
        inserts.isEmpty && updates.isEmpty && deletes.isEmpty && versionChecks.isEmpty && relationshipChanges.isEmpty
    }
}

extension SaveBatch {
    /// Publishes the rows of a committed save, and removes the deleted ones from the caches.
    ///
    /// - Parameters:
    ///   - written: the written rows of the inserts and updates.
    ///   - pages: the pages of those.
    ///   - derived: the pages of rows that were read after triggers had changed them. They replace
    ///     the written ones.
    ///   - caches: by layout index of the root entity.
    ///   - keepsWritten: whether written rows of a root entity are cached.
    package func publish(
        _ written: (inserted: ContiguousArray<RowPointer?>, updated: ContiguousArray<RowPointer?>), _ pages: [RowPage],
        derived: [RowPage], in caches: [RowCache], keepsWritten: (Int) -> Bool = { _ in true }
    ) -> SaveOutcome {
        for (root, pages) in Dictionary(grouping: pages, by: \.layout.rootIndex) where keepsWritten(root) {
            caches[root].insert(pages)
        }
        for change in deletes { caches[change.layout.rootIndex].remove(change.key) }
        for (root, pages) in Dictionary(grouping: derived, by: \.layout.rootIndex) { caches[root].insert(pages) }
        var replaced: [RowReference: RowPointer] = [:]
        for page in derived {
            for index in 0..<page.rowCount {
                let row = page.row(at: index)
                replaced[RowReference(key: row.rowKey, layoutIndex: page.layout.rootIndex)] = row
            }
        }
        func current(_ rows: ContiguousArray<RowPointer?>, _ changes: [RowChange]) -> ContiguousArray<RowPointer> {
            if replaced.isEmpty { return ContiguousArray(rows.compactMap { $0 }) }
            return ContiguousArray(
                zip(rows, changes).compactMap { row, change in
                    replaced[RowReference(key: change.key, layoutIndex: change.layout.rootIndex)] ?? row
                })
        }
        let all = pages + derived
        return SaveOutcome(
            inserted: FetchedRows(rows: current(written.inserted, inserts), pages: all),
            updated: FetchedRows(rows: current(written.updated, updates), pages: all))
    }
}

package struct SaveOutcome {
    /// Snapshots of `SaveBatch.inserts`, in the same order.
    var inserted = FetchedRows()
    /// Snapshots of `SaveBatch.updates`, in the same order.
    var updated = FetchedRows()
    /// The number of the transaction in the store's history; nil where it was not recorded.
    package var transaction: Int64?

    init(inserted: FetchedRows = FetchedRows(), updated: FetchedRows = FetchedRows()) {
        self.inserted = inserted
        self.updated = updated
    }
}
