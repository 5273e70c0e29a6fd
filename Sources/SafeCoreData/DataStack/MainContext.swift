/// The context of the main queue, which is never saved.
final class MainContext: NSManagedObjectContext, @unchecked Sendable {
    // Sendable: as its superclass; nothing is added.

    init(coordinator: NSPersistentStoreCoordinator) {
        super.init(concurrencyType: .mainQueueConcurrencyType)
        isPlainSubclass = true
        persistentStoreCoordinator = coordinator
        name = "DataStack main context"
        automaticallyMergesChangesFromParent = true
    }

    override func save() throws { throw DataStackError.savedWhileReading }

    /// Rolls back what should not have happened.
    ///
    /// - Throws: ``DataStackError/changedWhileReading(_:)`` when there was anything.
    func requireUnchanged() throws {
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
