// Changed relationships whose other side was taken back since, by a refresh, a merge policy or a deletion by others.

extension NSManagedObjectContext {
    /// Gives the destinations of relationships that are about to be saved their side again, where they have lost it.
    ///
    /// A destination gains an object when a relationship to it is set, and is saved with that object: of two contexts that save a
    /// way to a row and the deletion of the row, the later one meets a conflict then. Relationships to what is known to be gone end. What
    /// changed relationships have led to before lets go of the objects again.
    ///
    /// Cost: O(changed relationships); rows are read for destinations that are faults.
    ///
    /// - Returns: the destinations that had no changes before.
    /// - Throws: what prevents a destination's row from being read.
    func completeInverses(of objects: SavedObjects) throws -> ContiguousArray<NSManagedObject> {
        var changed: ContiguousArray<NSManagedObject> = []
        let hasOneSided = try completeOneSided(objects, &changed)
        for list in [objects.inserted, objects.updated] {
            try list.forEachUnretained { object in
                if object.layout.relationshipSlots.isEmpty { return }
                try completeToOne(object, &changed)
                let hasToMany = object.extrasReference?._withUnsafeGuaranteedRef { $0.hasToMany } ?? false
                if hasToMany { try completeManyToMany(object, &changed) }
            }
        }
        var settlement = EndSettlement(self)
        objects.updated.forEachUnretained { if !$0.layout.relationshipSlots.isEmpty { settlement.releaseFormer(of: $0) } }
        changed += settlement.changed
        if hasOneSided || !changed.isEmpty { absorbing { processPendingChanges() } }
        return changed
    }

    /// Tells the other sides of relationships what primitive setters have done to them in objects that are about to be saved: a side that
    /// has no column is saved with the other one, or not at all.
    ///
    /// - Parameter changed: gets the destinations that had no changes before.
    /// - Returns: whether there were any such relationships.
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
                        destination.flags.isDisjoint(with: [.inaccessible, .deletedElsewhere, .deletionSaved, .invalid]),
                        // Not by firing the fault: that it has no row is no reason to delete it, or to stop the program.
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
            guard property.inverseSlot >= 0, lacksSide(destination, property, of: object), object.differsFromCommitted(property) else {
                return
            }
            // One that was set since to lead elsewhere, after a refresh, is not this object's any more.
            let isTaken =
                !property.inverseIsToMany && destination.flags.contains(.updated)
                && destination.differsFromCommitted(destination.layout.slots[property.inverseSlot(in: destination.layout)])
            if !isTaken, try complete(destination, property, with: object, &changed) { return }
            object.store(.null, slot: slot)
            object.extras?.setToOne(slot, nil)
            object.noteChange(slot)
        }
    }

    private func completeManyToMany(_ object: NSManagedObject, _ changed: inout ContiguousArray<NSManagedObject>) throws {
        for (slot, state) in object.extras?.allToMany ?? [] where !state.added.isEmpty {
            let property = object.layout.slots[slot]
            guard property.inverseIsToMany, !property.isTransient, property.isWritingSide(in: object.layout) else { continue }
            for member in state.added.objects where lacksSide(member, property, of: object) {
                if try complete(member, property, with: object, &changed) { continue }
                object.removeMember(member, slot: slot)
                object.noteChange(slot)
            }
        }
    }

    /// Whether a destination's side may be missing. A look at each changed relationship: it must be quick where nothing is.
    private func lacksSide(_ destination: NSManagedObject, _ property: PropertySlot, of object: NSManagedObject) -> Bool {
        let flags = destination.flags
        if flags.isDisjoint(with: .known) || !flags.isDisjoint(with: .rowIsGone) { return true }
        // What is new has no row that others could delete.
        guard flags.contains(.updated) else { return false }
        let slot = property.inverseSlot(in: destination.layout)
        if property.inverseIsToMany {
            guard let state = destination.extras?.toMany(slot), !state.added.isEmpty else { return true }
            return changes.hasTakenBackMembers && !state.added.contains(object)
        }
        return destination.toOne(slot) !== object
    }

    /// - Returns: false when the destination has no row any more.
    private func complete(
        _ destination: NSManagedObject, _ property: PropertySlot, with object: NSManagedObject,
        _ changed: inout ContiguousArray<NSManagedObject>
    ) throws -> Bool {
        if !destination.flags.isDisjoint(with: [.rowIsGone, .deletionSaved]) { return false }
        // What cannot be a destination is refused when the object is written.
        guard destination.registry === registry, destination.storeNumber >= 0, !destination.flags.contains(.invalid) else { return true }
        // Not by firing the fault: that it has no row is no reason to delete it, or to stop the program.
        guard try load(destination) else { return false }
        let slot = property.inverseSlot(in: destination.layout)
        let state = destination.extras?.toMany(slot)
        if state?.added.contains(object) == true { return true }
        if !destination.hasChangesToSave { changed.append(destination) }
        if let state, state.isLoaded, state.members.contains(object) {
            // Read after others had made the same change: it is saved with the object all the same, for others may delete it since.
            destination.prepareForChange()
            state.added.append(object)
            destination.noteChange(slot)
            return true
        }
        destination.addToInverse(of: property, object)
        return true
    }
}
