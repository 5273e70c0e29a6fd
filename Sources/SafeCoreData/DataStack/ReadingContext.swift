/// A context that is never saved: the context of the main queue, or of one query.
final class ReadingContext: NSManagedObjectContext, @unchecked Sendable {
    // Sendable: like its superclass; no state is added.

    /// Creates the context of the main queue, whose objects follow saves.
    init(mainQueueOf coordinator: NSPersistentStoreCoordinator) {
        super.init(concurrencyType: .mainQueueConcurrencyType)
        isPlainSubclass = true
        persistentStoreCoordinator = coordinator
        name = "DataStack main context"
        automaticallyMergesChangesFromParent = true
    }

    /// Creates the context of one query, which reads one consistent state of the store if the store
    /// supports that.
    init(queryOf coordinator: NSPersistentStoreCoordinator) throws {
        super.init(concurrencyType: .privateQueueConcurrencyType)
        isPlainSubclass = true
        persistentStoreCoordinator = coordinator
        name = "DataStack query context"
        try setQueryGenerationFrom(.current)
    }

    override func save() throws { throw DataStackError.savedWhileReading }

    /// Runs a block that reads, and rolls back its changes.
    ///
    /// - Throws: errors of the block, or ``DataStackError/changedWhileReading(_:)`` when anything
    ///   was changed before the block or in it.
    func read<Output>(_ body: (ReadContext) throws -> Output) throws -> Output {
        try requireUnchanged()
        do {
            let output = try body(ReadContext(self))
            try requireUnchanged()
            return output
        } catch {
            if hasChanges { rollback() }
            throw error
        }
    }

    /// Rolls back all changes.
    ///
    /// - Throws: ``DataStackError/changedWhileReading(_:)`` when there were changes.
    private func requireUnchanged() throws {
        guard hasChangesToWrite else {
            // Only new objects that were deleted again: no error, but discarded.
            if hasChanges { rollback() }
            return
        }
        let objects = insertedObjects.union(updatedObjects).union(deletedObjects).map { object in
            let change =
                object.isDeleted
                ? "deleted"
                : object.isInserted ? "inserted" : object.changedValues().keys.sorted().joined(separator: ", ")
            return "\(object.entity.name ?? "an object") \(object.objectID) (\(change))"
        }
        rollback()
        throw DataStackError.changedWhileReading(objects.sorted())
    }
}
