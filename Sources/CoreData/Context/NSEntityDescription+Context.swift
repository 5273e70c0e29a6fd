import Foundation

extension NSEntityDescription {
    /// Returns the entity with a name in the model of a context's coordinator; nil if there is
    /// none.
    ///
    /// Cost: O(1).
    ///
    /// ```swift
    /// let entity = NSEntityDescription.entity(forEntityName: "Item", in: context)
    /// ```
    public class func entity(forEntityName name: String, in context: NSManagedObjectContext) -> NSEntityDescription? {
        if context.modelLayout == nil { context.followParent() }
        guard let model = context.modelLayout else {
            preconditionFailure(
                "The context\(context.nameInMessages) has no persistent store coordinator, so no entity can be found "
                    + "in it."
            )
        }
        return model.layoutByName[name]?.entity
    }

    /// Creates an object of an entity and inserts it into a context. The result has the class that
    /// the entity names.
    ///
    /// An unknown name is a programming error. It stops the program with a message that lists the
    /// model's entities.
    ///
    /// ```swift
    /// let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
    /// item.setValue("Bolt", forKey: "name")
    /// ```
    @discardableResult
    public class func insertNewObject(forEntityName name: String, into context: NSManagedObjectContext)
        -> NSManagedObject
    {
        guard let entity = entity(forEntityName: name, in: context), let layout = entity.cachedLayout else {
            preconditionFailure(
                "The context's model has no entity named \"\(name)\" "
                    + "(\(context.modelLayout?.layouts.map(\.name).joined(separator: ", ") ?? ""))."
            )
        }
        return layout.managedObjectClass.init(entity: entity, insertInto: context)
    }

    /// Returns the only entity of a context's model that has the given class.
    ///
    /// - Throws: `CocoaError.coreData` (134060) when there is none, or more than one.
    package class func entity(
        of objectClass: NSManagedObject.Type, in context: NSManagedObjectContext
    ) throws -> NSEntityDescription {
        let coordinator = try context.requireCoordinator("find the entity of \(objectClass)")
        let model = coordinator.modelLayout
        let candidates = model.layoutsByClass[ObjectIdentifier(objectClass)] ?? []
        if candidates.count == 1 { return model.layouts[candidates[0]].entity }
        throw CoreDataErrors.noSingleEntity(
            of: objectClass, candidates: candidates.map { model.layouts[$0].name }, all: model.layouts.map(\.name))
    }
}
