extension DataStack {
    /// Reads off the main actor, concurrently with other queries, reads and writes.
    ///
    /// ```swift
    /// let (few, total) = try await stack.query { context in
    ///     let few = try context.snapshots(Item.self, where: #Predicate { $0.stockCount < 5 })
    ///     return (few, try context.count(Item.self))
    /// }
    /// ```
    ///
    /// For servers and other programs without a user interface. As many queries run at once as the
    /// store has readers: ``DataStackOptions/maximumConnections`` minus the one for writing, and in
    /// memory one for each processor. Further queries wait, in the order of the calls.
    ///
    /// The result is a value, a snapshot, an ID, or a tuple or array of these: returning a managed
    /// object or a view does not compile, as it would be invalid after the block. For views that
    /// follow later writes, use `read(_:)` on the main actor.
    ///
    /// A block reads one consistent state of a SQLite file, whatever is written meanwhile, as with
    /// `setQueryGenerationFrom(.current)`. In a store in memory or in PostgreSQL each fetch reads
    /// the state at its own time. A query that is called after a write has returned sees the
    /// changes of that write.
    ///
    /// Cost: a new context for each call; put fetches that belong together into one block.
    ///
    /// A query whose task is cancelled throws `CancellationError`: before its turn, or from the
    /// running fetch. If a block changes objects, in a getter for example, the changes are
    /// discarded and the query throws.
    ///
    /// - Parameter body: reads, on a background thread of the stack.
    /// - Throws: the error of opening the store, ``DataStackError/closed``, `CancellationError`,
    ///   errors of the block, or ``DataStackError/changedWhileReading(_:)``.
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

    /// Snapshots of the objects of a class that match a predicate, read off the main actor; see
    /// `query(_:)`.
    ///
    /// ```swift
    /// let few = try await stack.fetch(
    ///     Item.self, where: #Predicate { $0.stockCount < 5 }, sortBy: [.ascending(\.name)])
    /// ```
    ///
    /// Cost: one statement and one for each to-many relationship, and O(number of results).
    ///
    /// - Parameters:
    ///   - type: the class of the objects.
    ///   - predicate: selects the objects; nil for all.
    ///   - orderings: the sort order; earlier orderings come first.
    ///   - limit: the greatest number of objects; nil for no limit.
    ///   - offset: the number of objects to skip.
    /// - Throws: as `query(_:)`; `PredicateTranslationError` and ``QueryError`` for conditions that
    ///   no store can evaluate, and `SnapshotError.losesProperties` for objects of subclasses with
    ///   properties of their own: name their snapshot type.
    @inlinable
    nonisolated(nonsending) public func fetch<Object: EntityObject>(
        _ type: Object.Type, where predicate: Predicate<Object>? = nil, sortBy orderings: [Ordering<Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) async throws -> [Object.Snapshot] {
        let request = QueryRequest(type, predicate, orderings, limit: limit, offset: offset)
        return try await query { try $0.snapshots(of: request.request(in: $0)) }
    }

    /// Snapshots of a type of the objects that match a predicate, read off the main actor;
    /// otherwise as `fetch(_:where:sortBy:limit:offset:)`. Objects of subclasses are shown with the
    /// properties of this type.
    ///
    /// ```swift
    /// let novels = try await stack.fetch(Novel.Snapshot.self, sortBy: [.ascending(\.title)])
    /// ```
    @inlinable
    nonisolated(nonsending) public func fetch<Snapshot: EntitySnapshot>(
        _ type: Snapshot.Type, where predicate: Predicate<Snapshot.Object>? = nil,
        sortBy orderings: [Ordering<Snapshot.Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) async throws -> [Snapshot] {
        let request = QueryRequest(Snapshot.Object.self, predicate, orderings, limit: limit, offset: offset)
        return try await query { try $0.snapshots(type, of: request.request(in: $0)) }
    }

    /// Calls the block with the open store in the query's turn, or with the error that there is no
    /// open store.
    private func whenOpenForQueries(_ block: @escaping @Sendable (Result<OpenStore, any Error>) -> Void) {
        if case .open(let store) = guarded.withLock({ $0.current }), store.queries.run({ block(.success(store)) }) {
            return
        }
        // The work queue is opening, closing or replacing the store.
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
            // Objects that the block kept are invalid from here on, and the state of the store that
            // was read is released.
            defer { context.reset() }
            return try cancellation.requests.whileRunning { try context.read(body) }
        }
    }
}
