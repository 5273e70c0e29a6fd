import CoreData

/// The context of a write block of a ``DataStack``, or of a ``Draft``. It is a background context
/// that is saved when the block returns or the draft is applied.
///
/// It creates, changes and deletes objects like every context, except that new objects have
/// permanent IDs, which remain valid after the block. The context and its objects are invalid after
/// the block.
///
/// ```swift
/// try await stack.write { context in               // a WriteContext: saved when the block returns
///     let item = try context.object(with: itemID, as: Item.self)
///     item.stockCount -= 1
/// }
/// ```
public final class WriteContext: NSManagedObjectContext, @unchecked Sendable {
    // Sendable: like its superclass; added state is constant, or used on the queue that its comment
    // names.

    /// The cancellation of the task that waits for the block. Changed on the context's queue,
    /// before a block begins.
    var cancellation: TaskCancellation
    /// Whether the context has written anything to a store. Changed on the context's queue; read
    /// when its block has returned.
    private(set) var hasWritten = false

    init(coordinator: NSPersistentStoreCoordinator, mergePolicy: NSMergePolicy, cancellation: TaskCancellation) {
        self.cancellation = cancellation
        super.init(concurrencyType: .privateQueueConcurrencyType)
        isPlainSubclass = true
        persistentStoreCoordinator = coordinator
        self.mergePolicy = mergePolicy
        handsOutPermanentIDs = true
        name = "DataStack write context"
    }

    /// Creates the context of a draft, whose changes are saved to another write context.
    init(draftOf base: WriteContext) {
        cancellation = TaskCancellation()
        super.init(concurrencyType: .privateQueueConcurrencyType)
        isPlainSubclass = true
        parent = base
        handsOutPermanentIDs = true
        retainsRegisteredObjects = true
        name = "DataStack draft context"
    }

    public override func save() throws {
        // Applies the delete rules first, because their changes are written too.
        processPendingChanges()
        let writes = hasChangesToWrite
        try super.save()
        if writes { hasWritten = true }
    }

    public override func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        if request.requestType == .fetchRequestType { return try super.execute(request) }
        try requireNoDraft()
        let result = try super.execute(request)
        hasWritten = true
        return result
    }

    /// Throws for a draft, because the change would take effect immediately and could not be
    /// discarded.
    func requireNoDraft() throws {
        if parent == nil { return }
        throw SafeCoreDataErrors.batchInDraft
    }

    /// Records that rows were changed without objects.
    func noteBatch() { hasWritten = true }

    /// Whether the task that waits for the write was cancelled: a long block may stop early.
    ///
    /// ```swift
    /// if context.isCancelled { return }                       // what was done so far is not saved
    /// ```
    public var isCancelled: Bool { cancellation.isCancelled }

    /// Throws `CancellationError` when the task that waits for the write was cancelled.
    ///
    /// ```swift
    /// for row in rows { try context.checkCancellation(); add(row) }
    /// ```
    public func checkCancellation() throws { try cancellation.check() }

    /// Returns this context's writable object for a read-only view.
    ///
    /// ```swift
    /// let item = try context.object(for: view)                // Item, not ReadOnly<Item>
    /// item.stockCount -= 1
    /// ```
    ///
    /// - Throws: code 133000 when the object's row is gone or was never saved.
    public func object<Object: NSManagedObject>(for view: ReadOnly<Object>) throws -> Object {
        if view.object.managedObjectContext === self { return view.object }
        return try object(with: view.objectID, as: Object.self)
    }

    /// Returns the object with an ID, loaded and writable.
    ///
    /// Cost: one statement, unless the row is cached.
    ///
    /// ```swift
    /// let item = try context.object(with: itemID, as: Item.self)
    /// item.stockCount -= 1
    /// ```
    ///
    /// - Parameters:
    ///   - objectID: the ID of a saved object.
    ///   - type: the class that the object must have.
    /// - Throws: code 133000 when there is no such row, and `CocoaError.coreData` (134060) when the
    ///   object is of another class.
    public func object<Object: NSManagedObject>(with objectID: NSManagedObjectID, as type: Object.Type) throws -> Object
    {
        let object = try existingObject(with: objectID)
        guard let object = object as? Object else { throw SafeCoreDataErrors.wrongClass(objectID, type) }
        return object
    }
}
