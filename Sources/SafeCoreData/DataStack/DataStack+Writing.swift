extension DataStack {
    /// Writes in the background: runs the block on the queue of a context of its own and saves that when the block returns.
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
    /// - Throws: why the store could not be opened, ``DataStackError/closed``, `CancellationError`, what the block throws, or what
    ///   `save()` throws: validation errors, conflicts, errors of the store.
    @discardableResult
    nonisolated(nonsending) public func write<Output: Sendable>(
        _ body: @escaping @Sendable (WriteContext) throws -> Output
    ) async throws -> Output {
        let cancellation = WriteCancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enqueue(body, cancellation) { continuation.resume(with: $0) }
            }
        } onCancel: {
            cancellation.cancel()
        }
    }

    /// Writes to the object behind a view, in the background; otherwise as `write(_:)`.
    ///
    /// ```swift
    /// try await stack.write(to: item) { context, item in item.stockCount -= 1 }
    /// ```
    ///
    /// - Throws: also code 133000 when the object's row is gone.
    @discardableResult
    nonisolated(nonsending) public func write<Object: NSManagedObject, Output: Sendable>(
        to view: ReadOnly<Object>, _ body: @escaping @Sendable (WriteContext, Object) throws -> Output
    ) async throws -> Output {
        let objectID = view.objectID
        return try await write { context in try body(context, context.object(with: objectID, as: Object.self)) }
    }

    /// Writes in the background and calls back; otherwise as the `async` form.
    ///
    /// - Parameter completion: called once, on a queue of the stack's own or on the main queue, with what the block returned or the
    ///   error.
    public func write<Output: Sendable>(
        _ body: @escaping @Sendable (WriteContext) throws -> Output,
        completion: @escaping @Sendable (Result<Output, any Error>) -> Void
    ) {
        enqueue(body, WriteCancellation(), completion)
    }

    private func enqueue<Output: Sendable>(
        _ body: @escaping @Sendable (WriteContext) throws -> Output, _ cancellation: WriteCancellation,
        _ completion: @escaping @Sendable (Result<Output, any Error>) -> Void
    ) {
        work.async {
            do {
                let store = try self.openedStore()
                try cancellation.check()
                let output = try self.perform(body, on: store, cancellation)
                // The main context merges on the main queue, where the save has put that already.
                guard let main = store.mainContext else { return completion(.success(output)) }
                main.perform { completion(.success(output)) }
            } catch {
                completion(.failure(error))
            }
        }
    }

    private func perform<Output>(
        _ body: (WriteContext) throws -> Output, on store: OpenStore, _ cancellation: WriteCancellation
    ) throws -> Output {
        let context = WriteContext(
            coordinator: store.coordinator, mergePolicy: options.mergePolicy, cancellation: cancellation)
        return try context.performAndWait {
            // Whatever the block kept of the context is of no use any more.
            defer { context.reset() }
            let output = try body(context)
            try cancellation.check()
            if context.hasChanges { try context.save() }
            return output
        }
    }
}
