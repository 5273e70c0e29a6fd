/// An error that lists all differences between a model and the `@Entity` classes.
///
/// ```swift
/// do { try model.validate(entities: Item.self) } catch let error as EntityMismatch {
///     print(error.differences)
/// }
/// ```
public struct EntityMismatch: LocalizedError, CustomStringConvertible, Sendable {
    /// One sentence for each difference, such as
    /// `Item.name: the class says required, the entity optional`.
    public let differences: [String]

    public var description: String {
        "The model does not fit the classes:\n" + differences.map { "- \($0)" }.joined(separator: "\n")
    }

    public var errorDescription: String? { description }
}

extension NSManagedObjectModel {
    /// Checks that a model, usually one read from a file, has the entities that classes describe.
    ///
    /// Coordinators check only the classes that the model's entities name; this function also
    /// checks classes that they do not name.
    ///
    /// ```swift
    /// let model = try NSManagedObjectModel(reading: url)
    /// try model.validate(entities: Item.self, Supplier.self)
    /// ```
    ///
    /// - Throws: `EntityMismatch` with all differences of name, type, optionality and
    ///   relationships.
    public func validate(entities: any EntityObject.Type...) throws {
        try requireFit(of: entities)
    }

    /// Checks the model as `validate(entities:)` does, and sets the classes of its entities. For
    /// models whose entities name no class or another one.
    ///
    /// The model must not be in use yet.
    ///
    /// ```swift
    /// let model = try NSManagedObjectModel(reading: url)      // whose entities name no class
    /// try model.attach(entities: Item.self, Supplier.self)
    /// let stack = DataStack(model: model, store: .inMemory)
    /// ```
    ///
    /// - Throws: `EntityMismatch` with all differences; then no class is set.
    public func attach(entities: any EntityObject.Type...) throws {
        try requireFit(of: entities)
        for objectClass in entities {
            entity(for: objectClass)?.setManagedObjectClass(objectClass.describeEntity().objectClass)
        }
    }

    private func requireFit(of classes: [any EntityObject.Type]) throws {
        let differences = classes.flatMap { objectClass -> [String] in
            if let entity = entity(for: objectClass) { return objectClass._differences(from: entity) }
            let known = entities.compactMap(\.name).sorted().joined(separator: ", ")
            return ["\(objectClass.describeEntity().name): the model has no such entity (\(known))"]
        }
        guard differences.isEmpty else { throw EntityMismatch(differences: differences) }
    }
}
