import Foundation

/// A scratch pad of managed objects: fetches them, tracks their changes, and saves or discards
/// these together.
///
/// A context works on one queue: the main queue or a private one. Use it and its objects inside
/// `perform` or `performAndWait`. It keeps strong references only to objects with unsaved changes.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext>
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
    // Sendable: a context is confined to its queue by contract, as on Apple's platforms. The parts
    // that other threads may use (`perform`, the registry) are thread-safe themselves.

    let gate: ContextGate
    /// A reference to the context that does not keep it alive.
    final let reference = BackReference<NSManagedObjectContext>()
    /// The kind of queue that runs the context's work.
    public let concurrencyType: NSManagedObjectContextConcurrencyType
    private(set) var registry: ContextRegistry!
    let sharedRegistry = SharedRegistry()

    // MARK: - State

    // This state is visible to this folder and its subfolders, whose extensions share it; parts
    // with rules of their own keep their fields private. Other folders add and remove themselves as
    // `listeners`, and set `readFailure` when they read and cannot throw.
    //
    // Unchecked exclusivity, where a table or list is used for each object: a context is confined
    // to its queue, and nothing that runs during a change of one uses the context.

    /// The pending changes, and the changes of the current event.
    let changes = ChangeTracker()
    /// The internal work in progress.
    var activity = ContextActivity()
    /// Whether the class is a subclass that overrides no fetch.
    package final var isPlainSubclass = false
    /// The class that `init(context:)` was last called on, and its entity, which the registry's
    /// model keeps alive: objects come in rows.
    var lastInsertedClass: (objectClass: ObjectIdentifier, entity: Unretained<NSEntityDescription>)?
    /// The temporary IDs and assigned stores of new objects.
    @exclusivity(unchecked) var newObjects = NewObjectTable()
    /// Whether new objects get permanent IDs when they are first asked for their ID. For contexts
    /// whose IDs outlive them.
    package final var handsOutPermanentIDs = false
    /// Objects whose `prepareForDeletion()` is running, the innermost last.
    @exclusivity(unchecked) var preparedForDeletion: ContiguousArray<NSManagedObject> = []
    /// Objects that `detectConflicts(for:)` named.
    var conflictChecks: Set<NSManagedObject> = []
    /// All objects of a context that keeps them alive; empty for other contexts.
    var retained: Set<NSManagedObject> = []
    /// The last error since the last save of a read that could not throw: the next save throws it.
    var readFailure: (any Error)?
    /// The batches of fetches that were loaded most recently.
    var recentBatches = RecentBatches()
    /// The relationships that were read last.
    var siblingFaults = SiblingFaults()
    /// Whether a relationship is loaded for many objects at once when a program reads it for one
    /// object after the other. True by default.
    ///
    /// The first two of adjacent objects in a fetch's result load it by themselves. Then it is
    /// loaded for the objects after them with one request to the store, about 8,000 rows at a time,
    /// and its members are those at that time. Stores in memory and custom stores load each
    /// relationship by itself, and so does a context with a `stalenessInterval`.
    public final var batchesFaults = true
    /// The clock for the age of rows. Tests replace it.
    var currentTime: () -> UInt64 = ReadTime.now
    /// The rows of the parent context, by the number of their store.
    @exclusivity(unchecked) var parentRows: [Int: ParentRows] = [:]
    /// The state of the stores that the context is pinned to.
    var generation: QueryGeneration?
    /// The state before the current event; nil without an undo manager.
    var journal: ChangeJournal?
    /// The observer that the undo manager calls before it closes a group; nil without one.
    var checkpointObserver: (any NSObjectProtocol)?
    /// The contexts whose parent this is.
    let children = ClientList()
    /// The children that merge changes saved by other contexts.
    let mergingChildren = ClientList()
    /// Whether the context is reading changes that another context or program has saved.
    let rereading = RereadingTurn()
    /// How often the context has adopted rows (by a save or merge) or released all objects.
    var takenOverCount = 0
    /// The listeners of the context's events.
    @exclusivity(unchecked) var listeners = ContextListeners()

    /// Creates a context that works on the main queue or on a private one.
    public init(concurrencyType: NSManagedObjectContextConcurrencyType) {
        self.concurrencyType = concurrencyType
        gate = concurrencyType == .mainQueueConcurrencyType ? .main : ContextGate()
        super.init()
        reference.lead(to: self)
        registry = sharedRegistry.use(ContextRegistry(context: self, coordinator: nil))
        if concurrencyType == .mainQueueConcurrencyType {
            _ReadObservation.mainContextWasMade()
            changes.eventBegins = { [reference] in reference.object?.processChangesAfterEvent() }
        } else {
            gate.findOwner = { [reference] in reference.object }
        }
    }

    /// Makes a context as programs did before contexts had queues: it may be used where it was
    /// made, and on no two threads at once.
    public convenience override init() {
        // By its raw value: the case is deprecated.
        self.init(concurrencyType: NSManagedObjectContextConcurrencyType(rawValue: 0) ?? .privateQueueConcurrencyType)
    }

    deinit {
        // Objects that outlive the context, as in an error, keep the identities of their stores.
        let coordinator = coordinator
        leave()
        if let checkpointObserver { NotificationCenter.default.removeObserver(checkpointObserver) }
        releaseObjects()
        registry.leaveContext()
        reference.clear()
        withExtendedLifetime(coordinator) {}
    }

    // MARK: - Coordinator and parent

    /// The coordinator that the context fetches from and saves to; that of the parent, if there is
    /// one.
    ///
    /// Setting another coordinator resets the context and takes it from its parent; setting nil is
    /// a programming error.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { coordinator ?? parentContext?.persistentStoreCoordinator }
        set { useCoordinator(newValue) }
    }
    /// The context's own coordinator; in a child also the parent's.
    private(set) var coordinator: NSPersistentStoreCoordinator?

    /// The context that this one fetches from and saves to instead of stores; nil for a context
    /// that works on stores. Kept alive.
    ///
    /// Children see the parent's unsaved changes, and a save of a child becomes changes of the
    /// parent. Work of a child that needs the parent runs on the parent's queue, and the child
    /// waits for it.
    ///
    /// Setting a parent resets the context, which then has the parent's coordinator. The parent
    /// must not be a descendant of this context.
    open var parent: NSManagedObjectContext? {
        get { parentContext }
        set { useParent(newValue) }
    }
    private(set) var parentContext: NSManagedObjectContext?

    /// Takes the context from its coordinator and parent, and connects it to others.
    func attach(to coordinator: NSPersistentStoreCoordinator?, parent: NSManagedObjectContext?) {
        leave()
        self.coordinator = coordinator
        parentContext = parent
        generation = nil
        parentRows.removeAll()
        registry.leaveContext()
        lastInsertedClass = nil
        registry = sharedRegistry.use(
            ContextRegistry(context: self, coordinator: coordinator, parent: parentContext?.registry))
        registry.checksAge = stalenessInterval >= 0
        registry.tracksFormerValues = undoManager != nil
        coordinator?.clients.add(self, reference)
        parentContext?.children.add(self, reference)
        updateMergeObserver()
    }

    /// Disconnects the context from its coordinator and parent.
    private func leave() {
        mergingContexts?.remove(self)
        coordinator?.clients.remove(self)
        parentContext?.children.remove(self)
        coordinator = nil
    }

    // MARK: - Settings

    /// A name for people, also recorded in persistent history.
    open var name: String?
    /// The author of the changes, recorded in persistent history.
    open var transactionAuthor: String?
    /// Values of the application.
    public let userInfo = NSMutableDictionary()
    /// The undo manager that registers changes. Nil by default: then nothing is registered, and
    /// `undo()` and `redo()` do nothing.
    ///
    /// The changes of each event form one action. The event ends when pending changes are
    /// processed. Undo does not affect values set by primitive setters or changes merged from other
    /// contexts. Saving leaves the actions as they are; `rollback()` and `reset()` remove those of
    /// the context. The changes of one block of `perform` on a private queue are one event.
    open var undoManager: UndoManager? { didSet { undoManagerChanged(from: oldValue) } }
    /// How conflicts with the store are resolved: an `NSMergePolicy`; the error policy by default.
    open var mergePolicy: Any = NSMergePolicy.error
    /// The time, in seconds, for which a row may be used after it was read: negative for ever (the
    /// default), 0 never.
    ///
    /// A fault with an older row reads it from the store again. Loaded objects stay as they are.
    open var stalenessInterval: TimeInterval = -1 {
        didSet { registry.checksAge = stalenessInterval >= 0 }
    }
    /// Whether delete rules are applied when pending changes are processed, or only by the save.
    open var propagatesDeletesAtEndOfEvent = true
    /// Whether the context keeps all its objects alive, not only changed ones.
    open var retainsRegisteredObjects = false {
        didSet { retained = retainsRegisteredObjects ? Set(registry.allObjects()) : [] }
    }
    /// Whether an object whose row is gone reads as nil and counts as deleted, instead of stopping
    /// the program.
    open var shouldDeleteInaccessibleFaults = true
    /// Whether changes that other contexts save are merged into this one automatically.
    open var automaticallyMergesChangesFromParent = false {
        didSet { updateMergeObserver() }
    }
    /// Whether to treat a row that cannot be found as deleted.
    open func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for objectID: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool {
        shouldDeleteInaccessibleFaults
    }

    // MARK: - Changes

    /// Objects to be inserted by the next save.
    open var insertedObjects: Set<NSManagedObject> { Set(changes.inserted.objects) }
    /// Changed objects of the store.
    open var updatedObjects: Set<NSManagedObject> { Set(changes.updated.objects) }
    /// Objects to be deleted by the next save. New objects that were deleted are among them until
    /// it, but nothing is written of them.
    open var deletedObjects: Set<NSManagedObject> { Set(changes.deleted.objects) }
    /// All objects that are registered in the context.
    open var registeredObjects: Set<NSManagedObject> {
        Set(registry.allObjects()).union(changes.inserted.objects).union(changes.discarded)
    }
    /// Whether there is anything to save, or a new object was deleted since the last save.
    open var hasChanges: Bool { changes.hasChanges }

    /// Inserts an object that was made without a context, or was new when it was deleted. An object
    /// of this context that was deleted is there again, also where its deletion was saved; others
    /// are left alone. The object keeps a temporary ID that it has.
    open func insert(_ object: NSManagedObject) { insertGiven(object) }

    /// Marks an object for deletion by the next save. A new object leaves the context with that
    /// save, or with `rollback()` or `reset()`, and no store hears of it. One that is being
    /// deleted, or whose `prepareForDeletion()` is running, is left alone.
    open func delete(_ object: NSManagedObject) { markForDeletion(object) }

    /// Makes a save check that the object's row has not changed, even if the object has not.
    open func detectConflicts(for object: NSManagedObject) {
        object.fireFaultIfNeeded()
        conflictChecks.insert(object)
    }

    /// Puts a new object into the given store when it is saved. The object must not have a
    /// permanent ID yet.
    open func assign(_ object: Any, to store: NSPersistentStore) {
        if let object = object as? NSManagedObject { assignNew(object, to: store) }
    }

    /// Saves all pending changes to the stores, or throws and leaves both the stores and the
    /// context as they were.
    ///
    /// - Throws: Validation errors (1550 to 1680, several as 1560), conflicts (133020, 133021), and
    ///   errors of the store.
    open func save() throws { try asOperation { try reserved { try saveChanges() } } }

    // MARK: - Finding and forgetting objects

    /// The registered object with an ID, without any input or output; nil if the context has none.
    open func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? { knownObject(with: objectID) }

    /// The registered object with an ID, or a fault, unread: it need not exist. Stops the program
    /// where the coordinator lacks its store.
    open func object(with objectID: NSManagedObjectID) -> NSManagedObject { objectOrFault(with: objectID) }

    /// The object with an ID, loaded.
    ///
    /// - Throws: Code 133000 when there is no such row, or its store is not among those of the
    ///   context's coordinator.
    open func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        try asOperation { try loadedObject(with: objectID) }
    }

    /// Forgets all objects and changes. References that are still held read as nil.
    ///
    /// The notification about changes carries the IDs of all the objects, under
    /// `NSInvalidatedAllObjectsKey`.
    open func reset() { forgetAll() }

    // MARK: - Methods that subclasses may override

    // Declared in the class so that they can be overridden; extensions implement them.

    /// Fetches the results of a request. Pending changes that it includes are processed first.
    ///
    /// - Throws: Errors that name the entity, the part of the predicate or the statement at fault.
    open func fetch<Result>(_ request: NSFetchRequest<Result>) throws -> [Result] {
        try fetchesDirectly ? asOperation { try executor(for: request).results() } : fetchAsSubclassesDo(request)
    }

    /// Fetches the results of a request, as `Any`. Throws the same errors as `fetch(_:)` for typed
    /// requests.
    open func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
        try asOperation { try executor(for: request).run().elements }
    }

    /// The number of objects that the request would give. The store counts; pending changes are
    /// processed, and errors thrown, as for a fetch.
    open func count<Result>(for request: NSFetchRequest<Result>) throws -> Int {
        try asOperation { try executor(for: request).count() }
    }

    /// The number of objects that the request would return, for a request without a static result
    /// type.
    @_disfavoredOverload
    open func count(for request: NSFetchRequest<any NSFetchRequestResult>) throws -> Int {
        try asOperation { try executor(for: request).count() }
    }

    /// Executes a request against the stores.
    ///
    /// - Returns: An `NSAsynchronousFetchResult` for fetch requests: complete for an
    ///   `NSFetchRequest`, still running for an `NSAsynchronousFetchRequest`.
    /// - Throws: Code 134091 for save requests and for classes of requests that the framework does
    ///   not know; the errors of the request itself.
    @discardableResult
    open func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        try asOperation { try request.execute(in: self) }
    }

    /// Runs a block later on the context's queue. Pending changes are processed at its end.
    ///
    /// Disfavored, so that `await perform { … }` waits for the block even if it returns no value.
    @_disfavoredOverload
    open func perform(_ block: @escaping () -> Void) { enqueue(block) }

    /// Runs a block on the context's queue and waits for it. May be nested.
    ///
    /// Blocks that return a value or throw use this method, too, if a subclass overrides it.
    open func performAndWait(_ block: () -> Void) { run(block) }

    /// Applies delete rules to newly deleted objects and posts the changes since the last call.
    ///
    /// Called by `perform` at the end of its block and by `save()`. If a main-queue context is
    /// changed on the main thread outside a block, it is called on the main queue's next turn.
    /// Fetches that include pending changes do the same first, without calling this method.
    open func processPendingChanges() { asOperation { processChanges() } }

    /// Turns an object into a fault and discards its changes; with `mergeChanges` reloads its row
    /// and keeps them.
    ///
    /// The insertion of a new object is a change, too: without `mergeChanges` the object leaves the
    /// context, as a fault without a row. If another writer deleted the row, its changes cannot be
    /// merged: the object becomes a fault that finds no row.
    open func refresh(_ object: NSManagedObject, mergeChanges: Bool) {
        asOperation { readAgain(object, mergeChanges: mergeChanges) }
    }

    /// Turns all unchanged objects into faults. Reloads the rows of changed ones and keeps their
    /// changes.
    open func refreshAllObjects() { asOperation { readAllAgain() } }

    /// Discards all unsaved changes: insertions, deletions and changed values. Nothing is read from
    /// the store.
    open func rollback() { asOperation { rollBack() } }

    /// Merges a save of another context of the same coordinator. Pending changes of this context
    /// survive.
    ///
    /// Refreshes changed objects, faults in inserted ones, and deletes deleted ones. Objects that
    /// the other context deleted are among `deletedObjects` until this context is saved or rolled
    /// back; the save writes nothing for them.
    ///
    /// - Parameter notification: A `didSaveObjectsNotification` or `didSaveObjectIDsNotification`.
    open func mergeChanges(fromContextDidSave notification: Notification) { asOperation { mergeSave(notification) } }

    /// Gives new objects permanent IDs before they are saved. Objects that have one keep it.
    ///
    /// In a context with a parent, these may also be objects that were saved to the parent only.
    ///
    /// - Throws: Errors of the store that assigns the keys.
    open func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
        try asOperation { try obtainKeys(for: objects) }
    }

    /// Takes back the last group of the undo manager; does nothing without one. Pending changes are
    /// processed first, and belong to it.
    open func undo() { asOperation { undoGroup() } }

    /// Repeats the changes that `undo()` reverted last; does nothing without an undo manager.
    open func redo() { asOperation { redoGroup() } }

    /// Merges changes known only by object IDs or their URIs into several contexts. What led to
    /// deleted objects need not be named.
    ///
    /// - Parameter changeNotificationData: arrays or sets of IDs or URIs under
    ///   `NSInsertedObjectsKey` and its siblings.
    /// - Parameter contexts: those that take the changes over, each on its queue, after those above
    ///   them.
    open class func mergeChanges(
        fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
    ) { mergeRemoteSave(changeNotificationData, into: contexts) }
}
