/// Changes of many rows that a store makes by itself, without reading rows or creating objects.
///
/// Each call is one transaction. It leaves the row caches as they are: a caller that wants to see
/// the changes removes the rows named in the outcome from them.
package protocol BatchRows: AnyObject, Sendable {
    /// - Throws: `UniquenessFailure` where the insertion's rule is to refuse a conflict, or where
    ///   it would change a row that is neither of the entity nor of a subentity; any other error
    ///   that prevents writing the rows.
    func insert(_ insertion: RowInsertion) throws -> BatchOutcome

    /// - Throws: `UniquenessFailure` when two rows would have the same unique values.
    func update(_ update: RowUpdate) throws -> BatchOutcome

    /// - Throws: code 134050 when a delete rule forbids it.
    func delete(_ deletion: RowDeletion) throws -> BatchOutcome
}

package struct BatchOutcome {
    package var insertedCount = 0
    /// Rows that an update changed, or that an insertion changed because of their unique values.
    package var updatedCount = 0
    /// Rows that the request deleted, without the rows that delete rules deleted.
    package var deletedCount = 0
    // Empty unless the request wants references.
    package var inserted: [RowReference] = []
    package var updated: [RowReference] = []
    package var deleted: [RowReference] = []
    /// Rows that delete rules deleted.
    package var alsoDeleted: [RowReference] = []
    /// Rows that lost a destination through a delete rule.
    var alsoUpdated: [RowReference] = []

    package init() {}
}

/// The refusal of a batch because two rows would have the same unique values. Nothing was written.
package struct UniquenessFailure: Error {
    /// The attribute names of the first constraint that fails, and the values in the store's form.
    ///
    /// `.null` represents an unknown value, as nil never conflicts.
    let constraint: [String]
    let values: [StoredValue]
    /// The entity that declares the constraint.
    let layout: EntityLayout
    /// The row that has the values; nil when both rows are in the batch.
    let existing: RowReference?

    package init(constraint: [String], values: [StoredValue], layout: EntityLayout, existing: RowReference?) {
        self.constraint = constraint
        self.values = values
        self.layout = layout
        self.existing = existing
    }
}
