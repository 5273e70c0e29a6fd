// Which uniqueness constraints rows of an entity are subject to.
extension EntityLayout {
    /// A uniqueness constraint, and the entity that declares it.
    struct UniquenessConstraint {
        let layout: EntityLayout
        /// As they are declared.
        let names: [String]

        /// The paths of its properties, with the elements of a composite attribute in its place.
        var paths: [String] { layout.constrainedPaths(names) }
    }

    /// The constraints of the entity, those of its superentities, and those that others of its hierarchy have on what it inherits, too: the
    /// rows of a hierarchy lie in one table, and an index is on all of them.
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
                // Attributes of the same name in two branches of a hierarchy are two.
                if constraint.paths.allSatisfy({ common.slotByPath[$0] != nil }) { result.append(constraint) }
            }
        }
        return result
    }
}
