import Foundation
import Synchronization

/// The base class of stores that read single records on demand: a web service, a database of
/// another kind.
///
/// A subclass overrides `loadMetadata()`, `execute(_:with:)`, `newValuesForObject(with:with:)`,
/// `newValue(forRelationship:forObjectWith:with:)` and `obtainPermanentIDs(for:)`.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsincrementalstore>
///
/// Records that were read stay in the row cache. For each object that is not in the cache,
/// `newValuesForObject(with:with:)` is called.
///
/// ```swift
/// final class ServiceStore: NSIncrementalStore, @unchecked Sendable {
///     override func loadMetadata() throws {
///         metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: "service"]
///     }
///     override func execute(
///         _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
///     ) throws -> Any {
///         guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult> else {
///             return try super.execute(request, with: context)
///         }
///         return try numbers(for: fetch).map {
///             context!.object(with: newObjectID(for: fetch.entity!, referenceObject: $0))
///         }
///     }
/// }
/// ```
open class NSIncrementalStore: NSPersistentStore, CustomStore, @unchecked Sendable {
    // Sendable: the state of this class is behind mutexes; a subclass guards its own state.

    let referenceTable = ReferenceTable()
    // Guards the rows, which are made once.
    private let storedRows = Mutex<IncrementalRows?>(nil)

    /// Returns an identifier that no other store has, for a store at a URL whose `loadMetadata()`
    /// sets no `NSStoreUUIDKey`.
    ///
    /// It is part of the URI of each of the store's objects. A value that is not a text is replaced
    /// by its description.
    open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

    override class func newIdentifier(at url: URL) -> String {
        let identifier = identifierForNewStore(at: url)
        return identifier as? String ?? "\(identifier)"
    }

    /// Sets `metadata`, at least `NSStoreTypeKey`, and checks that the store can be used.
    open override func loadMetadata() throws {
        throw missing("loadMetadata()", .persistentStoreOpen)
    }

    /// Handles a request.
    ///
    /// - Parameters:
    ///   - request: An `NSFetchRequest<NSFetchRequestResult>`, whatever result type the program's
    ///     own request was declared for (a request of a subclass keeps its class), an
    ///     `NSSaveChangesRequest` (one with nil sets only asks to write the metadata), or one of
    ///     the three batch requests. The class passes requests that it does not know to `super`,
    ///     which throws 134091.
    ///   - context: The context that makes the request; nil if the coordinator itself makes it.
    /// - Returns: For a fetch, an array according to its result type (objects made with the
    ///   context's `object(with:)`, object IDs, dictionaries, or one number). For a save, an empty
    ///   array. For a batch request, a value according to its result type: a Bool, an array of
    ///   object IDs, or a number, by itself or in the request's kind of `NSPersistentStoreResult`.
    /// - Throws: The error that prevents handling the request, which the caller of the request
    ///   receives; code 134091 without an override.
    open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        throw error(
            .persistentStoreUnsupportedRequestType,
            "The store class \(Swift.type(of: self)) does not support requests of the type \(request.requestType).")
    }

    /// Returns the values of an object that is used for the first time.
    ///
    /// ```swift
    /// override func newValuesForObject(
    ///     with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    /// ) throws -> NSIncrementalStoreNode {
    ///     guard let record = record(number: referenceObject(for: objectID)) else {
    ///         throw CocoaError(.managedObjectReferentialIntegrity)
    ///     }
    ///     return NSIncrementalStoreNode(
    ///         objectID: objectID, withValues: record.values, version: record.version)
    /// }
    /// ```
    ///
    /// - Throws: `CocoaError.managedObjectReferentialIntegrity` if the record does not exist.
    open func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        throw missing("newValuesForObject(with:with:)")
    }

    /// Returns the destinations of a relationship: an object ID or `NSNull` if it is to-one, a
    /// collection of object IDs if it is to-many.
    ///
    /// For a to-one relationship it is called when a record is read whose node leaves the
    /// relationship out, so it must not read the object that it is called for. Without an override
    /// to-one relationships have no destination.
    ///
    /// ```swift
    /// override func newValue(
    ///     forRelationship relationship: NSRelationshipDescription,
    ///     forObjectWith objectID: NSManagedObjectID,
    ///     with context: NSManagedObjectContext?
    /// ) throws -> Any {
    ///     let numbers = related(to: referenceObject(for: objectID), by: relationship.name)
    ///     return numbers.map {
    ///         newObjectID(for: relationship.destinationEntity!, referenceObject: $0)
    ///     }
    /// }
    /// ```
    ///
    /// - Throws: the error that prevents reading the record; code 134070 for a to-many relationship
    ///   without an override.
    open func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        if !relationship.isToMany { return NSNull() }
        throw missing("newValue(forRelationship:forObjectWith:with:)")
    }

    /// Returns permanent IDs for new objects, in the same order. Called before the save request
    /// that inserts them.
    ///
    /// ```swift
    /// override func obtainPermanentIDs(
    ///     for array: [NSManagedObject]
    /// ) throws -> [NSManagedObjectID] {
    ///     array.map { newObjectID(for: $0.entity, referenceObject: UUID()) }
    /// }
    /// ```
    ///
    /// - Throws: the error that prevents saving the objects; code 134070 without an override.
    open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        throw missing("obtainPermanentIDs(for:)")
    }

    /// Called when a context begins to use objects, once for each context, so that the store may
    /// keep their records at hand.
    ///
    /// Called on the context's queue, also within `execute(_:with:)` if that makes the objects: it
    /// must not wait for a lock that is held there.
    open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}

    /// Called when a context no longer uses objects: they were deallocated, their deletion was
    /// saved, or the context was reset.
    ///
    /// May be called on any thread.
    open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

    override var observesUse: Bool { true }

    override func useBegan(of objectIDs: [NSManagedObjectID]) {
        managedObjectContextDidRegisterObjects(with: objectIDs)
    }

    override func useEnded(of objectIDs: [NSManagedObjectID]) {
        managedObjectContextDidUnregisterObjects(with: objectIDs)
    }

    /// False: the subclass decides which keys requests may contain.
    override var knowsKeysOfModelOnly: Bool { false }

    override var namesRowsByKey: Bool { false }

    override func answer(_ request: AnyObject, for context: AnyObject) throws -> Any {
        guard let request = request as? NSPersistentStoreRequest, let context = context as? NSManagedObjectContext
        else {
            return try super.answer(request, for: context)
        }
        return try execute(request, with: context)
    }

    // MARK: - Object IDs

    /// The ID of the object whose record a reference object identifies: a number, string or UUID.
    ///
    /// ```swift
    /// let objectID = store.newObjectID(for: book, referenceObject: 7)
    /// let number = store.referenceObject(for: objectID)
    /// ```
    open func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
        let layout = layout(of: entity)
        return NSManagedObjectID(key: referenceTable.key(for: data, of: layout), layout: layout, store: self)
    }

    /// The reference object that identifies an object's record.
    ///
    /// - Precondition: the ID belongs to this store.
    open func referenceObject(for objectID: NSManagedObjectID) -> Any {
        reference(of: objectID)
    }

    override func referenceText(forKey key: Int64, of entity: EntityLayout) -> String {
        referenceTable.uriText(for: key, of: entity)
    }

    override func key(forReferenceText text: String, of entity: EntityLayout) -> Int64? {
        referenceTable.key(forURIText: text, of: entity)
    }

    // MARK: - For the coordinator

    override var snapshotStore: (any SnapshotStore)? { storedRows.withLock { $0 } }

    override func prepareForRequests() throws {
        guard let modelLayout else { return }
        let rows = IncrementalRows(layouts: modelLayout, store: self)
        storedRows.withLock { $0 = rows }
    }
}
