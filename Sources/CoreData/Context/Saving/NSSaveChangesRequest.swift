import Foundation

/// The changes that one save asks a store to write.
///
/// Custom incremental stores get it, and callers of the coordinator's `execute(_:with:)` create it.
///
/// A request in which all sets are nil only asks the store to write its metadata.
///
/// Source: <https://developer.apple.com/documentation/coredata/nssavechangesrequest>
///
/// ```swift
/// try coordinator.execute(
///     NSSaveChangesRequest(inserted: [item], updated: nil, deleted: nil, locked: nil),
///     with: context)
/// ```
open class NSSaveChangesRequest: NSPersistentStoreRequest {
    /// Objects that are not in the store yet.
    ///
    /// If there are none, a save passes empty sets to incremental stores; nil is the value given to
    /// the initializer.
    open private(set) var insertedObjects: Set<NSManagedObject>?
    /// Objects with changed values.
    open private(set) var updatedObjects: Set<NSManagedObject>?
    /// Objects to remove.
    open private(set) var deletedObjects: Set<NSManagedObject>?
    /// Unchanged objects whose rows must not have changed either (`detectConflicts(for:)`).
    open private(set) var lockedObjects: Set<NSManagedObject>?

    /// Creates a request to write these objects; nil stands for none.
    public init(
        inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?,
        deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
    ) {
        self.insertedObjects = insertedObjects
        self.updatedObjects = updatedObjects
        self.deletedObjects = deletedObjects
        self.lockedObjects = lockedObjects
        super.init()
    }

    /// Creates a request to write the metadata only.
    public required init() {
        super.init()
    }

    open override var requestType: NSPersistentStoreRequestType { .saveRequestType }

    override func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        throw CoreDataErrors.make(
            .persistentStoreUnsupportedRequestType,
            "A context does not execute save requests.",
            recovery: "Call save(), or give the request to the coordinator's execute(_:with:).")
    }

    override func answer(for context: NSManagedObjectContext) throws -> Any {
        try context.write(self)
        return [Any]()
    }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone)
        if let request = copy as? NSSaveChangesRequest {
            request.insertedObjects = insertedObjects
            request.updatedObjects = updatedObjects
            request.deletedObjects = deletedObjects
            request.lockedObjects = lockedObjects
        }
        return copy
    }
}
