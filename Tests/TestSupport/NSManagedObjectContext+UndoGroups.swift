import CoreData

// For contexts with an undo manager that opens no groups by itself.
extension NSManagedObjectContext {
    /// Makes changes that are undone together, also where they end in an error.
    public func group(_ body: () throws -> Void) rethrows {
        undoManager?.beginUndoGrouping()
        defer {
            processPendingChanges()
            undoManager?.endUndoGrouping()
        }
        try body()
    }

    /// Undoes all groups, also those in which nothing was registered.
    public func undoAll() { while undoManager?.canUndo == true { undo() } }

    public func redoAll() { while undoManager?.canRedo == true { redo() } }
}
