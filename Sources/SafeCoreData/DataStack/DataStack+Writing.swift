extension DataStack {
    /// Writes in the background: runs the block on the queue of a new context and saves the context
    /// when the block returns.
    ///
    /// Cost: a new context and one transaction for each call; put many changes into one block.
    ///
    /// ```swift
    /// let id = try await stack.write { context in
    ///     let item = Item(context: context, name: "Bolt")
    ///     return item.objectID
    /// }
    /// ```
    ///
    /// Writes run one after the other, in the order of the calls. When the call returns, the
    /// changes are saved and merged into the main context. When the block or the save throws, the
    /// write leaves no changes, neither in the store nor in a context.
    ///
    /// The result is a value, a snapshot or an ID: returning a managed object or a view of one does
    /// not compile. IDs and snapshots of new objects remain valid afterwards. The first such ID or
    /// snapshot takes a small transaction. For many objects it is cheapest to make all objects
    /// first.
    ///
    /// Cancelling the task before the block's turn, or while it runs, makes the call throw
    /// `CancellationError` and leaves no changes of the write; a long block should call
    /// `context.checkCancellation()`. Once the save has begun, cancelling has no effect.
    ///
    /// If another program, or another stack on the same file, changes or deletes objects between
    /// the block's reading and the save, that is a conflict, unless the stack's merge policy
    /// resolves it. With `retries` the block then runs again, on a new context:
    ///
    /// ```swift
    /// try await stack.write(retries: 3) { context in
    ///     let counter = try context.object(with: counterID, as: Counter.self)
    ///     counter.value += 1
    /// }
    /// ```
    ///
    /// Failed attempts leave no changes, and the result is that of the last attempt. Side effects
    /// of the block outside its context happen each time. A block that has saved its context
    /// itself, or has changed many rows at once, is not run again: its conflict is thrown.
    ///
    /// - Parameters:
    ///   - retries: the number of times that the block runs again after a conflict (code 133020); 0
    ///     by default. Other errors are thrown immediately, including values that are not unique
    ///     (133021).
    ///   - body: makes the changes, on a background queue of the stack.
    /// - Throws: the error of opening the store, ``DataStackError/closed``, `CancellationError`,
    ///   errors of the block, or what `save()` throws: validation errors, conflicts, errors of the
    ///   store.
    @discardableResult
    nonisolated(nonsending) public func write<Output: Sendable>(
        retries: Int = 0, _ body: @escaping @Sendable (WriteContext) throws -> Output
    ) async throws -> Output {
        let cancellation = TaskCancellation()
        return try await cancellation.whileRunning {
            try await withCheckedThrowingContinuation { continuation in
                enqueue(body, retries, cancellation) { continuation.resume(with: $0) }
            }
        }
    }

    /// Writes to the object behind a view, in the background; otherwise as `write(retries:_:)`.
    ///
    /// ```swift
    /// try await stack.write(to: item) { context, item in item.stockCount -= 1 }
    /// ```
    ///
    /// - Throws: also code 133000 when the object's row is gone.
    @discardableResult
    nonisolated(nonsending) public func write<Object: NSManagedObject, Output: Sendable>(
        to view: ReadOnly<Object>, retries: Int = 0, _ body: @escaping @Sendable (WriteContext, Object) throws -> Output
    ) async throws -> Output {
        let objectID = view.objectID
        return try await write(retries: retries) { context in
            try body(context, context.object(with: objectID, as: Object.self))
        }
    }

    /// Writes in the background and calls back; otherwise as the `async` form.
    ///
    /// ```swift
    /// stack.write({ context in
    ///     Item(context: context, code: "B8", name: "Bolt").objectID
    /// }) { result in
    ///     if case .failure(let error) = result { print(error.localizedDescription) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - retries: the number of times that the block runs again after a conflict, as in the
    ///     `async` form.
    ///   - body: makes the changes, on a background queue of the stack.
    ///   - completion: called once, on a background queue of the stack or on the main queue, with
    ///     the result of the block or the error.
    public func write<Output: Sendable>(
        retries: Int = 0, _ body: @escaping @Sendable (WriteContext) throws -> Output,
        completion: @escaping @Sendable (Result<Output, any Error>) -> Void
    ) {
        enqueue(body, retries, TaskCancellation(), completion)
    }

    private func enqueue<Output: Sendable>(
        _ body: @escaping @Sendable (WriteContext) throws -> Output, _ retries: Int, _ cancellation: TaskCancellation,
        _ completion: @escaping @Sendable (Result<Output, any Error>) -> Void
    ) {
        precondition(retries >= 0, "A write cannot be repeated \(retries) times: retries is 0 or more.")
        inTurn(completion) { store in
            try cancellation.check()
            return try self.perform(body, retries, on: store, cancellation)
        }
    }

    /// Queues work that saves with the writes, and calls back when the main context has merged the
    /// changes.
    func inTurn<Output: Sendable>(
        _ completion: @escaping @Sendable (Result<Output, any Error>) -> Void,
        _ body: @escaping @Sendable (OpenStore) throws -> Output
    ) {
        work.async {
            do {
                let store = try self.openedStore()
                let output = try body(store)
                // The save has already enqueued the merge on the main queue; this callback runs
                // after it.
                guard let main = store.mainContext else { return completion(.success(output)) }
                main.perform { completion(.success(output)) }
            } catch {
                completion(.failure(error))
            }
        }
    }

    private func perform<Output>(
        _ body: (WriteContext) throws -> Output, _ retries: Int, on store: OpenStore, _ cancellation: TaskCancellation
    ) throws -> Output {
        var retries = retries
        while true {
            let context = WriteContext(
                coordinator: store.coordinator, mergePolicy: options.mergePolicy, cancellation: cancellation)
            do {
                return try attempt(body, in: context, cancellation)
            } catch {
                guard retries > 0, !context.hasWritten, Self.isConflict(error) else { throw error }
                retries -= 1
                try cancellation.check()
                // Another program or stack has written: the next attempt must read the rows that
                // are in the store.
                store.coordinator.forgetCachedRows()
            }
        }
    }

    /// Whether a save failed because it found rows that were changed or deleted meanwhile.
    private static func isConflict(_ error: any Error) -> Bool {
        let error = error as NSError
        return error.domain == NSCocoaErrorDomain && error.code == NSManagedObjectMergeError
    }

    private func attempt<Output>(
        _ body: (WriteContext) throws -> Output, in context: WriteContext, _ cancellation: TaskCancellation
    ) throws -> Output {
        try context.performAndWait {
            // Objects of the context that the block kept are invalid from here on.
            defer { context.reset() }
            let output = try cancellation.requests.whileRunning { try body(context) }
            try cancellation.check()
            if context.hasChanges { try context.save() }
            return output
        }
    }
}
