// The persistent history of a stack's store, which needs `DataStackOptions.tracksHistory`.
extension DataStack {
    /// Returns the transactions after a token, in their order, with their changes.
    ///
    /// ```swift
    /// for transaction in try await stack.history(after: lastToken) {
    ///     for change in transaction.changes(of: Item.self) { show(change) }
    ///     lastToken = transaction.token                        // Codable: it may be kept anywhere
    /// }
    /// ```
    ///
    /// Cost: O(number of their changes), all of which are in memory; a limit bounds them.
    ///
    /// - Parameters:
    ///   - token: the place of the last transaction that was read; nil for all that are kept.
    ///   - limit: the greatest number of transactions; nil for no limit.
    /// - Throws: as `query(_:)`; code 134301 where transactions after the token were deleted, and
    ///   `CocoaError.coreData` (134060) where the store has no history.
    nonisolated(nonsending) public func history(
        after token: NSPersistentHistoryToken?, limit: Int? = nil
    ) async throws -> [NSPersistentHistoryTransaction] {
        try await query { context in
            try DataStack.requireHistory(context.context)
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            if let limit {
                request.fetchRequest = NSPersistentHistoryTransaction.fetchRequest
                request.fetchRequest?.fetchLimit = max(limit, 0)
                if limit <= 0 { return [] }
            }
            let result = try context.context.execute(request) as? NSPersistentHistoryResult
            return result?.result as? [NSPersistentHistoryTransaction] ?? []
        }
    }

    /// Returns the place after the last transaction: what is written from here on comes after it.
    ///
    /// ```swift
    /// let token = try await stack.currentHistoryToken()
    /// let items = try await stack.fetch(Item.self)             // at least what came before the token
    /// ```
    ///
    /// - Throws: as `history(after:limit:)`.
    nonisolated(nonsending) public func currentHistoryToken() async throws -> NSPersistentHistoryToken {
        try await query { try DataStack.requireHistory($0.context) }
    }

    /// The transactions that a named reader has not read yet, and from then on each one as it is
    /// committed, also by other programs. The place of the reader is kept in the store: after a
    /// relaunch the sequence continues there.
    ///
    /// ```swift
    /// for try await transaction in stack.history(reader: "uploader") {
    ///     for change in transaction.changes(of: Item.self) { try await upload(change) }
    /// }
    /// ```
    ///
    /// A transaction counts as read when the next one is asked for: if the program ends before
    /// that, it comes again. No transaction is left out. A new reader begins with the oldest
    /// transaction that is kept. A reader that is removed while a loop reads is not made again. The
    /// retention of the stack deletes nothing that a reader has not read, so a reader that is not
    /// used any more must be removed.
    ///
    /// The sequence ends when the stack is closed or released, and when the iterating task is
    /// cancelled.
    ///
    /// Cost: one write transaction for each transaction that was read.
    ///
    /// - Parameter name: a name of your choice. Two loops of one name at the same time both get the
    ///   transactions.
    /// - Returns: a sequence that throws the errors of `history(after:limit:)`. After 134301,
    ///   because a program deleted transactions that were not read, remove the reader and fetch the
    ///   objects again.
    public func history(reader name: String) -> HistorySequence { HistorySequence(stack: self, reader: name) }

    /// Removes a named reader: its place is forgotten, and what it has not read may be deleted. It
    /// is no error when there is none.
    ///
    /// - Throws: the error of opening the store, ``DataStackError/closed``, or errors of writing.
    nonisolated(nonsending) public func removeHistoryReader(_ name: String) async throws {
        try await onWorkQueue { try self.openedStore().coordinator.setHistoryToken(nil, forReader: name) }
    }

    /// Returns the place after the last transaction.
    ///
    /// - Throws: an error where the store has no history.
    @discardableResult
    private static func requireHistory(_ context: NSManagedObjectContext) throws -> NSPersistentHistoryToken {
        let coordinator = context.persistentStoreCoordinator
        guard let token = coordinator?.currentPersistentHistoryToken(fromStores: nil) else {
            throw SafeCoreDataErrors.noHistory
        }
        return token
    }
}
