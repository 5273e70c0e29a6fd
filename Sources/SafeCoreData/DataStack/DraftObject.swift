/// The object of a draft within one block: its properties can be read and set as if this were the object.
///
/// ```swift
/// try await stack.edit(item) { draft in
///     draft.name = "Hex bolt"
///     draft.object.parts.append(Part(context: draft.context, title: "Washer"))
/// }
/// ```
///
/// It belongs to the queue of its context and is not `Sendable`.
@dynamicMemberLookup
public struct DraftObject<Object: NSManagedObject> {
    /// The object itself, writable.
    public let object: Object
    /// The context of the draft: for other objects that are to be changed with this one, and for new ones.
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

    /// Takes back the last step: what was changed since the block began or since the last step in it, otherwise the step before. Does
    /// nothing when there is none. Within a step it stops the program.
    ///
    /// ```swift
    /// try await draft.perform { if $0.canUndo { $0.undo() } }
    /// ```
    public func undo() { context.undo() }

    /// Does again what `undo()` took back last; does nothing when there is none, or when anything was changed since.
    public func redo() { context.redo() }

    /// Whether there is anything to undo.
    public var canUndo: Bool {
        context.processPendingChanges()
        return context.undoManager?.canUndo ?? false
    }

    /// Whether there is anything to redo.
    public var canRedo: Bool { context.undoManager?.canRedo ?? false }

    /// The name of the step that `undo()` takes back; empty without one.
    public var undoActionName: String { context.undoManager?.undoActionName ?? "" }

    /// The name of the step that `redo()` does again; empty without one.
    public var redoActionName: String { context.undoManager?.redoActionName ?? "" }

    /// Whether the draft has changes to be applied.
    ///
    /// ```swift
    /// let isSaveEnabled = try await draft.perform { $0.hasChanges }
    /// ```
    public var hasChanges: Bool {
        if context.hasChangesToWrite { return true }
        // An application that failed has left them there.
        guard let base = context.parent else { return false }
        return base.performAndWait { base.hasChangesToWrite }
    }

    /// Makes what a block changes one step of `undo()`. What was changed before it in this `perform` or `edit` is a step of its own; steps
    /// within steps are undone with these.
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
    ///   - name: a name for people; none unless given.
    ///   - body: makes the changes of the step.
    @discardableResult
    public func step<Output>(_ name: String = "", _ body: () throws -> Output) rethrows -> Output {
        context.processPendingChanges()
        guard let undoManager = context.undoManager else { return try body() }
        let isOuter = undoManager.groupingLevel < 2
        // The group of the event, which has what was changed before.
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
@available(*, unavailable, message: "a draft's object belongs to the queue of its context: return its objectID or a snapshot")
extension DraftObject: Sendable {}
