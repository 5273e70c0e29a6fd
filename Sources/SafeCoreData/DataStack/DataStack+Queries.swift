extension DataStack {
    /// Reads off the main actor, beside other queries, reads and writes.
    ///
    /// ```swift
    /// let (few, total) = try await stack.query { context in
    ///     let few = try context.snapshots(Item.self, where: #Predicate { $0.stockCount < 5 })
    ///     return (few, try context.count(Item.self))
    /// }
    /// ```
    ///
    /// This is how a server reads, and a program that shows nothing. As many queries run at once as the store has readers:
    /// ``DataStackOptions/maximumConnections`` without the one that writes, and in memory one for each processor. Further ones wait, in the
    /// order of the calls.
    ///
    /// The result is a value, a snapshot, an ID, or a tuple or array of these: a managed object or a view does not compile, and is of no use
    /// after the block. For views that follow what is written, use `read(_:)` on the main actor.
    ///
    /// All that a block reads of a SQLite file is of one moment, whatever is written meanwhile, as with
    /// `setQueryGenerationFrom(.current)`. Stores in memory and in PostgreSQL give each fetch what is there then. A query that is called
    /// after a write has returned sees what that has written.
    ///
    /// Cost: a new context for each call; fetches that belong together belong in one block.
    ///
    /// A query whose task is cancelled throws `CancellationError`: before its turn, or from the fetch that it is in. What a block changes,
    /// in a getter for example, is discarded, and the query throws.
    ///
    /// - Parameter body: reads, on a thread of the stack's own.
    /// - Throws: why the store could not be opened, ``DataStackError/closed``, `CancellationError`, what the block throws, or
    ///   ``DataStackError/changedWhileReading(_:)``.
    nonisolated(nonsending) public func query<Output: Sendable>(
        _ body: @escaping @Sendable (ReadContext) throws -> Output
    ) async throws -> Output {
        let cancellation = TaskCancellation()
        return try await cancellation.whileRunning {
            try await withCheckedThrowingContinuation { continuation in
                whenOpenForQueries { store in
                    continuation.resume(with: Result { try Self.query(store.get(), cancellation, body) })
                }
            }
        }
    }

    /// Snapshots of the objects of a class that match a predicate, read off the main actor; see `query(_:)`.
    ///
    /// ```swift
    /// let few = try await stack.fetch(Item.self, where: #Predicate { $0.stockCount < 5 }, sortBy: [.ascending(\.name)])
    /// ```
    ///
    /// Cost: one statement and one for each to-many relationship, and O(number of results).
    ///
    /// - Parameters:
    ///   - type: the class of the objects.
    ///   - predicate: which of them; nil for all.
    ///   - orderings: their order, the first deciding most.
    ///   - limit: the greatest number of objects; nil for no limit.
    ///   - offset: how many of the first to leave out.
    /// - Throws: as `query(_:)`; `PredicateTranslationError` and ``QueryError`` for what no store can be asked, and
    ///   `SnapshotError.losesProperties` for objects of subclasses with properties of their own: name their snapshot type.
    @inlinable
    nonisolated(nonsending) public func fetch<Object: EntityObject>(
        _ type: Object.Type, where predicate: Predicate<Object>? = nil, sortBy orderings: [Ordering<Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) async throws -> [Object.Snapshot] {
        let request = QueryRequest(type, predicate, orderings, limit: limit, offset: offset)
        return try await query { try $0.snapshots(of: request.request(in: $0)) }
    }

    /// Snapshots of a type of the objects that match a predicate, read off the main actor; otherwise as
    /// `fetch(_:where:sortBy:limit:offset:)`. Objects of subclasses are shown with the properties of this type.
    ///
    /// ```swift
    /// let novels = try await stack.fetch(Novel.Snapshot.self, sortBy: [.ascending(\.title)])
    /// ```
    @inlinable
    nonisolated(nonsending) public func fetch<Snapshot: EntitySnapshot>(
        _ type: Snapshot.Type, where predicate: Predicate<Snapshot.Object>? = nil, sortBy orderings: [Ordering<Snapshot.Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) async throws -> [Snapshot] {
        let request = QueryRequest(Snapshot.Object.self, predicate, orderings, limit: limit, offset: offset)
        return try await query { try $0.snapshots(type, of: request.request(in: $0)) }
    }

    /// Gives a query the store in its turn, or why there is none.
    private func whenOpenForQueries(_ block: @escaping @Sendable (Result<OpenStore, any Error>) -> Void) {
        if case .open(let store) = guarded.withLock({ $0.current }), store.queries.run({ block(.success(store)) }) { return }
        // The store is being opened, closed or replaced, on the work queue.
        work.async {
            do {
                let store = try self.openedStore()
                guard store.queries.run({ block(.success(store)) }) else { throw DataStackError.closed }
            } catch {
                block(.failure(error))
            }
        }
    }

    private static func query<Output>(
        _ store: OpenStore, _ cancellation: TaskCancellation, _ body: (ReadContext) throws -> Output
    ) throws -> Output {
        try cancellation.check()
        let context = try ReadingContext(queryOf: store.coordinator)
        return try context.performAndWait {
            // Whatever the block kept of the context is of no use any more, and the state that it read is let go of.
            defer { context.reset() }
            return try cancellation.requests.whileRunning { try context.read(body) }
        }
    }
}
