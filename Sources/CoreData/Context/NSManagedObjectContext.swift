import Foundation

/// A scratch pad of managed objects: fetches them, tracks their changes, and saves or discards these together.
///
/// A context works on one queue: the main queue or a private one. Use it and its objects inside `perform` or
/// `performAndWait`. It keeps strong references only to objects with unsaved changes.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext>
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
    // Sendable: a context is confined to its queue by contract, as on Apple's platforms; what other threads may touch
    // (`perform`, the registry) is safe by itself.

    let gate: ContextGate
    /// What others refer to the context by without keeping it alive.
    final let reference = BackReference<NSManagedObjectContext>()
    /// How the context's work is scheduled.
    public let concurrencyType: NSManagedObjectContextConcurrencyType
    @exclusivity(unchecked) private(set) var registry: ContextRegistry!

    // MARK: - State

    // Open to this folder and to the folders in it. What a context does stands in extensions, one for each subject (events, saving, parents,
    // undo, fetching), and most of this state is begun by one of them and ended by another: an insertion notes a temporary ID that a save
    // forgets, an undo gives back the store that an object was assigned to, a merge begins the journal that the end of the event reads. A
    // stored property cannot be private to several files. Other folders add and remove themselves as `listeners` and leave a `readFailure`
    // where they read and cannot throw; they change nothing else.

    /// What is pending, and the changes of the current event.
    let changes = ChangeTracker()
    /// Where pending changes are being processed; nil where they are not.
    @exclusivity(unchecked) var eventStage: EventStage?
    /// How many steps of the context's own that call methods of objects have not ended.
    @exclusivity(unchecked) var openSteps = 0
    /// Whether the class is a subclass that overrides no fetch.
    package final var isPlainSubclass = false
    /// Whether the main queue was asked to process pending changes. Changed on the main queue only.
    var willProcessChanges = false
    /// Whether a save is running, from its first step to its last notification.
    @exclusivity(unchecked) var isSaving = false
    /// The class that `init(context:)` was last called on, and its entity, which the registry's model keeps alive: objects come in rows.
    @exclusivity(unchecked) var lastInsertedClass: (objectClass: ObjectIdentifier, entity: Unmanaged<NSEntityDescription>)?
    /// Objects by temporary ID, for those whose ID was asked for.
    @exclusivity(unchecked) var temporaryObjects: [NSManagedObjectID.Identity: WeakObject] = [:]
    /// Whether new objects get permanent IDs as soon as they are asked for them, for contexts whose IDs outlive them.
    package final var handsOutPermanentIDs = false
    /// Objects whose `prepareForDeletion()` is running, the innermost last.
    @exclusivity(unchecked) private var preparedForDeletion: ContiguousArray<NSManagedObject> = []
    /// Objects that `detectConflicts(for:)` named.
    @exclusivity(unchecked) var conflictChecks: Set<NSManagedObject> = []
    /// All objects of a context that keeps them alive; empty for others.
    var retained: Set<NSManagedObject> = []
    /// Why a value could not be read since the last save: the next save throws it. Set wherever a value is read that cannot throw.
    var readFailure: (any Error)?
    /// The batches of fetches that were loaded last, oldest first.
    var recentBatches: [(batch: FetchBatch, place: Int)] = []
    /// The clock for the age of rows; tests set another.
    var currentTime: () -> UInt64 = ReadTime.now
    /// The stores that new objects were assigned to; `assign(_:to:)`.
    @exclusivity(unchecked) var assignedStores: [ObjectIdentifier: NSPersistentStore] = [:]
    /// The rows of the parent context, by the number of their store.
    @exclusivity(unchecked) var parentRows: [Int: ParentRows] = [:]
    /// The state of the stores that the context is pinned to.
    @exclusivity(unchecked) var generation: QueryGeneration?
    /// What was there before the present event; nil without an undo manager.
    var journal: ChangeJournal?
    /// What the undo manager calls before it closes a group; nil without one.
    var checkpointObserver: (any NSObjectProtocol)?
    /// The contexts whose parent this is.
    let children = ClientList()
    /// Those of them that take over what others save.
    let mergingChildren = ClientList()
    /// Whether it is reading what others have saved.
    let rereading = RereadingTurn()
    /// How often the context has taken over rows: saved, merged or let go of all.
    var takenOverCount = 0
    /// What follows the context's events.
    @exclusivity(unchecked) var listeners = ContextListeners()
    /// What these are to be told after the event that they are being told of.
    var messagesAfterEvent: [(any ContextListener) -> Void] = []

    /// Makes a context that works on the main queue or on a private one.
    public init(concurrencyType: NSManagedObjectContextConcurrencyType) {
        self.concurrencyType = concurrencyType
        gate = concurrencyType == .mainQueueConcurrencyType ? .main : ContextGate()
        super.init()
        reference.lead(to: self)
        if concurrencyType == .mainQueueConcurrencyType { _ReadObservation.mainContextWasMade() }
        registry = ContextRegistry(context: self, coordinator: nil)
        if concurrencyType != .mainQueueConcurrencyType { gate.findOwner = { [reference] in reference.object } }
        // Unowned: the context owns what calls it.
        changes.eventBegins = { [unowned(unsafe) self] in processChangesAfterEvent() }
    }

    /// Makes a context as programs did before contexts had queues: it may be used where it was made, and on no two threads at once.
    public convenience override init() {
        // By its number: the type is deprecated.
        self.init(concurrencyType: NSManagedObjectContextConcurrencyType(rawValue: 0) ?? .privateQueueConcurrencyType)
    }

    deinit {
        // Objects that outlive the context, in an error for instance, keep the identities of their stores.
        let coordinator = coordinator
        leave()
        if let checkpointObserver { NotificationCenter.default.removeObserver(checkpointObserver) }
        releaseObjects()
        registry.contextWillDeallocate()
        reference.clear()
        withExtendedLifetime(coordinator) {}
    }

    // MARK: - What the context works on

    /// The coordinator that the context fetches from and saves to; that of the parent, if there is one.
    ///
    /// Setting another coordinator resets the context and takes it from its parent; setting nil is a programming error.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { coordinator ?? parentContext?.persistentStoreCoordinator }
        set {
            guard let newValue else {
                preconditionFailure("A context must have a persistent store coordinator: it cannot be set to nil.")
            }
            if coordinator === newValue, parentContext == nil { return }
            releaseObjects()
            leave()
            parentContext = nil
            attach(to: newValue)
        }
    }
    /// That of the parent, too.
    @exclusivity(unchecked) private var coordinator: NSPersistentStoreCoordinator?

    /// A store of the coordinator's; nil once it was removed.
    final func store(number: Int) -> NSPersistentStore? { coordinator?.store(number: number) }

    /// The context that this one fetches from and saves to, in place of stores; nil for one that works on stores. Kept alive.
    ///
    /// What the parent has not saved yet is there for its children, and what a child saves becomes a change of the parent. Work of a child
    /// that needs the parent runs on the parent's queue, for which the child waits.
    ///
    /// Setting a parent resets the context, which then has the parent's coordinator. It must not be a context that has this one above it.
    open var parent: NSManagedObjectContext? {
        get { parentContext }
        set {
            if newValue === parentContext { return }
            checkParent(newValue)
            releaseObjects()
            leave()
            parentContext = newValue
            attach(to: newValue?.persistentStoreCoordinator)
        }
    }
    @exclusivity(unchecked) private(set) var parentContext: NSManagedObjectContext?

    private func attach(to coordinator: NSPersistentStoreCoordinator?) {
        self.coordinator = coordinator
        generation = nil
        coordinator?.clients.add(self, reference)
        parentContext?.children.add(self, reference)
        parentRows.removeAll()
        registry.contextWillDeallocate()
        lastInsertedClass = nil
        registry = ContextRegistry(context: self, coordinator: coordinator, parent: parentContext?.registry)
        registry.checksAge = stalenessInterval >= 0
        registry.tracksFormerValues = undoManager != nil
        updateMergeObserver()
    }

    /// Ends the connection to what the context works on.
    private func leave() {
        mergingContexts?.remove(self)
        coordinator?.clients.remove(self)
        parentContext?.children.remove(self)
        coordinator = nil
    }

    /// Has a context whose parent was given its coordinator later work with that.
    func followParent() {
        guard let parentContext, registry.identities !== parentContext.registry.identities || registry.modelIdentity == nil,
            let coordinator = parentContext.persistentStoreCoordinator, registeredObjects.isEmpty
        else { return }
        leave()
        attach(to: coordinator)
    }

    /// The contexts that take over what one of them saves, of which this is one where it is to merge automatically.
    var mergingContexts: ClientList? { parentContext?.mergingChildren ?? coordinator?.mergingClients }

    // MARK: - Settings

    /// A name for people, also recorded in persistent history.
    open var name: String?
    /// Who makes the changes, recorded in persistent history.
    open var transactionAuthor: String?
    /// Values of the application's own.
    public let userInfo = NSMutableDictionary()
    /// Where changes are registered so that they can be undone: one action for the changes of each event, which ends when pending changes
    /// are processed. Nil by default: nothing is kept then, and `undo()` and `redo()` do nothing.
    ///
    /// Values set by primitive setters, and what was taken over from others, are not undone. Saving leaves the actions as they are;
    /// `rollback()` and `reset()` remove those of the context. What a block of `perform` on a private queue changes is one event.
    open var undoManager: UndoManager? { didSet { undoManagerChanged(from: oldValue) } }
    /// How conflicts with the store are resolved: an `NSMergePolicy`; the error policy by default.
    open var mergePolicy: Any = NSMergePolicy.error
    /// How long a row may be used after it was read, in seconds: negative for ever (the default), 0 never. A fault whose row
    /// is older reads it from the store again; loaded objects stay as they are.
    open var stalenessInterval: TimeInterval = -1 {
        didSet { registry.checksAge = stalenessInterval >= 0 }
    }
    /// Whether delete rules are applied when pending changes are processed, or only by the save.
    open var propagatesDeletesAtEndOfEvent = true
    /// Whether the context keeps all its objects alive, not only changed ones.
    open var retainsRegisteredObjects = false {
        didSet { retained = retainsRegisteredObjects ? Set(registry.allObjects()) : [] }
    }
    /// Whether an object whose row is gone reads as nil and counts as deleted, instead of stopping the program.
    open var shouldDeleteInaccessibleFaults = true
    /// Whether what other contexts save is merged into this one automatically.
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
    /// Objects to be deleted by the next save. New objects that were deleted are among them until it, but nothing is written of them.
    open var deletedObjects: Set<NSManagedObject> { Set(changes.deleted.objects) }
    /// All objects that the context knows.
    open var registeredObjects: Set<NSManagedObject> {
        Set(registry.allObjects()).union(changes.inserted.objects).union(changes.discarded)
    }
    /// Whether there is anything to save, or a new object was deleted since the last save.
    open var hasChanges: Bool { changes.hasChanges }
    /// Whether a save would write anything: nothing is written of new objects that were deleted.
    package final var hasChangesToWrite: Bool { changes.hasChangesToWrite }

    /// Inserts an object that was made without a context, or was new when it was deleted. An object of this context that was deleted is
    /// there again, also where its deletion was saved; others are left alone. The object keeps a temporary ID that it has.
    open func insert(_ object: NSManagedObject) { insertGiven(object) }

    /// Marks an object for deletion by the next save. A new object leaves the context with that save, or with `rollback()` or `reset()`, and
    /// no store hears of it. One that is being deleted, or whose `prepareForDeletion()` is running, is left alone.
    open func delete(_ object: NSManagedObject) {
        precondition(
            object.registry === registry,
            "\(object.layout.name) \(object.descriptionOfIdentity) does not belong to this context and cannot be deleted by it.")
        if object.flags.contains(.checked) { ConcurrencyDebug.check(self, "delete an object") }
        if !object.flags.isDisjoint(with: [.deleted, .discarded, .deletionSaved]) { return }
        if preparedForDeletion.contains(where: { $0 === object }) { return }
        if object.extras?.isRevived != true { continueAsUpdate(object) }
        preparedForDeletion.append(object)
        asStep { object.prepareForDeletion() }
        preparedForDeletion.removeLast()
        changes.delete(object)
    }

    /// Makes a save check that the object's row has not changed, even if the object has not.
    open func detectConflicts(for object: NSManagedObject) {
        object.fireFaultIfNeeded()
        conflictChecks.insert(object)
    }

    /// Puts a new object into a certain store when it is saved; it must not have a permanent ID yet.
    open func assign(_ object: Any, to store: NSPersistentStore) {
        if let object = object as? NSManagedObject { assignNew(object, to: store) }
    }

    /// Saves all pending changes to the stores, or throws and leaves both the stores and the context as they were.
    ///
    /// - Throws: validation errors (1550 to 1680, several as 1560), conflicts (133020, 133021), and errors of the store.
    // In the class and not in an extension, so that subclasses can override it.
    open func save() throws { try asOperation { try reserved { try saveChanges() } } }

    // MARK: - Finding objects

    /// The registered object with an ID, without any input or output; nil if the context has none.
    open func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? { knownObject(with: objectID) }

    /// The registered object with an ID, or a fault, unread: it need not exist. Stops the program where the coordinator lacks its store.
    open func object(with objectID: NSManagedObjectID) -> NSManagedObject { objectOrFault(with: objectID) }

    /// The object with an ID, loaded.
    ///
    /// - Throws: code 133000 when there is no such row, or its store is not among those of the context's coordinator.
    open func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        try asOperation { try loadedObject(with: objectID) }
    }

    // MARK: - Forgetting

    /// Forgets all objects and changes; references that are still held read as nil.
    ///
    /// The notification about changes has the IDs of all the objects, under `NSInvalidatedAllObjectsKey`.
    open func reset() { forgetAll() }

    // MARK: - Work that subclasses may do otherwise

    // In the class, where it can be overridden; extensions have what it does.

    /// Fetches what the request describes. Pending changes that it includes are processed before.
    ///
    /// - Throws: errors that name the entity, the part of the predicate or the statement at fault.
    open func fetch<Result>(_ request: NSFetchRequest<Result>) throws -> [Result] {
        try fetchesDirectly ? asOperation { try executor(for: request).results() } : fetchAsSubclassesDo(request)
    }

    /// Fetches what the request describes, as `Any`. Throws what `fetch(_:)` of typed requests throws.
    open func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
        try asOperation { try executor(for: request).run().elements }
    }

    /// The number of objects that the request would give. The store counts; pending changes are processed, and errors thrown, as for a fetch.
    open func count<Result>(for request: NSFetchRequest<Result>) throws -> Int {
        try asOperation { try executor(for: request).count() }
    }

    /// The number of objects that the request would give, for a request whose result type is nowhere written.
    @_disfavoredOverload
    open func count(for request: NSFetchRequest<any NSFetchRequestResult>) throws -> Int {
        try asOperation { try executor(for: request).count() }
    }

    /// Executes a request against the stores.
    ///
    /// - Returns: an `NSAsynchronousFetchResult` for fetch requests: complete for an `NSFetchRequest`, still running for an
    ///   `NSAsynchronousFetchRequest`.
    /// - Throws: code 134091 for save requests and for classes of requests that the framework does not know; what the
    ///   request itself throws.
    @discardableResult
    open func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        try asOperation { try request.execute(in: self) }
    }

    /// Runs a block later on the context's queue; pending changes are processed at its end.
    ///
    /// Disfavored, so that `await perform { … }` waits for the block also when it gives no value.
    @_disfavoredOverload
    open func perform(_ block: @escaping () -> Void) { enqueue(block) }

    /// Runs a block on the context's queue and waits for it. May be nested. Blocks that give a value or throw come here, too, where a
    /// subclass overrides it.
    open func performAndWait(_ block: () -> Void) { run(block) }

    /// Applies delete rules to newly deleted objects and posts what changed since the last time. Called by `perform` at the
    /// end of its block and by `save()`, and for a main-queue context that is changed on the main thread outside of a block when the
    /// main queue comes to its next turn. Fetches that include pending changes do the same first, without calling this method.
    open func processPendingChanges() { asOperation { processChanges() } }

    /// Turns an object into a fault, discarding its changes, or with `mergeChanges` reloads its row under its changes.
    ///
    /// The insertion of a new object is a change as well: without `mergeChanges` it leaves the context, as a fault of no row. Changes of a
    /// row that others deleted have nothing to be merged with: the object becomes a fault that finds no row.
    open func refresh(_ object: NSManagedObject, mergeChanges: Bool) { asOperation { readAgain(object, mergeChanges: mergeChanges) } }

    /// Turns all unchanged objects into faults and reloads the rows of changed ones under their changes.
    open func refreshAllObjects() { asOperation { readAllAgain() } }

    /// Discards all unsaved changes: insertions, deletions and changed values. Nothing is read from the store.
    open func rollback() { asOperation { rollBack() } }

    /// Takes over what another context of the same coordinator saved: refreshes changed objects, faults in inserted ones,
    /// deletes deleted ones. Pending changes of this context survive.
    ///
    /// Objects that the other context deleted are among `deletedObjects` until this context is saved or rolled back; the
    /// save writes nothing for them.
    ///
    /// - Parameter notification: a `didSaveObjectsNotification` or `didSaveObjectIDsNotification`.
    open func mergeChanges(fromContextDidSave notification: Notification) { asOperation { mergeSave(notification) } }

    /// Gives new objects permanent IDs before they are saved; objects that have one are left alone.
    ///
    /// Of a context with a parent these may also be objects that were saved to the parent only.
    ///
    /// - Throws: errors of the store that hands out the keys.
    open func obtainPermanentIDs(for objects: [NSManagedObject]) throws { try asOperation { try obtainKeys(for: objects) } }

    /// Takes back the last group of the undo manager; does nothing without one. Pending changes are processed first, and belong to it.
    open func undo() { asOperation { undoGroup() } }

    /// Does again what `undo()` took back last; does nothing without an undo manager.
    open func redo() { asOperation { redoGroup() } }

    /// Merges changes known only by object IDs or their URIs into several contexts. What led to deleted objects need not be named.
    ///
    /// - Parameter changeNotificationData: arrays or sets of IDs or URIs under `NSInsertedObjectsKey` and its siblings.
    /// - Parameter contexts: those that take the changes over, each on its queue, after those above them.
    open class func mergeChanges(fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext])
    { mergeRemoteSave(changeNotificationData, into: contexts) }
}
