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
    /// The constraints that apply to an entity: its own, those of its superentities, then those of others on what it inherits, too.
    func constraints(of layout: EntityLayout) -> [SQLConstraint] {
        let schema = SQLSchema(mapping: self)
        return layout.uniquenessConstraints.compactMap { constraint in
            guard let entity = entity(constraint.layout), let index = schema.uniqueIndex(constraint.names, of: entity) else {
                return nil
            }
            return SQLConstraint(
                names: constraint.paths, columns: index.elements.map(\.column), layout: constraint.layout,
                index: schemaNames.name(of: index, dialect))
        }
    }
}
