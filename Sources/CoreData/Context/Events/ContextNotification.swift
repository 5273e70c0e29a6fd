import Foundation
import Synchronization

/// The key of inserted objects in a notification's user info: a set of managed objects.
public let NSInsertedObjectsKey = "inserted"
/// The key of updated objects.
public let NSUpdatedObjectsKey = "updated"
/// The key of a pinned context's query generation token after its save, in the notifications of the
/// save.
///
/// The token refers to the state of the stores that is current when a context first reads with it.
/// That state has the saved changes.
public let NSManagedObjectContextQueryGenerationKey = "NSManagedObjectContextQueryGenerationKey"
/// The key of deleted objects.
public let NSDeletedObjectsKey = "deleted"
/// The key of objects that were refreshed.
public let NSRefreshedObjectsKey = "refreshed"
/// The key of objects that were invalidated.
public let NSInvalidatedObjectsKey = "invalidated"
/// Present when all objects of the context were invalidated by a reset.
public let NSInvalidatedAllObjectsKey = "invalidatedAll"
/// The key of the IDs of inserted objects: a set of object IDs.
public let NSInsertedObjectIDsKey = "inserted_objectIDs"
/// The key of the IDs of updated objects.
public let NSUpdatedObjectIDsKey = "updated_objectIDs"
/// The key of the IDs of deleted objects.
public let NSDeletedObjectIDsKey = "deleted_objectIDs"
/// The key of the IDs of refreshed objects.
public let NSRefreshedObjectIDsKey = "refreshed_objectIDs"
/// The key of the IDs of invalidated objects. No notification has it: see
/// `NSInvalidatedObjectsKey`.
public let NSInvalidatedObjectIDsKey = "invalidated_objectIDs"

/// A notification that carries sets of objects or IDs. It knows whether an observer may exist.
///
/// The sets of a large change cost more than all other work of the context on it. A notification
/// centre does not report whether it has observers, but an observer needs the notification's name:
/// as long as the program has never asked for the name, large changes are not posted. Small ones
/// always are, so that a name written as a string works in tests and tools.
final class ContextNotification: Sendable {
    static let didChange = ContextNotification("NSObjectsChangedInManagingContextNotification")
    static let didSave = ContextNotification("NSManagingContextDidSaveChangesNotification")
    static let didSaveIDs = ContextNotification("NSManagingContextDidSaveChangesObjectIDsNotification")
    static let didMerge = ContextNotification("NSManagedObjectContextDidMergeChangesObjectIDsNotification")

    private static let largeChange = 1000

    let name: Notification.Name
    private let wasAskedFor = Atomic(false)

    private init(_ name: String) { self.name = Notification.Name(name) }

    /// The name, for the program's own use. Reading it marks the notification as wanted.
    var nameForProgram: Notification.Name {
        wasAskedFor.store(true, ordering: .releasing)
        return name
    }

    /// Whether to post a change of the given number of objects.
    func isWanted(forObjects count: Int) -> Bool {
        count < Self.largeChange || wasAskedFor.load(ordering: .acquiring)
    }
}
