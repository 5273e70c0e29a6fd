extension DataStack {
    /// Reads on the main actor, as soon as the store is open.
    ///
    /// Cost: that of the block, on the main actor. The main context is made once.
    ///
    /// ```swift
    /// let items = try await stack.read { try $0.fetch(NSFetchRequest<Item>(entityName: "Item")) }
    /// ```
    ///
    /// The block gets views, numbers and IDs, but no writable object. A caller on the main actor
    /// may keep the views, which follow later writes. Elsewhere the result must be `Sendable`,
    /// which views are not.
    ///
    /// Changes that the types cannot prevent are detected at run time: a getter that changes its
    /// object, or code that reaches the context in an unsafe way. Changes that are found before or
    /// after the block are rolled back, and the read throws. The main context cannot be saved.
    ///
    /// Reads run in the order of the calls. A read whose task is cancelled while it waits still
    /// runs: check `Task.isCancelled` in the block.
    ///
    /// For values that are not needed on the main actor, such as a server's responses, use
    /// `query(_:)`, which runs concurrently.
    ///
    /// - Throws: the error of opening the store, ``DataStackError/closed``, errors of the block, or
    ///   ``DataStackError/changedWhileReading(_:)``.
    @MainActor public func read<Result>(_ body: @MainActor (ReadContext) throws -> Result) async throws -> Result {
        let isFree = guarded.withLock { guarded in
            if case .open = guarded.current { return !guarded.isReading }
            return false
        }
        if isFree { return try await contextWhenOpen().read { try body($0) } }
        await takeTurn()
        defer { endTurn() }
        try await opened()
        return try await contextWhenOpen().read { try body($0) }
    }

    /// Waits until the reads before this one have ended. Each of them resumes the next: the order
    /// in which tasks are scheduled is not that of the calls.
    @MainActor private func takeTurn() async {
        await withCheckedContinuation { turn in
            let isFirst = guarded.withLock { guarded in
                defer { guarded.isReading = true }
                if guarded.isReading { guarded.turns.append(turn) }
                return !guarded.isReading
            }
            if isFirst { turn.resume() }
        }
    }

    /// Returns the main context. Waits again while the store is being replaced.
    @MainActor private func contextWhenOpen() async throws -> ReadingContext {
        while true {
            do { return try openContext() } catch DataStackError.notOpenYet { try await opened() }
        }
    }

    @MainActor private func openContext() throws -> ReadingContext {
        // A store that is being closed returns nil here; the state of the stack then throws the
        // reason.
        while true {
            if let context = try openedStore().makeMainContext() { return context }
        }
    }

    /// Not isolated to the main actor: where a wait ends with an error, the compiler omits the
    /// return to the main actor, and a closure isolated to the main actor would then stop the
    /// program.
    nonisolated private func endTurn() {
        let next = guarded.withLock { guarded in
            if guarded.turns.isEmpty { guarded.isReading = false }
            return guarded.turns.isEmpty ? nil : guarded.turns.removeFirst()
        }
        next?.resume()
    }

    /// Reads immediately, for code on the main actor that cannot wait.
    ///
    /// ```swift
    /// let count = try stack.readNow { try $0.count(Item.self) }
    /// ```
    ///
    /// - Throws: ``DataStackError/notOpenYet`` when the store is being opened; otherwise as
    ///   `read(_:)`.
    @MainActor public func readNow<Result>(_ body: @MainActor (ReadContext) throws -> Result) throws -> Result {
        try openContext().read { try body($0) }
    }

    /// Reads on the main actor when the store is open; for code without `async`.
    ///
    /// ```swift
    /// stack.whenOpen { result in
    ///     do {
    ///         show(try result.get().fetch(Item.self).map(\.name))
    ///     } catch {
    ///         print(error.localizedDescription)
    ///     }
    /// }
    /// ```
    ///
    /// - Parameter body: called once, with the error when the store could not be opened. Changes
    ///   made while it runs are rolled back and reported by the next read.
    public func whenOpen(read body: @escaping @MainActor @Sendable (Result<ReadContext, any Error>) -> Void) {
        whenOpen { _ in
            Task { @MainActor in body(Result { try self.readNow { $0 } }) }
        }
    }
}
