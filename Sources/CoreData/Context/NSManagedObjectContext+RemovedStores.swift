import Foundation

// What becomes of a context's objects when their store is removed from the coordinator.

extension NSManagedObjectContext: CoordinatorClient {
    /// Lets go of the objects of a store that was removed: at once on the context's queue, otherwise when that is free.
    func storeWasRemoved(_ store: NSPersistentStore) {
        let number = store.number
        // The registry of now: the context may work on another coordinator by the time the block runs.
        let registry = registry
        registry?.remember(store.token, ofStore: number)
        if isOnQueue {
            invalidateObjects(ofStore: number)
        } else {
            gate.async { [reference] in
                guard let self = reference.object, self.registry === registry else { return }
                CurrentContext.run(in: self) { self.invalidateObjects(ofStore: number) }
            }
        }
    }

    private func invalidateObjects(ofStore number: Int) {
        func isGone(_ object: NSManagedObject) -> Bool { Int(object.storeNumber) == number }
        let objects = registry.allObjects().filter(isGone)
        changes.remove(objects, where: isGone)
        conflictChecks = conflictChecks.filter { !isGone($0) }
        retained = retained.filter { !isGone($0) }
        for object in objects {
            registry.unregister(object)
            invalidate(object)
        }
        changes.noteInvalidated(objects)
        processPendingChanges()
    }
}
