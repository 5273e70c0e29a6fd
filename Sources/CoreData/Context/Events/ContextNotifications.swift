import Foundation

extension NSManagedObjectContext {
    /// Posted when pending changes were processed: sets of objects under `NSInsertedObjectsKey` and
    /// its siblings.
    ///
    /// ```swift
    /// for await change in NotificationCenter.default.notifications(
    ///     named: NSManagedObjectContext.didChangeObjectsNotification, object: context)
    /// {
    ///     print((change.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject>)?.count ?? 0)
    /// }
    /// ```
    public static var didChangeObjectsNotification: Notification.Name { ContextNotification.didChange.nameForProgram }
    /// Posted before a save, without user info.
    public static let willSaveObjectsNotification = Notification.Name("NSManagingContextWillSaveChangesNotification")
    /// Posted after a save: sets of objects under inserted, updated and deleted. Use it on the
    /// context's queue.
    public static var didSaveObjectsNotification: Notification.Name { ContextNotification.didSave.nameForProgram }
    /// Posted after a save: sets of object IDs, which may cross threads.
    ///
    /// ```swift
    /// let name = NSManagedObjectContext.didSaveObjectIDsNotification
    /// for await save in NotificationCenter.default.notifications(named: name, object: other) {
    ///     await context.perform { context.mergeChanges(fromContextDidSave: save) }
    /// }
    /// ```
    public static var didSaveObjectIDsNotification: Notification.Name { ContextNotification.didSaveIDs.nameForProgram }
    /// Posted after changes of another context were merged: sets of object IDs.
    public static var didMergeChangesObjectIDsNotification: Notification.Name {
        ContextNotification.didMerge.nameForProgram
    }

    /// Keys of the context's notifications.
    ///
    /// ```swift
    /// let key = NSManagedObjectContext.NotificationKey.insertedObjectIDs.rawValue
    /// let inserted = save.userInfo?[key] as? Set<NSManagedObjectID>
    /// ```
    public enum NotificationKey: String, Sendable {
        /// The context that posts the notification, which is also its `object`. Missing in
        /// notifications of a reset and before a save.
        case sourceContext = "managedObjectContext"
        case queryGeneration = "NSManagedObjectContextQueryGenerationKey"
        case invalidatedAllObjects = "invalidatedAll"
        case insertedObjects = "inserted"
        case updatedObjects = "updated"
        case deletedObjects = "deleted"
        case refreshedObjects = "refreshed"
        case invalidatedObjects = "invalidated"
        case insertedObjectIDs = "inserted_objectIDs"
        case updatedObjectIDs = "updated_objectIDs"
        case deletedObjectIDs = "deleted_objectIDs"
        case refreshedObjectIDs = "refreshed_objectIDs"
        case invalidatedObjectIDs = "invalidated_objectIDs"
    }
}

extension NSNotification.Name {
    /// Posted when pending changes were processed.
    public static var NSManagedObjectContextObjectsDidChange: Notification.Name {
        NSManagedObjectContext.didChangeObjectsNotification
    }
    /// Posted before a save.
    public static let NSManagedObjectContextWillSave = NSManagedObjectContext.willSaveObjectsNotification
    /// Posted after a save.
    public static var NSManagedObjectContextDidSave: Notification.Name {
        NSManagedObjectContext.didSaveObjectsNotification
    }
    /// Posted after a save, with object IDs.
    public static var NSManagedObjectContextDidSaveObjectIDs: Notification.Name {
        NSManagedObjectContext.didSaveObjectIDsNotification
    }
    /// Posted after a merge, with object IDs.
    public static var NSManagedObjectContextDidMergeChangesObjectIDs: Notification.Name {
        NSManagedObjectContext.didMergeChangesObjectIDsNotification
    }
}
