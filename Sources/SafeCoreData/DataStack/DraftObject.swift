/// The object of a draft within one block. Its properties can be read and set as on the object
/// itself.
///
/// ```swift
/// try await stack.edit(item) { draft in
///     draft.name = "Hex bolt"
///     draft.object.parts.append(Part(context: draft.context, title: "Washer"))
/// }
/// ```
///
/// A draft object belongs to the queue of its context and is not `Sendable`.
@dynamicMemberLookup
public struct DraftObject<Object: NSManagedObject> {
    /// The object itself, writable.
    public let object: Object
    /// The context of the draft, for new objects and for other objects that are changed together
    /// with this one.
    public let context: WriteContext

    init(_ object: Object, in context: WriteContext) {
        self.object = object
        self.context = context
    }

    /// A property of the object, which can be set.
    public subscript<Value>(dynamicMember keyPath: ReferenceWritableKeyPath<Object, Value>) -> Value {
        get { object[keyPath: keyPath] }
        nonmutating set { object[keyPath: keyPath] = newValue }
    }

    /// A property of the object.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Object, Value>) -> Value { object[keyPath: keyPath] }

    // MARK: Undo

    /// Undoes the last step: the changes since the block began or since the last step in it,
    /// otherwise the step before. Does nothing when there is none. Calling it within a step stops
    /// the program.
    ///
    /// ```swift
    /// try await draft.perform { if $0.canUndo { $0.undo() } }
    /// ```
    public func undo() { context.undo() }

    /// Redoes the step that `undo()` last undid; does nothing when there is none, or when anything
    /// was changed since.
    public func redo() { context.redo() }

    /// Whether there is anything to undo.
    public var canUndo: Bool {
        context.processPendingChanges()
        return context.undoManager?.canUndo ?? false
    }

    /// Whether there is anything to redo.
    public var canRedo: Bool { context.undoManager?.canRedo ?? false }

    /// The name of the step that `undo()` would undo; empty without one.
    public var undoActionName: String { context.undoManager?.undoActionName ?? "" }

    /// The name of the step that `redo()` would redo; empty without one.
    public var redoActionName: String { context.undoManager?.redoActionName ?? "" }

    /// Whether the draft has changes to be applied.
    ///
    /// ```swift
    /// let isSaveEnabled = try await draft.perform { $0.hasChanges }
    /// ```
    public var hasChanges: Bool {
        if context.hasChangesToWrite { return true }
        // A failed `apply()` leaves the changes in the parent context.
        guard let base = context.parent else { return false }
        return base.performAndWait { base.hasChangesToWrite }
    }

    /// Makes the changes of a block one step of `undo()`. Earlier changes in this `perform` or
    /// `edit` are a step of their own; nested steps are undone together with the outer one.
    ///
    /// ```swift
    /// try await draft.perform { draft in
    ///     draft.step("Rename") { draft.name = "Hex bolt" }
    ///     draft.step("Count") { draft.stockCount = 12 }
    ///     draft.undo()    // the number
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: a name for display; none by default.
    ///   - body: makes the changes of the step.
    @discardableResult
    public func step<Output>(_ name: String = "", _ body: () throws -> Output) rethrows -> Output {
        context.processPendingChanges()
        guard let undoManager = context.undoManager else { return try body() }
        let isOuter = undoManager.groupingLevel < 2
        // The undo group of the event, which holds the earlier changes.
        if undoManager.groupingLevel == 1 { undoManager.endUndoGrouping() }
        undoManager.beginUndoGrouping()
        defer {
            context.processPendingChanges()
            if !name.isEmpty { undoManager.setActionName(name) }
            undoManager.endUndoGrouping()
            if isOuter, undoManager.groupingLevel == 1 { undoManager.endUndoGrouping() }
        }
        return try body()
    }
}

/// A draft's object belongs to the queue of its context.
@available(
    *, unavailable, message: "a draft's object belongs to the queue of its context: return its objectID or a snapshot"
)
extension DraftObject: Sendable {}
