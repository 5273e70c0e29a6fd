import CoreData

/// The context of one write block of a ``DataStack``: a background context that is saved when the block returns. Or the context of a
/// ``Draft``, which is saved when that is applied.
///
/// It makes, changes and deletes objects like every context, except that new objects have permanent IDs, by which they are found
/// after the block. It and its objects are of no use then.
///
/// ```swift
/// try await stack.write { context in                      // a WriteContext: saved when the block returns
///     let item = try context.object(with: itemID, as: Item.self)
///     item.stockCount -= 1
/// }
/// ```
public final class WriteContext: NSManagedObjectContext, @unchecked Sendable {
    // Sendable: as its superclass; what is added is constant or guards itself.

    /// That of the task which waits for the block. Changed on the context's queue, before a block begins.
    var cancellation: TaskCancellation
    /// Whether anything of this context is in a store already. Changed on the context's queue; read when its block has returned.
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

    /// The context of a draft, whose changes go to another write context.
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
        // What delete rules change is written, too.
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

    /// Refuses for a draft what takes effect at once, and could not be discarded.
    func requireNoDraft() throws {
        if parent == nil { return }
        throw SafeCoreDataErrors.batchInDraft
    }

    /// Notes that rows were changed without objects.
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

    /// The object behind a read-only view, writable, as this context has it.
    ///
    /// ```swift
    /// let item = try context.object(for: view)                // Item, not ReadOnly<Item>
    /// item.stockCount -= 1
    /// ```
    ///
    /// - Throws: code 133000 when its row is gone or was never saved.
    public func object<Object: NSManagedObject>(for view: ReadOnly<Object>) throws -> Object {
        if view.object.managedObjectContext === self { return view.object }
        return try object(with: view.objectID, as: Object.self)
    }

    /// The object with an ID, loaded and writable.
    ///
    /// Cost: one statement, unless the row is cached.
    ///
    /// ```swift
    /// let item = try context.object(with: itemID, as: Item.self)
    /// item.stockCount -= 1
    /// ```
    ///
    /// - Parameters:
    ///   - objectID: of an object that was saved.
    ///   - type: the class it must have.
    /// - Throws: code 133000 when there is no such row, and `CocoaError.coreData` (134060) when it is of another class.
    public func object<Object: NSManagedObject>(with objectID: NSManagedObjectID, as type: Object.Type) throws -> Object {
        let object = try existingObject(with: objectID)
        guard let object = object as? Object else { throw SafeCoreDataErrors.wrongClass(objectID, type) }
        return object
    }
}
