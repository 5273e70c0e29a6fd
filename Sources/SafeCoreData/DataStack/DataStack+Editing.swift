extension DataStack {
    /// Edits the object behind a view on a context of its own, and saves all changes when the block
    /// returns.
    ///
    /// ```swift
    /// try await stack.edit(item) { draft in
    ///     draft.name = "Hex bolt"
    ///     draft.step { draft.stockCount = 0 }
    ///     if !isWanted(draft.stockCount) { draft.undo() }
    /// }
    /// ```
    ///
    /// The block may undo and redo its steps. A thrown error, or cancelling the task before the
    /// save, discards everything. Unlike `write`, the block does not keep other writes waiting:
    /// only its save is queued with them. Changes of the same objects that were saved meanwhile are
    /// a conflict, unless the stack's merge policy resolves it.
    ///
    /// For edits that last longer than a block, such as a form on the screen, see ``draft(of:)``.
    ///
    /// - Returns: the block's result: values, snapshots or IDs.
    /// - Throws: code 133000 when the object's row is gone or was never saved,
    ///   ``DraftConflictError``, and as `write(retries:_:)`.
    @discardableResult
    nonisolated(nonsending) public func edit<Object: NSManagedObject, Output: Sendable>(
        _ view: ReadOnly<Object>, _ body: @escaping @Sendable (DraftObject<Object>) throws -> Output
    ) async throws -> Output {
        try await edit(view.objectID, as: Object.self, body)
    }

    /// Edits the object with an ID; otherwise as `edit(_:_:)`.
    ///
    /// ```swift
    /// try await stack.edit(itemID, as: Item.self) { $0.stockCount += 1 }
    /// ```
    ///
    /// - Parameters:
    ///   - objectID: the permanent ID of an object of the stack's store.
    ///   - type: the class that the object must have.
    ///   - body: makes the changes, on the draft's queue.
    /// - Throws: also `CocoaError.coreData` (134060) when it is of another class.
    @discardableResult
    nonisolated(nonsending) public func edit<Object: NSManagedObject, Output: Sendable>(
        _ objectID: NSManagedObjectID, as type: Object.Type,
        _ body: @escaping @Sendable (DraftObject<Object>) throws -> Output
    ) async throws -> Output {
        let draft = try await draft(of: objectID, as: type)
        defer { draft.discard() }
        let output = try await draft.perform(body)
        try Task.checkCancellation()
        try await draft.apply()
        return output
    }

    /// Begins to edit the object behind a view.
    ///
    /// ```swift
    /// let draft = try await stack.draft(of: item)
    /// try await draft.perform { $0.name = "Hex bolt" }
    /// try await draft.apply()
    /// ```
    ///
    /// - Throws: the error of opening the store, ``DataStackError/closed``, and code 133000 when
    ///   the object's row is gone or was never saved.
    nonisolated(nonsending) public func draft<Object: NSManagedObject>(of view: ReadOnly<Object>) async throws -> Draft<
        Object
    > {
        try await draft(of: view.objectID, as: Object.self)
    }

    /// Begins to edit the object with an ID; otherwise as `draft(of:)`.
    ///
    /// ```swift
    /// let draft = try await stack.draft(of: itemID, as: Item.self)
    /// ```
    ///
    /// - Parameters:
    ///   - objectID: the permanent ID of an object of the stack's store.
    ///   - type: the class that the object must have.
    /// - Throws: also `CocoaError.coreData` (134060) when it is of another class.
    nonisolated(nonsending) public func draft<Object: NSManagedObject>(
        of objectID: NSManagedObjectID, as type: Object.Type
    ) async throws -> Draft<Object> {
        try await makeDraft { try $0.object(with: objectID, as: type) }
    }

    /// Begins to edit a new object, which is in the store once the draft has been applied.
    ///
    /// ```swift
    /// let draft = try await stack.draft { context in Item(context: context, name: "") }
    /// ```
    ///
    /// - Parameter make: makes the object in the draft's context.
    /// - Throws: the error of opening the store, ``DataStackError/closed``, and errors of the
    ///   block.
    nonisolated(nonsending) public func draft<Object: NSManagedObject>(
        making make: @escaping @Sendable (WriteContext) throws -> Object
    ) async throws -> Draft<Object> {
        try await makeDraft(make)
    }

    nonisolated(nonsending) private func makeDraft<Object: NSManagedObject>(
        _ find: @escaping @Sendable (WriteContext) throws -> Object
    ) async throws -> Draft<Object> {
        try await onWorkQueue { try Draft(of: self, on: self.openedStore(), find) }
    }
}
