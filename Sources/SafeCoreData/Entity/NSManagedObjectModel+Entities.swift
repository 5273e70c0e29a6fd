extension NSManagedObjectModel {
    /// Makes the model that `@Entity` classes describe.
    ///
    /// It has the entities of the classes, of their superclasses, and of the classes their relationships lead to. Entity for
    /// entity it has the version hashes of the `.xcdatamodel` that one would draw. What no model can express, such as two
    /// properties that claim one inverse, stops the program with a message.
    ///
    /// ```swift
    /// let model = NSManagedObjectModel(entities: Item.self, Supplier.self)
    /// ```
    public convenience init(entities: any EntityObject.Type...) {
        self.init(entityClasses: entities)
    }

    /// Makes the model that `@Entity` classes in a list describe, as `init(entities:)` does.
    ///
    /// Cost: O(number of properties); each call makes a new model.
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

    /// Makes the model that `@Entity` classes in a list describe.
    ///
    /// - Throws: `CocoaError.coreData` (134060) with what no model can express of the attributes' options.
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

    /// The entity that a class stands for: by its class, or else by the name that the class gives it. Nil when there is
    /// none.
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
