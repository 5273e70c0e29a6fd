// The uniqueness constraints that apply to the rows of an entity.
extension EntityLayout {
    /// A uniqueness constraint, and the entity that declares it.
    struct UniquenessConstraint {
        let layout: EntityLayout
        /// The names as they are declared.
        let names: [String]

        /// The paths of its properties; a composite attribute is replaced by its elements.
        var paths: [String] { layout.constrainedPaths(names) }
    }

    /// The constraints of the entity, those of its superentities, and those that other entities of
    /// its hierarchy declare on properties that it inherits.
    ///
    /// The rows of a hierarchy are in one table, so an index applies to all of them.
    var uniquenessConstraints: [UniquenessConstraint] {
        var result: [UniquenessConstraint] = []
        var ancestors: [EntityLayout] = []
        var next: EntityLayout? = self
        while let current = next {
            ancestors.append(current)
            result += current.entity.uniquenessConstraintNames.map { UniquenessConstraint(layout: current, names: $0) }
            next = current.superIndex >= 0 ? model.layouts[current.superIndex] : nil
        }
        for other in model.layouts[rootIndex].familyIndexes.map({ model.layouts[$0] }) where !isKind(of: other) {
            guard let common = ancestors.first(where: { other.isKind(of: $0) }) else { continue }
            for names in other.entity.uniquenessConstraintNames {
                let constraint = UniquenessConstraint(layout: other, names: names)
                // Attributes of the same name in two branches of a hierarchy are different
                // attributes.
                if constraint.paths.allSatisfy({ common.slotByPath[$0] != nil }) { result.append(constraint) }
            }
        }
        return result
    }
}
