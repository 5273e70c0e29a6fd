// How objects enter the context, and the places in stores that new ones are to have.

extension NSManagedObjectContext {
    /// Inserts an object that has no context, or takes back the deletion of one of this context's.
    func insertGiven(_ object: NSManagedObject) {
        let hasValues = !object.flags.contains(.invalid) && !object.flags.isSuperset(of: [.deletionSaved, .inaccessible])
        precondition(hasValues, Self.leftBehind(object))
        if object.registry === registry { return insertFormer(object) }
        precondition(
            object.registry == nil,
            object.flags.contains(.deletionSaved)
                ? Self.leftBehind(object)
                : "\(object.layout.name) \(object.descriptionOfIdentity) already belongs to another context.")
        if object.storeNumber < 0 { forgetReads(of: object) }
        insertNew(object, initialValues: .none)
    }

    /// A fault that never had a row, and was read all the same, has the values of a new object again.
    private func forgetReads(of object: NSManagedObject) {
        if object.flags.contains(.inaccessible) { object.becomeFaultAgain() }
    }

    private static func leftBehind(_ object: NSManagedObject) -> String {
        "\(object.layout.name) \(object.descriptionOfIdentity) cannot be inserted: its context was reset or is gone, its store was removed, "
            + "or its deletion was saved elsewhere. Make a new object."
    }

    /// An object that was new when it left the context is new again, without being told that it is inserted.
    func insertAgain(_ object: NSManagedObject) {
        object.takeBackReferences()
        forgetReads(of: object)
        if object.flags.isSuperset(of: [.discarded, .inEvent]) {
            // The event in which it was deleted has not ended: it has not left yet.
            changes.takeBackDiscarding(of: object)
        } else {
            if object.flags.contains(.discarded) { finishDiscarding(object) }
            changes.insert(object, in: registry)
        }
        adoptIdentity(of: object)
    }

    /// Has a new object found by the ID that it was given before it was inserted. A place in a store that is none of this context's is given
    /// up, and so is the ID that goes with it.
    func adoptIdentity(of object: NSManagedObject) {
        guard let extras = object.extras else { return }
        if object.storeNumber >= 0, !hasPlace(of: object, extras) {
            object.giveUpKey()
            (extras.objectID, extras.deletedRow, extras.isRevived) = (nil, nil, false)
        }
        guard let objectID = extras.objectID else { return }
        if !objectID.isTemporaryID {
            registry.register(object)
        } else if registry.identities.adopt(objectID) {
            temporaryObjects[objectID.identity] = WeakObject(object)
        } else {
            // Of another tree of contexts: it gets one of this tree when it is asked.
            extras.objectID = nil
        }
    }

    /// Whether the place of a new object in a store is that which the context would save it to.
    private func hasPlace(of object: NSManagedObject, _ extras: ObjectExtras) -> Bool {
        guard let store = registry.store(number: Int(object.storeNumber)) else { return false }
        guard let objectID = extras.objectID, !objectID.isTemporaryID else { return object.key > 0 || registry.hasProvisionalKeys }
        return objectID.anyStore === store
    }

    // MARK: - Insertions that are taken back

    /// A new object leaves the context, as a deleted one does.
    ///
    /// - Parameter other: what takes its place where relationships without an inverse lead to it; nil for nothing.
    func discard(_ object: NSManagedObject, inFavourOf other: NSManagedObject? = nil) {
        guard object.flags.contains(.inserted) else { return }
        redirect(object, to: other)
        for slot in object.layout.relationshipSlots {
            let property = object.layout.slots[slot]
            guard property.inverseSlot >= 0 else { continue }
            if property.kind == .toOne {
                object.toOne(slot)?.removeFromInverse(of: property, object)
            } else {
                for member in object.toManyMembers(slot).objects { member.removeFromInverse(of: property, object) }
            }
        }
        changes.discard(object)
        if object.storeNumber >= 0 { registry.unregister(object) }
        // The key is that of no row.
        if object.extras?.objectID?.isTemporaryID ?? true { object.giveUpKey() }
    }

    /// Has unsaved relationships without an inverse that lead to a new object lead to another, or nowhere.
    private func redirect(_ object: NSManagedObject, to other: NSManagedObject?) {
        guard let layouts = modelLayout?.layouts else { return }
        func leadsHere(_ property: PropertySlot) -> Bool {
            property.inverseSlot < 0 && property.destinationIndex >= 0
                && layouts[property.destinationIndex].rootIndex == object.layout.rootIndex
        }
        let slots = layouts.map { layout in layout.relationshipSlots.filter { leadsHere(layout.slots[$0]) } }
        if slots.allSatisfy(\.isEmpty) { return }
        for owner in changes.inserted.objects + changes.updated.objects {
            for slot in slots[owner.layout.index] {
                if owner.layout.slots[slot].kind == .toOne {
                    if owner.pending?.destination(slot) === object { owner.setToOne(other, slot: slot) }
                } else if owner.extras?.toMany(slot)?.added.contains(object) == true {
                    let place = owner.toManyMembers(slot).objects.firstIndex { $0 === object }
                    owner.removeRelated(object, slot: slot)
                    if let other { owner.addRelated(other, slot: slot, at: place) }
                }
            }
        }
    }

    // MARK: - Places in stores

    /// Puts a new object into a store when it is saved.
    func assignNew(_ object: NSManagedObject, to store: NSPersistentStore) {
        precondition(
            object.flags.contains(.inserted), "Only a new object can be assigned to a store: \(object.descriptionOfIdentity)")
        if object.extras?.keepsPlace == true {
            precondition(
                Int(object.storeNumber) == store.number,
                "\(object.layout.name) \(object.descriptionOfIdentity) has a permanent ID and cannot be assigned to another store: assign "
                    + "objects before they get permanent IDs.")
            return
        }
        // That of an attempt to save which is under way.
        if object.storeNumber >= 0 { object.giveUpKey() }
        assignedStores[ObjectIdentifier(object)] = store
    }

    /// Takes the places of a save that failed from new objects: the next one gives them others, in the stores that are there by then.
    func giveUpKeys() {
        for object in changes.inserted.objects where object.storeNumber >= 0 && object.extras?.keepsPlace != true { object.giveUpKey() }
    }

    /// Forgets the assignments of objects that are not to be inserted any more: others may be made at their addresses.
    func forgetAssignments() {
        if assignedStores.isEmpty { return }
        var pending: Set<ObjectIdentifier> = []
        changes.inserted.objects.forEachUnretained { pending.insert(ObjectIdentifier($0)) }
        assignedStores = assignedStores.filter { pending.contains($0.key) }
    }
}
