/// The refusal of a save because of conflicts.
///
/// Another context or process changed the rows, or a uniqueness constraint would be violated.
/// Nothing was written.
package struct SaveConflicts: Error {
    /// A change that conflicts with the current row.
    ///
    /// An update, delete or version check whose row now has another version, or an insert whose key
    /// already has a row.
    package struct RowConflict {
        package enum Change { case insert, update, delete, check }
        let change: Change
        /// Index into the batch's array of that change.
        let index: Int
        /// The row as it is now; nil when it was deleted.
        let current: Snapshot?

        package init(change: Change, index: Int, current: Snapshot?) {
            self.change = change
            self.index = index
            self.current = current
        }
    }

    /// An insert or update that would give two rows the same values of a uniqueness constraint.
    package struct ConstraintViolation {
        /// Attribute names of the constraint.
        let constraint: [String]
        let values: [StoredValue]
        /// Layout of the entity that declares the constraint.
        let layout: EntityLayout
        /// The row in the store that already has the values; nil when both are in the batch.
        let existing: Snapshot?
        /// Indexes into `SaveBatch.inserts`.
        let inserts: [Int]
        /// Indexes into `SaveBatch.updates`.
        let updates: [Int]

        package init(
            constraint: [String], values: [StoredValue], layout: EntityLayout, existing: Snapshot?, inserts: [Int],
            updates: [Int]
        ) {
            self.constraint = constraint
            self.values = values
            self.layout = layout
            self.existing = existing
            self.inserts = inserts
            self.updates = updates
        }
    }

    package var rows: [RowConflict]
    package var violations: [ConstraintViolation]

    package init(rows: [RowConflict] = [], violations: [ConstraintViolation] = []) {
        self.rows = rows
        self.violations = violations
    }
}
