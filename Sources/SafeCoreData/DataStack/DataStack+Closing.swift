extension DataStack {
    /// Closes the store when all earlier requests are done. Later ones fail with
    /// ``DataStackError/closed``.
    ///
    /// Views that were read become empty and must not be used any more. A stack in memory loses its
    /// objects. Closing a closed stack does nothing.
    ///
    /// ```swift
    /// try await stack.close()                          // after the writes that were called before
    /// ```
    ///
    /// - Throws: errors of closing the store.
    nonisolated(nonsending) public func close() async throws {
        try await onWorkQueue { try self.closeStore() }
    }

    /// Opens the store again after it was closed or could not be opened; an open one stays open.
    ///
    /// Requests made from now on wait for the opening.
    ///
    /// ```swift
    /// try await stack.close()
    /// try backUp(fileURL)
    /// try await stack.reopen()
    /// ```
    ///
    /// - Throws: the error of opening the store.
    nonisolated(nonsending) public func reopen() async throws {
        try await onWorkQueue {
            if case .success? = self.guarded.withLock({ $0.current.answer }) { return }
            try self.open()
        }
    }

    /// Closes the store when all earlier requests are done, and deletes its contents. The stack is
    /// closed afterwards; `reopen()` starts with an empty store.
    ///
    /// The file of a SQLite store remains; it is emptied under the locks of the database. Another
    /// stack or process that has it open finds it empty, and has to close and reopen it before it
    /// can continue. In a PostgreSQL database the tables of the store are dropped, and its schema
    /// too if nothing else is in it.
    ///
    /// ```swift
    /// try await stack.destroy()
    /// try await stack.reopen()                                // with an empty store
    /// ```
    ///
    /// - Throws: a `CocoaError` when the store cannot be destroyed; its contents are then
    ///   untouched, and the stack is closed.
    nonisolated(nonsending) public func destroy() async throws {
        try await onWorkQueue {
            try self.closeStore()
            let description = self.options.description(of: self.location)
            guard let url = description.url else { return }
            try NSPersistentStoreCoordinator().destroyPersistentStore(
                at: url, ofType: description.type, options: description.options)
        }
    }

    /// Replaces this store by a copy of another one, when all earlier requests are done. Requests
    /// made from now on wait and use the new store. Views that were read become empty.
    ///
    /// Cost: O(size of the store).
    ///
    /// ```swift
    /// try await stack.replaceStore(withCopyOf: backupURL)
    /// ```
    ///
    /// - Parameter sourceURL: a store of the same kind: a SQLite file, which must not be open for
    ///   writing elsewhere, or a schema of a PostgreSQL database, whose password is obtained like
    ///   that of the stack's own store.
    /// - Throws: ``DataStackError/noFile`` for a stack in memory,
    ///   ``DataStackError/otherKindOfStore(source:own:)`` for a URL of another kind of store, a
    ///   `CocoaError` when the store cannot be copied (then the stack works with the old one), or
    ///   the error of opening the new one.
    nonisolated(nonsending) public func replaceStore(withCopyOf sourceURL: URL) async throws {
        guard let url = location.url else { throw DataStackError.noFile }
        let (sourceType, ownType) = (
            NSPersistentStoreDescription(url: sourceURL).type, options.description(of: location).type
        )
        guard sourceType == ownType else { throw DataStackError.otherKindOfStore(source: sourceType, own: ownType) }
        try await onWorkQueue {
            try self.closeStore(andEnter: .opening)
            let outcome = Result {
                let options = self.options.description(of: self.location).options
                try NSPersistentStoreCoordinator().replacePersistentStore(
                    at: url, destinationOptions: options, withPersistentStoreFrom: sourceURL, sourceOptions: options,
                    ofType: ownType)
            }
            try self.open()
            try outcome.get()
        }
    }

    /// Runs a block on the work queue, after the requests before it.
    nonisolated(nonsending) func onWorkQueue<Output: Sendable>(
        _ body: @escaping @Sendable () throws -> Output
    ) async throws -> Output {
        try await withCheckedThrowingContinuation { continuation in
            work.async { continuation.resume(with: Result { try body() }) }
        }
    }

    /// Opens the store on the work queue.
    ///
    /// - Throws: the error of opening the store.
    private func open() throws {
        guarded.withLock { guarded in
            // `closeStore(andEnter: .opening)` of a replacement has already entered this state.
            if case .opening = guarded.current { return }
            guarded.enter(.opening)
        }
        openStore()
        _ = try openedStore()
    }

    /// Closes the store on the work queue.
    private func closeStore(andEnter next: StoreState = .closed) throws {
        let store = guarded.withLock { guarded -> OpenStore? in
            defer { guarded.enter(next) }
            guard case .open(let store) = guarded.current else { return nil }
            return store
        }
        guard let store else { return }
        store.end()
        store.endResults()
        store.endDrafts()
        if let main = store.mainContext { main.performAndWait { main.reset() } }
        for persistentStore in store.coordinator.persistentStores { try store.coordinator.remove(persistentStore) }
    }
}
