/// Where a fetch comes from: what a store whose class is the program's own is told beside the plan.
final class FetchOrigin {
    let request: NSPersistentStoreRequest
    let context: NSManagedObjectContext

    init(request: NSPersistentStoreRequest, context: NSManagedObjectContext) {
        self.request = request
        self.context = context
    }
}

/// Where a save comes from, made for stores that ask for it (`RowSource.needsObjects`).
final class SaveOrigin {
    let context: NSManagedObjectContext
    // The objects behind the batch's changes and version checks, in the same order.
    let insertedObjects: [NSManagedObject]
    let updatedObjects: [NSManagedObject]
    let deletedObjects: [NSManagedObject]
    let checkedObjects: [NSManagedObject]

    init(
        context: NSManagedObjectContext, inserted: [NSManagedObject], updated: [NSManagedObject], deleted: [NSManagedObject],
        checked: [NSManagedObject]
    ) {
        self.context = context
        insertedObjects = inserted
        updatedObjects = updated
        deletedObjects = deleted
        checkedObjects = checked
    }
}

/// The new objects that a store gives identities to.
final class NewObjects {
    let objects: [NSManagedObject]

    init(_ objects: [NSManagedObject]) { self.objects = objects }
}
