extension NSManagedObjectModel {
    /// Creates the model that `@Entity` classes describe.
    ///
    /// The model has the entities of the classes, of their superclasses, and of the destination
    /// classes of their relationships. Each entity has the same version hash as in an equivalent
    /// `.xcdatamodel`. A declaration that no model can express, such as two properties with the
    /// same inverse, stops the program with a message.
    ///
    /// ```swift
    /// let model = NSManagedObjectModel(entities: Item.self, Supplier.self)
    /// ```
    public convenience init(entities: any EntityObject.Type...) {
        self.init(entityClasses: entities)
    }

    /// Creates the model that `@Entity` classes in a list describe, as `init(entities:)` does.
    ///
    /// Cost: O(number of properties); each call creates a new model.
    ///
    /// ```swift
    /// let classes: [any EntityObject.Type] = [Item.self, Supplier.self]
    /// let model = NSManagedObjectModel(entityClasses: classes)
    /// ```
    public convenience init(entityClasses: [any EntityObject.Type]) {
        let assembly = ModelAssembly(entityClasses)
        if !assembly.problems.isEmpty { preconditionFailure(assembly.problems.joined(separator: " ")) }
        self.init(assembly)
    }

    /// Creates the model that `@Entity` classes in a list describe.
    ///
    /// - Throws: `CocoaError.coreData` (134060) with the attribute options that no model can
    ///   express.
    convenience init(checking entityClasses: [any EntityObject.Type]) throws {
        let assembly = ModelAssembly(entityClasses)
        guard assembly.problems.isEmpty else {
            throw SafeCoreDataErrors.inexpressible(assembly.problems)
        }
        self.init(assembly)
    }

    private convenience init(_ assembly: ModelAssembly) {
        self.init()
        entities = assembly.entities
        assembly.addIndexes()
    }

    /// Returns the entity of a class: found by the class, or else by the entity name that the class
    /// declares. Nil if there is none.
    ///
    /// Cost: O(number of entities).
    ///
    /// ```swift
    /// let entity = model.entity(for: Item.self)
    /// ```
    public func entity(for objectClass: any EntityObject.Type) -> NSEntityDescription? {
        let declaration = objectClass.describeEntity()
        let className = String(describing: declaration.objectClass)
        let byClass = entities.filter { entity in
            guard let name = entity.managedObjectClassName else { return false }
            return name == className || name.hasSuffix("." + className)
        }
        return byClass.count == 1 ? byClass[0] : entitiesByName[declaration.name]
    }
}
