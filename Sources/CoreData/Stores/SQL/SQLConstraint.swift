/// A uniqueness constraint of an entity.
package struct SQLConstraint {
    /// The paths of its properties, with the elements of a composite attribute in its place.
    package let names: [String]
    package let columns: [String]
    /// The entity that declares it.
    package let layout: EntityLayout
    /// What it is called in the database.
    package let index: String
}

extension SQLMapping {
    /// The constraints that apply to an entity: its own, those of its superentities, then those of others on what it inherits, too.
    package func constraints(of layout: EntityLayout) -> [SQLConstraint] {
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
