// How objects enter the context, and the stores and keys that new objects get.

extension NSManagedObjectContext {
    /// Inserts an object without a context, or takes back a deletion in this one.
    func insertGiven(_ object: NSManagedObject) {
        let hasValues =
            !object.flags.contains(.invalid) && !object.flags.isSuperset(of: [.deletionSaved, .inaccessible])
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

    /// Gives a fault that was read but never had a row the values of a new object again.
    private func forgetReads(of object: NSManagedObject) {
        if object.flags.contains(.inaccessible) { object.becomeFaultAgain() }
    }

    private static func leftBehind(_ object: NSManagedObject) -> String {
        "\(object.layout.name) \(object.descriptionOfIdentity) cannot be inserted: its context was reset or is gone, "
            + "its store was removed, "
            + "or its deletion was saved elsewhere. Make a new object."
    }

    /// Inserts an object that was new when it left, without `awakeFromInsert`.
    func insertAgain(_ object: NSManagedObject) {
        object.takeBackReferences()
        forgetReads(of: object)
        if object.flags.isSuperset(of: [.discarded, .inEvent]) {
            // The event in which it was deleted has not ended, so it has not left the context yet.
            changes.takeBackDiscarding(of: object)
        } else {
            if object.flags.contains(.discarded) { finishDiscarding(object) }
            changes.insert(object, in: registry)
        }
        adoptIdentity(of: object)
    }

    /// Registers a new object under the ID that it got before it was inserted. If it has a key in a
    /// store that this context does not use, gives up the key and the ID of that key.
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
            newObjects.note(object, objectID)
        } else {
            // An ID of another tree of contexts: the object gets another when asked for it.
            extras.objectID = nil
        }
    }

    /// Whether the context would save a new object to the store and key that the object has.
    private func hasPlace(of object: NSManagedObject, _ extras: ObjectExtras) -> Bool {
        guard let store = registry.store(number: Int(object.storeNumber)) else { return false }
        guard let objectID = extras.objectID, !objectID.isTemporaryID else {
            return object.key > 0 || registry.hasProvisionalKeys
        }
        return objectID.anyStore === store
    }

    // MARK: - Insertions that are taken back

    /// Removes a new object from the context, like a deleted one.
    ///
    /// - Parameter other: The object that replaces it in relationships without an inverse; nil for
    ///   none.
    func discard(_ object: NSManagedObject, inFavourOf other: NSManagedObject? = nil) {
        guard object.flags.contains(.inserted) else { return }
        redirect(object, to: other)
        for slot in object.layout.relationshipSlots {
            let property = object.layout.slots[slot]
            guard property.inverseSlot >= 0 else { continue }
            for destination in object.destinations(through: property) {
                destination.removeFromInverse(of: property, object)
            }
        }
        changes.discard(object)
        if object.storeNumber >= 0 { registry.unregister(object) }
        // The key belongs to no row.
        if object.extras?.objectID?.isTemporaryID ?? true { object.giveUpKey() }
    }

    /// Points unsaved relationships without an inverse from a new object to another one, or to nil
    /// where they do not take the other one's entity.
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
                let entity = layouts[owner.layout.slots[slot].destinationIndex]
                let other = other.flatMap { $0.layout.isKind(of: entity) ? $0 : nil }
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

    /// Assigns a new object to the store that its save puts it into.
    func assignNew(_ object: NSManagedObject, to store: NSPersistentStore) {
        precondition(
            object.flags.contains(.inserted),
            "Only a new object can be assigned to a store: \(object.descriptionOfIdentity)")
        if object.extras?.keepsPlace == true {
            precondition(
                Int(object.storeNumber) == store.number,
                "\(object.layout.name) \(object.descriptionOfIdentity) has a permanent ID and cannot be assigned to "
                    + "another store: assign "
                    + "objects before they get permanent IDs.")
            return
        }
        // A key of a save attempt that is in progress.
        if object.storeNumber >= 0 { object.giveUpKey() }
        newObjects.assign(object, to: store)
    }

    /// Takes the keys of a failed save from new objects: the next save gives them others.
    func giveUpKeys() {
        for object in changes.inserted.objects where object.storeNumber >= 0 && object.extras?.keepsPlace != true {
            object.giveUpKey()
        }
    }
}
