extension NSManagedObject {
    /// The context that the object is registered in; nil after the context was reset or
    /// deallocated.
    public final var managedObjectContext: NSManagedObjectContext? {
        if !flags.isDisjoint(with: [.deletionSaved, .invalid]) { return nil }
        return registeredContext
    }

    /// Inserts a new object into its context without asking it for its initial values.
    ///
    /// Generated initializers call this. They take the values as arguments.
    public final func _insert(into context: NSManagedObjectContext) {
        context.insertNew(self, initialValues: .hidden)
    }

    /// Returns the only entity of the context's model that has this class. Stops the program if
    /// there is none or more than one.
    public static func _entity(in context: NSManagedObjectContext) -> NSEntityDescription {
        if let last = context.lastInsertedClass, last.objectClass == ObjectIdentifier(self) {
            return last.entity.object
        }
        if context.modelLayout == nil { context.followParent() }
        guard let model = context.modelLayout else {
            preconditionFailure("\(self)(context:) needs a context with a persistent store coordinator.")
        }
        let candidates = model.layoutsByClass[ObjectIdentifier(self)] ?? []
        guard candidates.count == 1 else {
            let names = candidates.map { model.layouts[$0].name }.joined(separator: ", ")
            preconditionFailure(
                candidates.isEmpty
                    ? "No entity of the context's model has the class \(self). Its entities are "
                        + model.layouts.map(\.name).joined(separator: ", ") + "."
                        + ManagedObjectClasses.misfits(of: self, in: model.layouts.map(\.entity)).map { "\n- \($0)" }
                        .joined()
                    : "The class \(self) stands for several entities (\(names)): use init(entity:insertInto:).")
        }
        let entity = model.layouts[candidates[0]].entity
        context.lastInsertedClass = (ObjectIdentifier(self), Unretained(entity))
        return entity
    }
}
