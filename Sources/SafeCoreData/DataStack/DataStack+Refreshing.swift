extension DataStack {
    /// Takes over what other programs, and other stacks of this one, have written to the store.
    ///
    /// ```swift
    /// try await stack.refresh()
    /// let few = try await stack.read { try $0.count(Item.self, where: #Predicate { $0.stockCount < 5 }) }
    /// ```
    ///
    /// A fetch, a count and every write find what is in the store by themselves. What does not follow are objects that were read before:
    /// afterwards views show the present values (those of deleted objects are empty), observers of what has changed are told, and sequences of
    /// results give a state with what is different. Nothing is told of what is the same. Drafts stay as they are: what others have changed
    /// is a conflict when they are applied.
    ///
    /// It takes its turn among the writes. Rows that views and sequences hold are read once more, in the background: a statement for a
    /// thousand of them. For a store in memory there is nothing to take over.
    ///
    /// - Throws: why the store could not be opened, ``DataStackError/closed``, and errors of the store; what is held is then as it was, or in
    ///   part as it is in the store.
    nonisolated(nonsending) public func refresh() async throws {
        try await withCheckedThrowingContinuation { continuation in
            work.async { self.refresh { continuation.resume(with: $0) } }
        }
    }

    /// Runs on the work queue.
    private func refresh(_ completion: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        do {
            let store = try openedStore()
            store.coordinator.forgetCachedRows()
            if let following = store.resultsContext {
                try following.performAndWait { following.takeOver(try following.heldRows.differences()) }
            }
            guard let main = store.mainContext else { return completion(.success(())) }
            main.perform {
                let held = main.heldRows
                // The main queue does not wait for the store.
                self.work.async { self.finishRefreshing(main, held, of: store, completion) }
            }
        } catch {
            completion(.failure(error))
        }
    }

    private func finishRefreshing(
        _ main: ReadingContext, _ held: HeldRows, of store: OpenStore, _ completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        do {
            guard try openedStore() === store else { throw DataStackError.closed }
            let differences = try held.differences()
            main.perform {
                main.takeOver(differences)
                completion(.success(()))
            }
        } catch {
            completion(.failure(error))
        }
    }
}
