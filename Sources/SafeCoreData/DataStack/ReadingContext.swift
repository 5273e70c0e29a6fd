/// A context that is never saved: that of the main queue, or that of one query.
final class ReadingContext: NSManagedObjectContext, @unchecked Sendable {
    // Sendable: as its superclass; nothing is added.

    /// The context of the main queue, whose objects follow what is saved.
    init(mainQueueOf coordinator: NSPersistentStoreCoordinator) {
        super.init(concurrencyType: .mainQueueConcurrencyType)
        isPlainSubclass = true
        persistentStoreCoordinator = coordinator
        name = "DataStack main context"
        automaticallyMergesChangesFromParent = true
    }

    /// The context of one query, which reads one state of the store where that can keep it.
    init(queryOf coordinator: NSPersistentStoreCoordinator) throws {
        super.init(concurrencyType: .privateQueueConcurrencyType)
        isPlainSubclass = true
        persistentStoreCoordinator = coordinator
        name = "DataStack query context"
        try setQueryGenerationFrom(.current)
    }

    override func save() throws { throw DataStackError.savedWhileReading }

    /// Runs a block that reads, and rolls back what it changes.
    ///
    /// - Throws: what the block throws, or ``DataStackError/changedWhileReading(_:)`` when anything was changed before or in it.
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

    /// Rolls back what should not have happened.
    ///
    /// - Throws: ``DataStackError/changedWhileReading(_:)`` when there was anything.
    private func requireUnchanged() throws {
        guard hasChangesToWrite else {
            // New objects that were deleted are of no use to anybody.
            if hasChanges { rollback() }
            return
        }
        let objects = insertedObjects.union(updatedObjects).union(deletedObjects).map { object in
            let change =
                object.isDeleted ? "deleted" : object.isInserted ? "inserted" : object.changedValues().keys.sorted().joined(separator: ", ")
            return "\(object.entity.name ?? "an object") \(object.objectID) (\(change))"
        }
        rollback()
        throw DataStackError.changedWhileReading(objects.sorted())
    }
}
