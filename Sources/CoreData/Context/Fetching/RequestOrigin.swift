/// The request and context of a fetch, for a store whose class the program defines.
final class FetchOrigin {
    let request: NSPersistentStoreRequest
    let context: NSManagedObjectContext

    init(request: NSPersistentStoreRequest, context: NSManagedObjectContext) {
        self.request = request
        self.context = context
    }
}

/// The context and objects of a save, made for stores that need them (`RowSource.needsObjects`).
final class SaveOrigin {
    let context: NSManagedObjectContext
    // The objects behind the batch's changes and version checks, in the same order.
    let insertedObjects: [NSManagedObject]
    let updatedObjects: [NSManagedObject]
    let deletedObjects: [NSManagedObject]
    let checkedObjects: [NSManagedObject]

    init(
        context: NSManagedObjectContext, inserted: [NSManagedObject], updated: [NSManagedObject],
        deleted: [NSManagedObject],
        checked: [NSManagedObject]
    ) {
        self.context = context
        insertedObjects = inserted
        updatedObjects = updated
        deletedObjects = deleted
        checkedObjects = checked
    }
}

/// The new objects for which a store creates identities.
final class NewObjects {
    let objects: [NSManagedObject]

    init(_ objects: [NSManagedObject]) { self.objects = objects }
}
