/// One row to insert, update or delete.
struct RowChange {
    // unowned(unsafe): a save keeps the model of its objects alive.
    unowned(unsafe) let layout: EntityLayout
    let key: Int64
    /// The committed row the change is based on; nil for an insert.
    let base: Snapshot?
    /// New values in the store's form; slots that are not present keep the base's value (nil in an insert). In a deletion those that
    /// the history preserves and that the object had when it was deleted.
    let values: RowValues?
    /// Set when the row changed only through to-many relationships: its version still grows.
    var touchesVersionOnly = false
    /// The version of an inserted row: 1, or that of a row that takes the place of a deleted one.
    var insertedVersion: Int64 = 1
    /// The slots of the to-many relationships that changed, in an update.
    var changedToMany: [Int] = []
}

/// A change of one to-many relationship that is not kept by the destinations' to-one columns alone:
/// rows of a join table, or positions in an ordered relationship.
///
/// Where both sides of a many-to-many relationship are ordered, both report what they gain and lose: each in its own order.
struct RelationshipChange {
    let layout: EntityLayout
    let slot: Int
    let ownerKey: Int64
    var added: [RowReference] = []
    var removed: [RowReference] = []
    /// All destinations in order, for an ordered relationship whose order changed; nil for appended ones.
    var order: [RowReference]?
}

/// All changes of one save to one store.
///
/// A message: the context that saves fills it, the store reads it, nobody keeps it. Hence open to both.
final class SaveBatch {
    @exclusivity(unchecked) var inserts: [RowChange] = []
    @exclusivity(unchecked) var updates: [RowChange] = []
    @exclusivity(unchecked) var deletes: [RowChange] = []
    /// Unchanged rows whose version must still be the same (`detectConflicts(for:)`).
    var versionChecks: [RowChange] = []
    @exclusivity(unchecked) var relationshipChanges: [RelationshipChange] = []
    /// The context's name and transaction author, for persistent history.
    var contextName: String?
    var transactionAuthor: String?
    /// Where the save comes from, for stores that ask for it (`RowSource.needsObjects`); opaque to all others.
    var origin: AnyObject?

    var isEmpty: Bool {
        inserts.isEmpty && updates.isEmpty && deletes.isEmpty && versionChecks.isEmpty && relationshipChanges.isEmpty
    }
}

struct SaveOutcome {
    /// Snapshots of `SaveBatch.inserts`, in the same order.
    var inserted = FetchedRows()
    /// Snapshots of `SaveBatch.updates`, in the same order.
    var updated = FetchedRows()
}
