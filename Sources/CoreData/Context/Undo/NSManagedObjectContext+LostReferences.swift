// References to deleted objects that no undo action records.
//
// No inverse updates a relationship without one: it ends when the deletion is saved, and comes back
// when it is undone. So do relationships that others have set to a deleted object.

extension NSManagedObjectContext {
    /// Ends loaded references, without an inverse, to objects whose deletion was saved. Cost: a
    /// check of the objects of the entities that have such relationships to the objects' entities.
    func endReferences(to gone: some Collection<NSManagedObject>) {
        let leading = slotsLeading(to: gone)
        if leading.isEmpty { return }
        let gone = Set(gone)
        for owner in registry.allObjects() {
            guard let slots = leading[owner.layout.index], let extras = owner.extras else { continue }
            for slot in slots {
                if slot.kind == .toOne {
                    keepIdentity(of: owner, slot, among: gone)
                } else if let state = extras.toMany(slot.index) {
                    loseMembers(of: owner, slot.index, state) { gone.contains($0) }
                }
            }
        }
        journal?.ownersOfDeleted.removeAll()
    }

    /// The relationships without an inverse to the entities of some objects, by layout.
    private func slotsLeading(to objects: some Collection<NSManagedObject>) -> [Int: [PropertySlot]] {
        guard !objects.isEmpty, let layouts = modelLayout?.layouts else { return [:] }
        let roots = Set(objects.lazy.map(\.layout.rootIndex))
        var leading: [Int: [PropertySlot]] = [:]
        for layout in layouts {
            for slot in layout.persistentRelationships
            where slot.inverseSlot < 0 && slot.destinationIndex >= 0
                && roots.contains(layouts[slot.destinationIndex].rootIndex)
            {
                leading[layout.index, default: []].append(slot)
            }
        }
        return leading
    }

    /// Makes a to-one relationship keep the object that may come back under its ID.
    private func keepIdentity(of owner: NSManagedObject, _ slot: PropertySlot, among gone: Set<NSManagedObject>) {
        guard journal != nil, owner.pending?.has(slot.index) != true,
            case .reference(let reference) = owner.committedValue(slot.index),
            let layout = modelLayout?.layouts[reference.layoutIndex]
        else { return }
        let destination = gone.first {
            $0.key == registry.currentKey(reference.key) && $0.layout.rootIndex == layout.rootIndex
                && $0.storeNumber == owner.storeNumber
        }
        if let destination { owner.extras?.setToOne(slot.index, destination) }
    }

    private func loseMembers(
        of owner: NSManagedObject, _ slot: Int, _ state: ToManyState, where isGone: (NSManagedObject) -> Bool
    ) {
        let members = state.members.objects
        let order = owner.layout.slots[slot].kind == .orderedToMany ? members : nil
        for member in members where isGone(member) {
            noteLost(.init(owner: owner, slot: slot, order: order), to: member)
        }
        state.forget(where: isGone)
    }

    // MARK: - Undo

    /// Reads the references without an inverse around deleted objects, which the store forgets.
    func keepReferences(around deleted: some Collection<NSManagedObject>) {
        let stored = deleted.filter {
            $0.storeNumber >= 0 && $0.flags.isDisjoint(with: [.discarded, .inaccessible, .deletedElsewhere])
        }
        for object in stored {
            for index in object.layout.relationshipSlots where object.layout.slots[index].inverseSlot < 0 {
                if object.layout.slots[index].kind == .toOne {
                    _ = object.toOne(index)
                } else {
                    _ = object.toManyMembers(index)
                }
            }
        }
        let leading = slotsLeading(to: stored)
        guard let layouts = modelLayout?.layouts else { return }
        for (index, slots) in leading {
            for slot in slots where slot.kind.isToMany && slot.property.owningEntity === layouts[index].entity {
                let root = layouts[slot.destinationIndex].rootIndex
                let request = NSFetchRequest<NSManagedObject>(entityName: layouts[index].name)
                request.predicate = NSPredicate(
                    format: "ANY %K IN %@", slot.name, stored.filter { $0.layout.rootIndex == root })
                request.relationshipKeyPathsForPrefetching = [slot.name]
                request.includesPendingChanges = false
                // References that cannot be read do not come back.
                journal?.ownersOfDeleted += (try? fetch(request)) ?? []
            }
        }
    }

    /// Records a reference to an object whose deletion was saved, as long as undo is possible.
    func noteLost(_ reference: LostReference, to object: NSManagedObject) {
        guard reference.owner.layout.slots[reference.slot].inverseSlot < 0 else { return }
        object.extras?.kept?.lost.append(reference)
    }

    /// Removes references of an object that has come back to objects that are gone.
    func loseReferences(of object: NSManagedObject) {
        for index in object.layout.relationshipSlots where object.layout.slots[index].inverseSlot < 0 {
            if object.layout.slots[index].kind == .toOne {
                guard let destination = object.toOne(index), isNoMore(destination) else { continue }
                noteLost(.init(owner: object, slot: index), to: destination)
                object.store(.null, slot: index)
            } else if let state = object.extras?.toMany(index) {
                loseMembers(of: object, index, state, where: isNoMore)
            }
        }
    }

    /// Restores references to an object whose saved deletion is undone, if none came since.
    func bringBackReferences(to object: NSManagedObject) {
        guard let kept = object.extras?.kept else { return }
        defer { kept.lost = [] }
        for lost in kept.lost where isPresent(lost.owner) {
            let (owner, slot) = (lost.owner, lost.slot)
            owner.prepareForChange()
            if owner.layout.slots[slot].kind == .toOne {
                if owner.toOne(slot) != nil { continue }
                owner.store(.object(object), slot: slot)
            } else {
                if owner.toManyMembers(slot).objects.contains(where: { $0 === object }) { continue }
                owner.addMember(object, slot: slot, isKnownToBeNew: false)
                if let order = lost.order { owner.restoreOrder(order, slot: slot) }
            }
            owner.noteChange(slot)
        }
    }

    // MARK: - Delete rules that are applied again

    /// Applies the delete rule of a deleted object to a destination. If the deletion is registered
    /// with the undo manager already, its undo takes that back: others have related the
    /// destination to the object since.
    func applyRule(
        of object: NSManagedObject, _ slot: PropertySlot, to destination: NSManagedObject, _ change: () -> Void
    ) {
        guard let journal, let kept = object.extras?.kept, !destination.isDeleted else { return change() }
        destination.fireFaultIfNeeded()
        let isRelated = slot.inverseSlot < 0 || leads(destination, to: object, slot)
        change()
        guard destination.isDeleted || isRelated else { return }
        kept.reached.append(
            ReachedObject(
                object: destination, slot: slot.index,
                deletion: destination.isDeleted ? destination.makeKeptReferences() : nil))
        journal.reread(destination)
    }

    /// Returns the changes that take back what the delete rules of objects that come back have
    /// reached, with the owners and slots of the relationships.
    func takeReached(by undone: [UndoneChange]) -> [(owner: NSManagedObject, slot: Int, change: UndoneChange)] {
        var taken: [(owner: NSManagedObject, slot: Int, change: UndoneChange)] = []
        var waiting = undone.filter { $0.wasPresent && !$0.isPresent }.map(\.object)
        while let owner = waiting.popLast() {
            guard let kept = owner.extras?.kept else { continue }
            for reached in kept.reached {
                var change = UndoneChange(
                    object: reached.object, wasPresent: true, isPresent: reached.deletion == nil)
                change.references = reached.deletion
                taken.append((owner, reached.slot, change))
                if reached.deletion != nil { waiting.append(reached.object) }
            }
            kept.reached = []
        }
        return taken
    }

    /// Relates an object to the owner of a relationship again, unless another has taken the place
    /// of either.
    func rejoin(_ object: NSManagedObject, _ owner: NSManagedObject, _ slot: PropertySlot) {
        guard slot.inverseSlot >= 0, isPresent(object), isPresent(owner) else { return }
        let inverse = object.layout.slots[slot.inverseSlot(in: object.layout)]
        if !slot.inverseIsToMany, let other = object.toOne(inverse.index), other !== owner { return }
        if slot.kind == .toOne, let other = owner.toOne(slot.index), other !== object { return }
        object.addToInverse(of: slot, owner)
        if !owner.destinations(through: slot).contains(where: { $0 === object }) {
            owner.addToInverse(of: inverse, object)
        }
    }

    /// Whether an object is gone for good, so that no reference to it may be restored.
    func isNoMore(_ object: NSManagedObject) -> Bool { !object.flags.isDisjoint(with: [.rowIsGone, .deletionSaved]) }
}

extension ToManyState {
    /// Removes objects that are no longer in any store.
    fileprivate func forget(where isGone: (NSManagedObject) -> Bool) {
        func take(_ list: inout ObjectList) {
            if list.objects.contains(where: isGone) { list.replaceAll(list.objects.filter { !isGone($0) }) }
        }
        take(&members)
        take(&added)
        take(&removed)
        committedOrder?.removeAll(where: isGone)
        wantedOrder?.removeAll(where: isGone)
    }
}
