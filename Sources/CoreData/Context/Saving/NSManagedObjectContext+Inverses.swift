// Changed relationships whose other end a refresh, a policy or a deletion took back.

extension NSManagedObjectContext {
    /// Restores the missing ends of relationships in destinations, before the relationships are
    /// saved.
    ///
    /// A destination gains an object when a relationship to it is set, and is saved with that
    /// object: if one context saves a reference to a row and another one saves the deletion of the
    /// row, the later save has a conflict. Relationships to objects that are known to be gone end.
    /// Former destinations of changed relationships release the objects again.
    ///
    /// Cost: O(changed relationships). Rows are read for destinations that are faults.
    ///
    /// - Returns: The destinations that had no changes before.
    /// - Throws: The error of reading a destination's row.
    func completeInverses(of objects: SavedObjects) throws -> ContiguousArray<NSManagedObject> {
        var changed: ContiguousArray<NSManagedObject> = []
        let hasOneSided = try completeOneSided(objects, &changed)
        for list in [objects.inserted, objects.updated] {
            try list.forEachUnretained { object in
                if object.layout.relationshipSlots.isEmpty { return }
                try completeToOne(object, &changed)
                let hasToMany = object.extrasReference?.withObject { $0.hasToMany } ?? false
                if hasToMany { try completeManyToMany(object, &changed) }
            }
        }
        var settlement = EndSettlement(self)
        objects.updated.forEachUnretained {
            if !$0.layout.relationshipSlots.isEmpty { settlement.releaseFormer(of: $0) }
        }
        changed += settlement.changed
        if hasOneSided || !changed.isEmpty { absorbing { processPendingChanges() } }
        return changed
    }

    /// Applies the changes of primitive setters to the other ends of relationships, before the
    /// objects are saved. An end without a column is saved with the other end, or not at all.
    ///
    /// - Parameter changed: Gets the destinations that had no changes before.
    /// - Returns: Whether there were any such relationships.
    func completeOneSided(_ objects: SavedObjects, _ changed: inout ContiguousArray<NSManagedObject>) throws -> Bool {
        var waiting: [NSManagedObject] = []
        for list in [objects.inserted, objects.updated] {
            list.forEachUnretained { if $0.hasOneSidedChanges { waiting.append($0) } }
        }
        if waiting.isEmpty { return false }
        while let object = waiting.popLast() {
            for slot in object.extras?.oneSided?.handedOut.keys.sorted() ?? [] { object.takeOverSet(slot) }
            for slot in object.extras?.oneSided?.slots ?? [] {
                try object.maintainInverse(slot) { destination in
                    guard destination.registry === registry,
                        destination.flags.isDisjoint(with: [.inaccessible, .deletedElsewhere, .deletionSaved, .invalid]
                        ),
                        // Not fired: a missing row is no reason to delete it, or to stop.
                        try load(destination)
                    else { return false }
                    if destination.flags.isDisjoint(with: .known) { changed.append(destination) }
                    if destination.hasOneSidedChanges { waiting.append(destination) }
                    return true
                }
            }
        }
        return true
    }

    private func completeToOne(_ object: NSManagedObject, _ changed: inout ContiguousArray<NSManagedObject>) throws {
        try object.pending?.forEachObject { slot, value in
            guard let destination = value.destination else { return }
            if destination.flags.contains(.inserted), destination.flags.isDisjoint(with: .rowIsGone) { return }
            let property = object.layout.slots[slot]
            guard property.inverseSlot >= 0, lacksSide(destination, property, of: object),
                object.differsFromCommitted(property)
            else {
                return
            }
            // Set to another object after a refresh, it is no longer related to this one.
            let isTaken =
                !property.inverseIsToMany && destination.flags.contains(.updated)
                && destination.differsFromCommitted(
                    destination.layout.slots[property.inverseSlot(in: destination.layout)])
            if !isTaken, try complete(destination, property, with: object, &changed) { return }
            object.store(.null, slot: slot)
            object.noteChange(slot)
        }
    }

    private func completeManyToMany(_ object: NSManagedObject, _ changed: inout ContiguousArray<NSManagedObject>) throws
    {
        for (slot, state) in object.extras?.allToMany ?? [] where !state.added.isEmpty {
            let property = object.layout.slots[slot]
            guard property.inverseIsToMany, !property.isTransient, property.isWritingSide(in: object.layout) else {
                continue
            }
            for member in state.added.objects where lacksSide(member, property, of: object) {
                if try complete(member, property, with: object, &changed) { continue }
                object.removeMember(member, slot: slot)
                object.noteChange(slot)
            }
        }
    }

    /// Whether a destination may lack its end. Fast: called for each changed relationship.
    private func lacksSide(_ destination: NSManagedObject, _ property: PropertySlot, of object: NSManagedObject) -> Bool
    {
        let flags = destination.flags
        if flags.isDisjoint(with: .known) || !flags.isDisjoint(with: .rowIsGone) { return true }
        // A new object has no row that another writer could delete.
        guard flags.contains(.updated) else { return false }
        let slot = property.inverseSlot(in: destination.layout)
        if property.inverseIsToMany {
            guard let state = destination.extras?.toMany(slot), !state.added.isEmpty else { return true }
            return changes.hasTakenBackMembers && !state.added.contains(object)
        }
        return destination.toOne(slot) !== object
    }

    /// - Returns: False if the destination has no row.
    private func complete(
        _ destination: NSManagedObject, _ property: PropertySlot, with object: NSManagedObject,
        _ changed: inout ContiguousArray<NSManagedObject>
    ) throws -> Bool {
        if !destination.flags.isDisjoint(with: [.rowIsGone, .deletionSaved]) { return false }
        // An invalid destination is rejected when the object is written.
        guard destination.registry === registry, destination.storeNumber >= 0, !destination.flags.contains(.invalid)
        else { return true }
        // The fault is not fired: a missing row is no reason to delete it, or to stop the program.
        guard try load(destination) else { return false }
        let slot = property.inverseSlot(in: destination.layout)
        let state = destination.extras?.toMany(slot)
        if state?.added.contains(object) == true { return true }
        if !destination.hasChangesToSave { changed.append(destination) }
        if let state, state.isLoaded, state.members.contains(object) {
            // It was read after another writer had made the same change. It is saved with the
            // object all the same, because another writer may have deleted it since.
            destination.prepareForChange()
            state.added.append(object)
            destination.noteChange(slot)
            return true
        }
        destination.addToInverse(of: property, object)
        return true
    }
}
