import Synchronization

/// An object that is edited over some time, together with related changes. They are applied or
/// discarded as a whole.
///
/// ```swift
/// let draft = try await stack.draft(of: item)          // a form opens
/// try await draft.perform { $0.name = "Hex bolt" }     // one field, and one step of undo
/// try await draft.perform { $0.stockCount = 12 }
/// try await draft.undo()                               // the number is as it was
/// try await draft.apply()                              // or draft.discard()
/// ```
///
/// A draft has its own context with an undo manager, which is the child of a private write context.
/// It shows objects as they were when the draft first read them. Later writes do not change them;
/// they are a conflict when the draft is applied. Changes in the draft are invisible elsewhere
/// until then.
///
/// A draft may be used from any actor. It ends when it is applied, discarded or released, and when
/// the stack is closed.
public final class Draft<Object: NSManagedObject>: @unchecked Sendable {
    // Sendable: constants, and a state behind a mutex; the contexts are used on their queues, and
    // the object on that of its context.

    private let stack: DataStack
    private let store: OpenStore
    /// Reads from the store and saves to it. It retains what the draft has read, so that conflicts
    /// with later writes are found.
    private let base: WriteContext
    private let context: WriteContext
    private let object: Object
    /// The edited object's ID. It does not change when a new object is saved.
    public let objectID: NSManagedObjectID

    private enum State {
        case editing
        case ended
    }

    /// Guards whether the draft is being edited or has ended.
    private let state = Mutex(State.editing)

    /// Runs on the stack's work queue.
    ///
    /// - Parameter find: returns the object, on the queue of its context.
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
            // Making the object is not an undo step.
            context.processPendingChanges()
            context.undoManager = UndoManager()
            return (object, object.objectID)
        }
        store.addDraft(context)
    }

    deinit {
        // Objects must be released on their context's queue.
        let (context, object) = (context, object)
        context.perform { withExtendedLifetime(object) { context.reset() } }
    }

    // MARK: Editing

    /// Changes or reads the draft on the queue of its context. All changes of one block are one
    /// step of `undo()`, unless the block makes several with ``DraftObject/step(_:_:)``.
    ///
    /// When the block throws, its changes stay in the draft and can be undone.
    ///
    /// ```swift
    /// let count = try await draft.perform { draft in
    ///     draft.name = "Hex bolt"
    ///     return draft.stockCount
    /// }
    /// ```
    ///
    /// - Returns: the block's result: values, snapshots or IDs.
    /// - Throws: ``DataStackError/draftEnded``, ``DataStackError/closed``, `CancellationError` when
    ///   the task was cancelled before the block's turn, and errors of the block.
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

    /// Undoes the last step; does nothing when there is none.
    ///
    /// ```swift
    /// try await draft.undo()
    /// try await draft.redo()
    /// ```
    ///
    /// - Throws: ``DataStackError/draftEnded``, ``DataStackError/closed``.
    nonisolated(nonsending) public func undo() async throws { try await perform { $0.undo() } }

    /// Redoes the step that `undo()` last undid; does nothing when there is none.
    ///
    /// - Throws: ``DataStackError/draftEnded``, ``DataStackError/closed``.
    nonisolated(nonsending) public func redo() async throws { try await perform { $0.redo() } }

    // MARK: Ending

    /// Saves all changes of the draft in one write, which is queued with the others, and ends the
    /// draft.
    ///
    /// When it throws, nothing is saved and the draft continues unchanged: correct it, apply it
    /// with another merge policy, or discard it.
    ///
    /// ```swift
    /// do {
    ///     try await draft.apply()
    /// } catch let error as DraftConflictError where userWantsToOverwrite(error.conflicts) {
    ///     try await draft.apply(mergePolicy: .mergeByPropertyObjectTrump)
    /// }
    /// ```
    ///
    /// - Parameter mergePolicy: the policy for conflicts with writes made meanwhile; by default the
    ///   policy of the stack's options.
    /// - Throws: ``DraftConflictError`` for conflicts that the policy does not resolve,
    ///   ``DataStackError/draftEnded``, ``DataStackError/closed``, validation errors, and errors of
    ///   the store.
    nonisolated(nonsending) public func apply(mergePolicy: NSMergePolicy? = nil) async throws {
        let policy = mergePolicy ?? stack.options.mergePolicy
        try await withCheckedThrowingContinuation { continuation in
            stack.inTurn({ continuation.resume(with: $0) }) { _ in try self.save(policy) }
        }
    }

    /// Ends the draft immediately, without its changes. Does nothing when the draft has ended.
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
            // Validates, and saves all changes to the parent, or none.
            try saveChanges(of: context)
            // On the draft's queue, so that nobody changes the draft while it is written.
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
        guard case .open(let open) = stack.guarded.withLock({ $0.current }), open === store else {
            throw DataStackError.closed
        }
        if case .ended = state.withLock({ $0 }) { throw DataStackError.draftEnded }
    }
}
