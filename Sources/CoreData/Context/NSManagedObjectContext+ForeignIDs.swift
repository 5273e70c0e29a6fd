import Foundation

// IDs of other coordinators. Each coordinator numbers its stores by itself: what they have in common is the UUID of a store.

extension NSManagedObjectContext {
    /// Whether an ID is of a row of another coordinator's store.
    @inline(__always)
    func isForeign(_ objectID: NSManagedObjectID) -> Bool { objectID.isForeign(to: registry.coordinatorSerial) }

    /// The ID that the row of any coordinator's ID has here; nil where the own coordinator lacks the store, or its model the entity.
    func ownID(of objectID: NSManagedObjectID) -> NSManagedObjectID? {
        // A child may not have heard yet of its parent's coordinator.
        if parentContext != nil { followParent() }
        return isForeign(objectID) ? registry.ownID(of: objectID) : objectID
    }

    /// The own layout of the entity that an ID is of, which may come from a context with another model; nil where the own one lacks it.
    func ownLayout(of objectID: NSManagedObjectID) -> EntityLayout? {
        guard let modelLayout, objectID.layout.model !== modelLayout else { return objectID.layout }
        return modelLayout.layoutByName[objectID.layout.name]
    }

    /// Why the ID of a row cannot be used here.
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
    /// The registered object of an ID of the own coordinator.
    final func object(ofRow objectID: NSManagedObjectID) -> NSManagedObject? {
        guard let key = objectID.key, let number = objectID.storeNumber else { return nil }
        return object(store: number, root: objectID.layout.rootIndex, key: key)
    }
}

extension SavedObjectIDs {
    /// The same changes for a context, where some IDs may be of other coordinators: by the IDs that the rows have in its own one, without
    /// those of stores that it lacks. Of what others have written the coordinator has heard nothing: such rows are read anew.
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
