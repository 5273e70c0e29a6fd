/// The objects that take part in one save.
struct SavedObjects {
    var inserted: ContiguousArray<NSManagedObject>
    var updated: ContiguousArray<NSManagedObject>
    var deleted: ContiguousArray<NSManagedObject>
    /// Objects whose row was deleted already: the save writes nothing for them.
    var inaccessible: ContiguousArray<NSManagedObject> = []
    /// Deleted new objects: the save writes nothing for them, and they leave the context.
    var discarded: ContiguousArray<NSManagedObject> = []

    /// - Parameter deletions: The deleted objects of all three kinds.
    init(
        inserted: ContiguousArray<NSManagedObject>, updated: ContiguousArray<NSManagedObject>,
        deletions: ContiguousArray<NSManagedObject>
    ) {
        (self.inserted, self.updated) = (inserted, updated)
        deleted = deletions
        if deletions.allSatisfy({ $0.flags.isDisjoint(with: .unwritten) }) { return }
        deleted.removeAll { !$0.flags.isDisjoint(with: .unwritten) }
        for object in deletions {
            if object.flags.contains(.discarded) {
                discarded.append(object)
            } else if !object.flags.isDisjoint(with: .rowIsGone) {
                inaccessible.append(object)
            }
        }
    }
}

/// The written changes, by store.
struct WrittenChanges {
    var objects: SavedObjects
    var stores: [(store: NSPersistentStore, batch: ObjectBatch, outcome: SaveOutcome)] = []

    /// The place of the save in the histories of the stores; nil where none records it.
    var historyToken: NSPersistentHistoryToken? {
        var numbers: [String: Int64] = [:]
        for (store, _, outcome) in stores {
            if let number = outcome.transaction { numbers[store.identifier ?? ""] = number }
        }
        return numbers.isEmpty ? nil : NSPersistentHistoryToken(numbers)
    }
}

/// A save batch and the objects that its changes came from, index by index.
struct ObjectBatch {
    var batch = SaveBatch()
    var inserted: ContiguousArray<NSManagedObject> = []
    var updated: ContiguousArray<NSManagedObject> = []
    var deleted: ContiguousArray<NSManagedObject> = []
    var checked: ContiguousArray<NSManagedObject> = []
}

/// Conflicts of one store with the objects they concern.
struct StoreConflicts: Error {
    let store: NSPersistentStore
    /// Thrown and caught within one save, on one thread.
    let batch: Unchecked<ObjectBatch>
    let conflicts: SaveConflicts
}
