/// The identity map of one context, and what its objects ask of the context.
class ObjectRegistry: IdentityMap {
    // The settings are used on the context's queue.

    /// Whether the context's staleness interval limits how long rows are valid.
    final var checksAge = false
    /// Whether the context has an undo manager, which records untracked changes, too.
    final var tracksFormerValues = false
    /// Whether a save is validating: of changed objects, it checks only the changed properties.
    final var isValidatingSave = false

    // Overridden by the context's own registry, which also does nothing once the context is gone.

    /// The token that IDs need of a store that was released.
    func formerStoreToken(number: Int) -> StoreToken? { knownToken(ofStore: number) }

    /// Loads the row of a fault. The slot is the one whose value is needed; -1 for none.
    ///
    /// - Returns: false if there is no context.
    func fulfillFault(_ object: NSManagedObject, triggeredBy slot: Int) -> Bool { false }

    /// Loads the row of a fault for a caller that can throw.
    ///
    /// - Returns: false if there is no row, or no context.
    func load(_ object: NSManagedObject) throws -> Bool { false }

    /// The reason why a value could not be read since the last save.
    var readFailure: (any Error)? { nil }

    /// The object of a row in the same store as another object; nil if there is no context.
    func object(for reference: RowReference, near source: NSManagedObject) -> NSManagedObject? { nil }

    /// The object that a to-one relationship of a committed row refers to; nil if there is no
    /// context.
    func destination(_ reference: RowReference, of source: NSManagedObject, slot: Int) -> NSManagedObject? { nil }

    /// The stored members of a to-many relationship.
    func relatedObjects(to object: NSManagedObject, slot: Int) -> RelatedObjects { .noContext }

    /// The value of a fetched property.
    func fetchedPropertyValue(of object: NSManagedObject, _ slot: Int) -> Any? { nil }

    /// Keeps the state of an object before it changes in a new event.
    func keepFormerState(of object: NSManagedObject) {}

    /// The state that notified observers see of an object that has changed since.
    func toldState(of object: NSManagedObject) -> ToldState? { nil }

    /// Whether observers are being notified of an event.
    var isTellingChanges: Bool { false }

    /// Records that an object changed.
    func noteChanged(_ object: NSManagedObject) {}

    /// Records that a value was set without tracking. Called only if `tracksFormerValues` is true.
    func noteUntracked(_ object: NSManagedObject, slot: Int) {}

    /// Records that an untracked value is a change. Called only if `tracksFormerValues` is true.
    func noteTracked(_ object: NSManagedObject, slot: Int) {}

    /// Reloads a member whose row was read before others added it to a relationship.
    func readAgain(_ destination: NSManagedObject, ifOthersLedItTo object: NSManagedObject, _ slot: PropertySlot) {}

    /// Records a transient value before it is changed. Called only if `tracksFormerValues` is true.
    func willChangeTransient(_ object: NSManagedObject, slot: Int) {}

    /// The permanent ID of a new object, if the context assigns them.
    func permanentID(ofNew object: NSManagedObject) -> NSManagedObjectID? { nil }

    /// Records the temporary ID that a new object was given.
    func noteTemporaryID(_ objectID: NSManagedObjectID, of object: NSManagedObject) {}

    /// Stops the program if the calling thread does not run work of the context.
    func checkQueue(of object: NSManagedObject, slot: Int) {}
}

/// The result of reading a to-many relationship from a store.
enum RelatedObjects {
    case noContext
    /// Reading failed.
    case unknown
    /// In order if the relationship is ordered. Some may be deleted if `mayBeDeleted` is true.
    case objects(ContiguousArray<NSManagedObject>, mayBeDeleted: Bool)
}
