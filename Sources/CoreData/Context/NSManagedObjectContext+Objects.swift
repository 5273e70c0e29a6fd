import Foundation

// New objects, and objects by identity.

extension NSManagedObjectContext {
    /// Returns the registered object with an ID; nil if there is none.
    func knownObject(with objectID: NSManagedObjectID) -> NSManagedObject? {
        if parentContext != nil { adoptPermanentKeys() }
        guard let key = objectID.key else {
            if let object = newObjects.object(objectID.identity) { return object }
            return objectID.serial(in: registry.identities).flatMap {
                registry.object(withSerial: $0, root: objectID.layout.rootIndex)
            }
        }
        if isForeign(objectID) { return ownID(of: objectID).flatMap(registry.object(ofRow:)) }
        guard let number = objectID.storeNumber else { return nil }
        return registry.object(store: number, root: objectID.layout.rootIndex, key: key)
    }

    /// The declared initial values that an object gets when it is inserted.
    enum InitialValues {
        /// None: an object that was made without a context keeps the values that it has got since.
        case none
        /// The values that the class's initializer does not take as arguments.
        case hidden
        case all
    }

    func insertNew(_ object: NSManagedObject) { insertNew(object, initialValues: .all) }

    func insertNew(_ object: NSManagedObject, initialValues: InitialValues) {
        let registry: ContextRegistry = registry
        if let identity = registry.modelIdentity {
            if object.accessorTable.owner.withObject({ $0.modelIdentity }) != identity {
                Self.stopForOtherModel(object)
            }
        } else if parentContext != nil {
            followParent()
            if modelLayout != nil { return insertNew(object, initialValues: initialValues) }
        }
        if object.flags.contains(.checked) { ConcurrencyDebug.check(self, "insert an object") }
        changes.insert(object, in: registry)
        if object.extrasReference != nil { adoptIdentity(of: object) }
        // The registry keeps the layouts alive where it has a coordinator.
        if registry.modelIdentity == nil { _ = object.makeExtras() }
        asStep {
            switch initialValues {
            case .none: break
            case .hidden: object._setHiddenInitialValues()
            case .all: object._setInitialValues()
            }
            object.awakeFromInsert()
        }
    }

    // Apart: within its caller the message alone would cost references to the object.
    @inline(never)
    private static func stopForOtherModel(_ object: NSManagedObject) -> Never {
        preconditionFailure(
            "The entity \(object.layout.name) belongs to another model than the context's persistent store coordinator."
        )
    }

    /// Called when an object changes for the first time since pending changes were processed.
    func noteChanged(_ object: NSManagedObject) {
        // Such an object belongs to no context any more.
        if object.flags.contains(.deletionSaved) { return }
        // A change of an object of a removed store is kept: the save throws that it is gone.
        if object.flags.contains(.invalid), registry.store(number: Int(object.storeNumber)) != nil { return }
        changes.change(object)
        tellListeners { $0.context(self, willChange: object) }
    }

    func missingRow(_ objectID: NSManagedObjectID) -> NSError {
        CoreDataErrors.make(
            .managedObjectReferentialIntegrity,
            "There is no \(objectID.layout.name) with the ID \(objectID.uriRepresentation().absoluteString) in the "
                + "store.",
            recovery: "The object was deleted, or the ID comes from another store.",
            userInfo: [NSAffectedObjectsErrorKey: [objectID]])
    }

    /// Returns the destination of a to-one relationship, in the store of `source`.
    func object(for reference: RowReference, near source: NSManagedObject) -> NSManagedObject? {
        guard let modelLayout, reference.layoutIndex < modelLayout.layouts.count else { return nil }
        let layout = modelLayout.layouts[reference.layoutIndex]
        if source.flags.contains(.deletionSaved) {
            // The destination may have been deleted with it. A fault for that row would be a second
            // object, and would never find the row.
            return registered(reference, near: source)
        }
        return fault(for: reference, of: layout, store: Int(source.storeNumber))
    }

    /// Returns the object that a to-one relationship of a committed row refers to.
    func destination(_ reference: RowReference, of source: NSManagedObject, slot: Int) -> NSManagedObject? {
        let object = object(for: reference, near: source)
        if let object, object.flags.contains(.fault), object.committedRow == nil {
            siblingFaults.noteToOne(source, slot, reference)
        }
        return object
    }

    /// The registered object of a reference, in the store of `source`.
    func registered(_ reference: RowReference, near source: NSManagedObject) -> NSManagedObject? {
        guard let layout = modelLayout?.layouts[reference.layoutIndex] else { return nil }
        return registry.object(store: Int(source.storeNumber), root: layout.rootIndex, key: reference.key)
    }

    func objectOrFault(with objectID: NSManagedObjectID) -> NSManagedObject {
        if let object = registeredObject(for: objectID) { return object }
        if isForeign(objectID) {
            guard let own = ownID(of: objectID) else { stopForForeign(objectID) }
            return fault(withOwnID: own)
        }
        return fault(withOwnID: objectID)
    }

    private func fault(withOwnID objectID: NSManagedObjectID) -> NSManagedObject {
        guard let key = objectID.key, let number = objectID.storeNumber else {
            if let object = faultOfParent(with: objectID) { return object }
            // A temporary ID of another context, or of an object that is gone.
            guard let layout = ownLayout(of: objectID) else { stopForForeign(objectID) }
            let object = makeObject(of: layout)
            object.becomeFault(in: registry)
            object.makeExtras().objectID = objectID
            return object
        }
        return makeFault(key: key, of: objectID.layout, store: number)
    }

    func loadedObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        if isForeign(objectID) ? ownID(of: objectID) == nil : ownLayout(of: objectID) == nil { throw foreign(objectID) }
        let object = object(with: objectID)
        if object.flags.contains(.deletionSaved) { throw missingRow(objectID) }
        if object.flags.contains(.fault) {
            guard try load(object) else { throw missingRow(objectID) }
        }
        if object.flags.contains(.inaccessible) { throw missingRow(objectID) }
        return object
    }

    /// The permanent ID of a new object, if the context and the store assign it.
    final func permanentID(ofNew object: NSManagedObject) -> NSManagedObjectID? {
        guard handsOutPermanentIDs, object.flags.contains(.inserted) else { return nil }
        // The caller will ask others, too, and each request for keys is a transaction.
        let neighbours = changes.inserted.last { $0.storeNumber < 0 }
        do {
            try obtainPermanentIDs(for: neighbours.contains { $0 === object } ? neighbours : [object])
        } catch {
            // The save throws the store's error.
            return nil
        }
        return object.extras?.objectID
    }

    /// Removes an object from the context because its row is gone.
    func endDeletion(of object: NSManagedObject) {
        registry.unregister(object)
        changes.endDeletion(of: object)
    }

    /// Removes everything but the identity from an object. It reads as nil from now on.
    func invalidate(_ object: NSManagedObject) {
        object.invalidate()
        object.listIndex = -1
    }
}
