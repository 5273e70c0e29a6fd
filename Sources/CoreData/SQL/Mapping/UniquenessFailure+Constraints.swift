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
            constraint: constraint.names, values: constraint.names.map { _ in .null }, layout: constraint.layout,
            existing: nil)
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
            guard case .constant(let value)? = assignments.first(where: { $0.slot == slot })?.value else {
                return .null
            }
            return value
        }
        return UniquenessFailure(constraint: constraint.names, values: values, layout: constraint.layout, existing: nil)
    }
}
