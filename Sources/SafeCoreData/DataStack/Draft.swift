import Synchronization

/// An object that is edited over a time, with everything that is changed around it: applied as a whole, or discarded as a whole.
///
/// ```swift
/// let draft = try await stack.draft(of: item)          // a form opens
/// try await draft.perform { $0.name = "Hex bolt" }     // one field, and one step of undo
/// try await draft.perform { $0.stockCount = 12 }
/// try await draft.undo()                               // the number is as it was
/// try await draft.apply()                              // or draft.discard()
/// ```
///
/// A draft has a context of its own, with an undo manager, which is a child of a write context that nobody else uses. It shows objects as
/// they were when the draft first read them; what is written meanwhile does not change them, and is a conflict when the draft is
/// applied. Nothing that is done to them is seen elsewhere before.
///
/// A draft may be used from any actor. It ends when it has been applied or discarded, when nobody keeps it, and when the stack is closed.
public final class Draft<Object: NSManagedObject>: @unchecked Sendable {
    // Sendable: constants, and a state behind a mutex; the contexts are used on their queues, and the object on that of its context.

    private let stack: DataStack
    private let store: OpenStore
    /// Reads from the stores and saves to them; keeps what the draft has read, so that conflicts with what came later are found.
    private let base: WriteContext
    private let context: WriteContext
    private let object: Object
    /// The edited object's ID. It stays the same when the object is new.
    public let objectID: NSManagedObjectID

    private enum State {
        case editing
        case ended
    }

    /// Guards whether the draft goes on.
    private let state = Mutex(State.editing)

    /// Runs on the stack's work queue.
    ///
    /// - Parameter find: gives the object, on the queue of its context.
    init(of stack: DataStack, on store: OpenStore, _ find: (WriteContext) throws -> Object) throws {
        self.stack = stack
        self.store = store
        base = WriteContext(
            coordinator: store.coordinator, mergePolicy: stack.options.mergePolicy, cancellation: TaskCancellation())
        base.retainsRegisteredObjects = true
        context = WriteContext(draftOf: base)
        let context = context
        (object, objectID) = try context.performAndWait {
            let object = try find(context)
            // What was done to make it is no step that could be undone.
            context.processPendingChanges()
            context.undoManager = UndoManager()
            return (object, object.objectID)
        }
        store.addDraft(context)
    }

    deinit {
        // Objects go on the queue that they belong to.
        let (context, object) = (context, object)
        context.perform { withExtendedLifetime(object) { context.reset() } }
    }

    // MARK: Editing

    /// Changes the draft, or reads it, on the queue of its context. What one block changes is one step of `undo()`, unless it makes
    /// several with ``DraftObject/step(_:_:)``.
    ///
    /// When the block throws, what it changed stays in the draft and can be undone.
    ///
    /// ```swift
    /// let count = try await draft.perform { draft in
    ///     draft.name = "Hex bolt"
    ///     return draft.stockCount
    /// }
    /// ```
    ///
    /// - Returns: what the block gives: values, snapshots or IDs.
    /// - Throws: ``DataStackError/draftEnded``, ``DataStackError/closed``, `CancellationError` when the task was cancelled before the
    ///   block's turn, and what the block throws.
    @discardableResult
    nonisolated(nonsending) public func perform<Output: Sendable>(
        _ body: @escaping @Sendable (DraftObject<Object>) throws -> Output
    ) async throws -> Output {
        let cancellation = TaskCancellation()
        return try await cancellation.whileRunning {
            try await context.perform { () throws -> Output in
                try self.requireEditing()
                try cancellation.check()
                self.context.cancellation = cancellation
                return try body(DraftObject(self.object, in: self.context))
            }
        }
    }

    /// Takes back the last step; does nothing when there is none.
    ///
    /// ```swift
    /// try await draft.undo()
    /// try await draft.redo()
    /// ```
    ///
    /// - Throws: ``DataStackError/draftEnded``, ``DataStackError/closed``.
    nonisolated(nonsending) public func undo() async throws { try await perform { $0.undo() } }

    /// Does again what `undo()` took back last; does nothing when there is none.
    ///
    /// - Throws: ``DataStackError/draftEnded``, ``DataStackError/closed``.
    nonisolated(nonsending) public func redo() async throws { try await perform { $0.redo() } }

    // MARK: Ending

    /// Saves all changes of the draft, in one write that takes its turn among the others, and ends it.
    ///
    /// When it throws, nothing is saved and the draft goes on as it is: its user may mend it, apply it with another merge policy, or
    /// discard it.
    ///
    /// ```swift
    /// do {
    ///     try await draft.apply()
    /// } catch let error as DraftConflictError where userWantsToOverwrite(error.conflicts) {
    ///     try await draft.apply(mergePolicy: .mergeByPropertyObjectTrump)
    /// }
    /// ```
    ///
    /// - Parameter mergePolicy: how conflicts with what was written meanwhile are resolved; that of the stack's options unless given.
    /// - Throws: ``DraftConflictError`` for conflicts that the policy does not settle, ``DataStackError/draftEnded``,
    ///   ``DataStackError/closed``, validation errors, and errors of the store.
    nonisolated(nonsending) public func apply(mergePolicy: NSMergePolicy? = nil) async throws {
        let policy = mergePolicy ?? stack.options.mergePolicy
        try await withCheckedThrowingContinuation { continuation in
            stack.inTurn({ continuation.resume(with: $0) }) { _ in try self.save(policy) }
        }
    }

    /// Ends the draft without its changes, at once. Does nothing to one that has ended.
    ///
    /// ```swift
    /// draft.discard()                                         // the form was cancelled
    /// ```
    public func discard() {
        let wasEditing = state.withLock { state in
            defer { state = .ended }
            return state == .editing
        }
        guard wasEditing else { return }
        let (context, base) = (context, base)
        context.perform { context.reset() }
        base.perform { base.reset() }
    }

    /// Runs on the stack's work queue.
    private func save(_ policy: NSMergePolicy) throws {
        try context.performAndWait {
            try requireEditing()
            context.mergePolicy = policy
            // Validates, and hands everything on: all of it, or nothing.
            try saveChanges(of: context)
            // Within the draft's block: nobody changes the draft any more while it is written.
            try base.performAndWait {
                base.mergePolicy = policy
                try saveChanges(of: base)
            }
            discard()
        }
    }

    private func saveChanges(of context: WriteContext) throws {
        guard context.hasChanges else { return }
        do {
            try context.save()
        } catch {
            throw DraftConflictError(error) ?? error
        }
    }

    private func requireEditing() throws {
        guard case .open(let open) = stack.guarded.withLock({ $0.current }), open === store else { throw DataStackError.closed }
        if case .ended = state.withLock({ $0 }) { throw DataStackError.draftEnded }
    }
}
