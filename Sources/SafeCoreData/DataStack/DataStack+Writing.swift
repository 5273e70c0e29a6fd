extension DataStack {
    /// Writes in the background: runs the block on the queue of a context of its own and saves that when the block returns.
    ///
    /// Cost: a new context and one transaction for each call; many changes belong in one block.
    ///
    /// ```swift
    /// let id = try await stack.write { context in
    ///     let item = Item(context: context, name: "Bolt")
    ///     return item.objectID
    /// }
    /// ```
    ///
    /// Writes run one after the other, in the order of the calls. When the call returns, the changes are saved and merged into the
    /// main context. When the block or the save throws, nothing of the write is left, neither in the store nor in a context.
    ///
    /// The result is a value, a snapshot or an ID: a managed object or a view of one does not compile. IDs and snapshots of new
    /// objects find these later. The first of them takes a small transaction, so that those of many objects are cheapest when
    /// all objects have been made.
    ///
    /// Cancelling the task before the block's turn, or while it runs, makes the call throw `CancellationError` and leaves nothing of
    /// the write; a block that takes long asks `context.checkCancellation()`. Once the save has begun, cancelling has no effect.
    ///
    /// What others (another program, another stack on the same file) change or delete between the block's reading and the save is a
    /// conflict, where the stack's merge policy does not settle it. With `retries` the block is then run again, on a context that has read
    /// nothing yet:
    ///
    /// ```swift
    /// try await stack.write(retries: 3) { context in
    ///     let counter = try context.object(with: counterID, as: Counter.self)
    ///     counter.value += 1
    /// }
    /// ```
    ///
    /// Nothing of the attempts that failed is left, and the result is that of the last one; what the block does outside of its context
    /// happens each time. A block that has saved its context itself, or changed many rows at once, is not run again: its conflict is
    /// thrown.
    ///
    /// - Parameters:
    ///   - retries: how many times the block is run again after a conflict (code 133020); 0 unless said otherwise. Other errors are thrown
    ///     at once, also values that are not unique (133021).
    ///   - body: makes the changes, on a queue of the stack's own.
    /// - Throws: why the store could not be opened, ``DataStackError/closed``, `CancellationError`, what the block throws, or what
    ///   `save()` throws: validation errors, conflicts, errors of the store.
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
        return try await write(retries: retries) { context in try body(context, context.object(with: objectID, as: Object.self)) }
    }

    /// Writes in the background and calls back; otherwise as the `async` form.
    ///
    /// ```swift
    /// stack.write({ context in Item(context: context, code: "B8", name: "Bolt").objectID }) { result in
    ///     if case .failure(let error) = result { print(error.localizedDescription) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - retries: how many times the block is run again after a conflict, as in the `async` form.
    ///   - body: makes the changes, on a queue of the stack's own.
    ///   - completion: called once, on a queue of the stack's own or on the main queue, with what the block returned or the
    ///     error.
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

    /// Runs work that saves in its turn among the writes, and calls back when the main context has merged what was saved.
    func inTurn<Output: Sendable>(
        _ completion: @escaping @Sendable (Result<Output, any Error>) -> Void, _ body: @escaping @Sendable (OpenStore) throws -> Output
    ) {
        work.async {
            do {
                let store = try self.openedStore()
                let output = try body(store)
                // The main context merges on the main queue, where the save has put that already.
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
                // Others have written: what the next attempt reads must be what is in the store.
                store.coordinator.forgetCachedRows()
            }
        }
    }

    /// Whether an error is that of a save which found rows changed or deleted by others.
    private static func isConflict(_ error: any Error) -> Bool {
        let error = error as NSError
        return error.domain == NSCocoaErrorDomain && error.code == NSManagedObjectMergeError
    }

    private func attempt<Output>(
        _ body: (WriteContext) throws -> Output, in context: WriteContext, _ cancellation: TaskCancellation
    ) throws -> Output {
        try context.performAndWait {
            // Whatever the block kept of the context is of no use any more.
            defer { context.reset() }
            let output = try cancellation.requests.whileRunning { try body(context) }
            try cancellation.check()
            if context.hasChanges { try context.save() }
            return output
        }
    }
}
