/// Changes of many rows that a store makes by itself: no row is read for them, and no object.
///
/// Each is one transaction. The row caches keep what they have: who wants to see the changes forgets the rows that are named in the outcome.
package protocol BatchRows: AnyObject, Sendable {
    /// - Throws: `UniquenessFailure` where the insertion's rule is to refuse, or to change a row that is neither of the entity nor of a
    ///   subentity; whatever else keeps the rows from being written.
    func insert(_ insertion: RowInsertion) throws -> BatchOutcome

    /// - Throws: `UniquenessFailure` when two rows would have the same unique values.
    func update(_ update: RowUpdate) throws -> BatchOutcome

    /// - Throws: code 134050 when a delete rule forbids it.
    func delete(_ deletion: RowDeletion) throws -> BatchOutcome
}

/// What a batch has done.
package struct BatchOutcome {
    package var insertedCount = 0
    /// Rows that an update has changed, or an insertion because of their unique values.
    package var updatedCount = 0
    /// Rows that were asked to be deleted, without those that delete rules have deleted.
    package var deletedCount = 0
    // Empty unless they were wanted.
    package var inserted: [RowReference] = []
    package var updated: [RowReference] = []
    package var deleted: [RowReference] = []
    /// Rows that delete rules have deleted.
    var alsoDeleted: [RowReference] = []
    /// Rows that delete rules have taken a destination away from.
    var alsoUpdated: [RowReference] = []

    package init() {}
}

/// Why a batch was refused: two rows would have the same unique values. Nothing was written.
package struct UniquenessFailure: Error, @unchecked Sendable {
    // Sendable: thrown by a store and caught by the context that called it, on one thread.

    /// The attributes' names, and the values in the store's form, of the first constraint that fails; null stands for values that are not
    /// known, as nil is never a conflict.
    let constraint: [String]
    let values: [StoredValue]
    /// The entity that declares the constraint.
    let layout: EntityLayout
    /// The row that has the values; nil when both rows are of the batch.
    let existing: RowReference?

    package init(constraint: [String], values: [StoredValue], layout: EntityLayout, existing: RowReference?) {
        self.constraint = constraint
        self.values = values
        self.layout = layout
        self.existing = existing
    }
}

extension UniquenessFailure {
    /// What it means that a database refuses rows of an entity or its subentities because of a constraint; nil where it is none of theirs.
    ///
    /// - Parameter isNamed: whether the database has named a constraint as the one that fails.
    package init?(inFamilyOf layout: EntityLayout, _ mapping: SQLMapping, where isNamed: (SQLConstraint) -> Bool) {
        let constraints = layout.familyIndexes.lazy.flatMap { mapping.constraints(of: layout.model.layouts[$0]) }
        guard let constraint = constraints.first(where: isNamed) else { return nil }
        self.init(
            constraint: constraint.names, values: constraint.names.map { _ in .null }, layout: constraint.layout, existing: nil)
    }
}

extension RowUpdate {
    /// What it means that a database refuses the update because of unique values; nil where the update writes none.
    ///
    /// - Parameter isNamed: whether the database has named a constraint as the one that fails.
    package func uniquenessFailure(in mapping: SQLMapping, isNamed: (SQLConstraint) -> Bool) -> UniquenessFailure? {
        let layouts = mapping.layouts.layouts
        let candidates = rows.entity.familyIndexes.flatMap { mapping.constraints(of: layouts[$0]) }
        func slots(_ constraint: SQLConstraint) -> [Int?] { constraint.names.map { rows.entity.slotByPath[$0] } }
        let touched = candidates.filter { constraint in
            let slots = slots(constraint)
            return assignments.contains { slots.contains($0.slot) }
        }
        guard let constraint = touched.first(where: isNamed) ?? touched.first else { return nil }
        let values = slots(constraint).map { slot -> StoredValue in
            guard case .constant(let value)? = assignments.first(where: { $0.slot == slot })?.value else { return .null }
            return value
        }
        return UniquenessFailure(constraint: constraint.names, values: values, layout: constraint.layout, existing: nil)
    }
}
