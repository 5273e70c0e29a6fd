import Foundation

// IDs of other coordinators, which share only the UUID of a store.

extension NSManagedObjectContext {
    /// Whether an ID refers to a row of another coordinator's store.
    @inline(__always)
    func isForeign(_ objectID: NSManagedObjectID) -> Bool { objectID.isForeign(to: registry.coordinatorSerial) }

    /// Returns the ID of a row in this context's coordinator, for an ID of any coordinator. Returns
    /// nil if this context's coordinator lacks the store, or its model lacks the entity.
    func ownID(of objectID: NSManagedObjectID) -> NSManagedObjectID? {
        // A child may not know its parent's coordinator yet.
        if parentContext != nil { followParent() }
        return isForeign(objectID) ? registry.ownID(of: objectID) : objectID
    }

    /// Returns this context's layout of an ID's entity, also for an ID of a context with another
    /// model. Returns nil if this context's model lacks the entity.
    func ownLayout(of objectID: NSManagedObjectID) -> EntityLayout? {
        guard let modelLayout, objectID.layout.model !== modelLayout else { return objectID.layout }
        return modelLayout.layoutByName[objectID.layout.name]
    }

    /// Returns the error for the ID of a row that this context cannot use.
    func foreign(_ objectID: NSManagedObjectID) -> NSError {
        CoreDataErrors.foreignID(objectID, nameInMessages, persistentStoreCoordinator?.persistentStores)
    }

    @inline(never)
    func stopForForeign(_ objectID: NSManagedObjectID) -> Never {
        let error = foreign(objectID)
        preconditionFailure("\(error.localizedDescription) \(error.localizedRecoverySuggestion ?? "")")
    }
}

extension ObjectRegistry {
    /// Returns the registered object of an ID of this registry's coordinator.
    final func object(ofRow objectID: NSManagedObjectID) -> NSManagedObject? {
        guard let key = objectID.key, let number = objectID.storeNumber else { return nil }
        return object(store: number, root: objectID.layout.rootIndex, key: key)
    }
}

extension SavedObjectIDs {
    /// Returns the same changes with the IDs that the rows have in a context's own coordinator.
    ///
    /// IDs of stores that this coordinator lacks are left out. It was not notified of changes that
    /// other coordinators wrote: their rows are read again.
    func translated(for context: NSManagedObjectContext) -> SavedObjectIDs {
        var changes = self
        var foreign = SavedObjectIDs()
        Self.translate(&changes.inserted, &foreign.inserted, context)
        Self.translate(&changes.updated, &foreign.updated, context)
        Self.translate(&changes.deleted, &foreign.deleted, context)
        context.forgetCachedRows(foreign)
        return changes
    }

    private static func translate(
        _ objectIDs: inout [NSManagedObjectID], _ foreign: inout [NSManagedObjectID], _ context: NSManagedObjectContext
    ) {
        if !objectIDs.contains(where: context.isForeign) { return }
        var own: [NSManagedObjectID] = []
        for objectID in objectIDs {
            guard context.isForeign(objectID) else {
                own.append(objectID)
                continue
            }
            guard let translated = context.ownID(of: objectID) else { continue }
            own.append(translated)
            foreign.append(translated)
        }
        objectIDs = own
    }
}
