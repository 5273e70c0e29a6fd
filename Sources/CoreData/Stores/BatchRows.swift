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

/// The result of a batch.
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
    var alsoDeleted: [RowReference] = []
    /// Rows that lost a destination through a delete rule.
    var alsoUpdated: [RowReference] = []

    package init() {}
}

/// The refusal of a batch because two rows would have the same unique values. Nothing was written.
package struct UniquenessFailure: Error, @unchecked Sendable {
    // Sendable: thrown by a store and caught by the context that called it, on one thread.

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

extension UniquenessFailure {
    /// Creates the failure for a violated constraint of an entity or its subentities.
    ///
    /// A database error reports it.
    ///
    /// Nil where the constraint is not one of theirs.
    ///
    /// - Parameter isNamed: whether the database named a constraint as the one that fails.
    package init?(inFamilyOf layout: EntityLayout, _ mapping: SQLMapping, where isNamed: (SQLConstraint) -> Bool) {
        let constraints = layout.familyIndexes.lazy.flatMap { mapping.constraints(of: layout.model.layouts[$0]) }
        guard let constraint = constraints.first(where: isNamed) else { return nil }
        self.init(
            constraint: constraint.names, values: constraint.names.map { _ in .null }, layout: constraint.layout, existing: nil)
    }
}

extension RowUpdate {
    /// Returns the failure for a database error that reports a uniqueness violation of this update.
    ///
    /// Nil where the update writes no unique values.
    ///
    /// - Parameter isNamed: whether the database named a constraint as the one that fails.
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
