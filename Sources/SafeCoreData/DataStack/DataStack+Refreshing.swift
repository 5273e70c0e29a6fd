extension DataStack {
    /// Merges changes that other programs, and other stacks of this program, have written to the
    /// store.
    ///
    /// ```swift
    /// try await stack.refresh()
    /// let few = try await stack.read {
    ///     try $0.count(Item.self, where: #Predicate { $0.stockCount < 5 })
    /// }
    /// ```
    ///
    /// A stack merges such changes by itself, soon after they are saved, unless
    /// ``DataStackOptions/followsOtherPrograms`` is false. When this call returns, everything that
    /// was saved before it is merged.
    ///
    /// A fetch, a count and every write read the store's present state without this call. After it,
    /// views of objects that were read before show the present values (those of deleted objects are
    /// empty), observers of changed values are notified, and sequences of results emit a state with
    /// the differences. Nothing is emitted for unchanged values. Drafts stay as they are: changes
    /// that were saved meanwhile are a conflict when a draft is applied.
    ///
    /// The call is queued with the writes. Rows that views and sequences hold are read again in the
    /// background, with one statement for a thousand of them. For a store in memory there is
    /// nothing to merge.
    ///
    /// - Throws: the error of opening the store, ``DataStackError/closed``, and errors of the
    ///   store; the held objects are then unchanged or partly refreshed.
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
        _ main: ReadingContext, _ held: HeldRows, of store: OpenStore,
        _ completion: @escaping @Sendable (Result<Void, any Error>) -> Void
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
