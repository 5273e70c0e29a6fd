/// A uniqueness constraint of an entity.
struct SQLConstraint {
    /// The paths of its properties, with the elements of a composite attribute in its place.
    let names: [String]
    let columns: [String]
    /// The entity that declares it.
    let layout: EntityLayout
    /// What it is called in the database.
    let index: String
}

extension SQLMapping {
    /// The constraints that apply to an entity: its own, then those of its superentities.
    func constraints(of layout: EntityLayout) -> [SQLConstraint] {
        var result: [SQLConstraint] = []
        var candidate: EntityLayout? = layout
        let schema = SQLSchema(mapping: self)
        while let current = candidate {
            if let entity = entity(current) {
                for names in current.entity.uniquenessConstraintNames {
                    guard let index = schema.uniqueIndex(names, of: entity) else { continue }
                    result.append(
                        SQLConstraint(
                            names: current.constrainedPaths(names), columns: index.elements.map(\.column), layout: current,
                            index: schemaNames.name(of: index, dialect)))
                }
            }
            candidate = current.superIndex >= 0 ? layouts.layouts[current.superIndex] : nil
        }
        return result
    }
}
