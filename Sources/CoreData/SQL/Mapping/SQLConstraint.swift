/// A uniqueness constraint of an entity.
package struct SQLConstraint {
    /// The key paths of its properties; a composite attribute is replaced by its elements.
    package let names: [String]
    package let columns: [String]
    /// The entity that declares it.
    package let layout: EntityLayout
    /// The name of its index in the database.
    package let index: String
}

extension SQLMapping {
    /// Returns the constraints that apply to an entity: its own, those of its superentities, and
    /// those that other entities of the hierarchy declare on properties that it inherits, too.
    package func constraints(of layout: EntityLayout) -> [SQLConstraint] {
        let schema = SQLSchema(mapping: self)
        return layout.uniquenessConstraints.compactMap { constraint in
            guard let entity = entity(constraint.layout), let index = schema.uniqueIndex(constraint.names, of: entity)
            else {
                return nil
            }
            return SQLConstraint(
                names: constraint.paths, columns: index.elements.map(\.column), layout: constraint.layout,
                index: schemaNames.name(of: index, dialect))
        }
    }
}
