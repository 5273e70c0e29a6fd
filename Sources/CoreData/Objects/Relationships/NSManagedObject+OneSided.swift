import Foundation

// Relationships that primitive setters changed on one side, until the inverse follows.

extension NSManagedObject {
    /// Whether primitive setters may have changed a relationship whose inverse was not updated yet.
    @inline(__always)
    final var hasOneSidedChanges: Bool {
        extrasReference?.withObject { $0.oneSided.map { !$0.isEmpty } ?? false } ?? false
    }

    // MARK: Changing one side

    /// Sets a to-one relationship without tracking or inverse.
    final func setPrimitiveDestination(_ new: NSManagedObject?, slot: Int) {
        let former = toOne(slot)
        store(new.map(PropertyValue.object) ?? .null, slot: slot)
        if former === new { return }
        noteOneSided(slot) { changes in
            if let former { changes.lose(former, slot: slot) }
            if let new { changes.gain(new, slot: slot) }
        }
    }

    /// Replaces members, and the order of an ordered relationship, without tracking or inverses.
    final func setPrimitiveMembers(_ members: [NSManagedObject], slot: Int) {
        let current = toManyMembers(slot)
        var wanted = ObjectList()
        for object in members { wanted.append(object) }
        toManyState(slot).mayHaveOneSidedMembers = true
        for object in current.objects where !wanted.contains(object) { removePrimitiveMember(object, slot: slot) }
        for object in wanted.objects { addPrimitiveMember(object, slot: slot) }
        if layout.slots[slot].kind == .orderedToMany { setOrder(wanted.objects, slot: slot) }
    }

    /// Adds a member without tracking or inverse.
    ///
    /// - Returns: whether it was not a member before.
    @discardableResult
    final func addPrimitiveMember(_ object: NSManagedObject, slot: Int, at index: Int? = nil) -> Bool {
        guard let state = stateWithout(object, slot) else { return false }
        state.mayHaveOneSidedMembers = true
        addMember(object, slot: slot, isKnownToBeNew: true, at: index)
        noteOneSided(slot) { $0.gain(object, slot: slot) }
        return true
    }

    /// Removes a member without tracking or inverse.
    ///
    /// - Returns: whether it was a member.
    @discardableResult
    final func removePrimitiveMember(_ object: NSManagedObject, slot: Int) -> Bool {
        if stateWithout(object, slot) != nil { return false }
        removeMember(object, slot: slot)
        noteOneSided(slot) { $0.lose(object, slot: slot) }
        return true
    }

    /// The state of a to-many relationship, which is read first; nil if the object is a member.
    private func stateWithout(_ object: NSManagedObject, _ slot: Int) -> ToManyState? {
        fireFaultIfNeeded(slot)
        let state = toManyState(slot)
        if !state.isLoaded { _ = toManyMembers(slot) }
        return (state.isLoaded ? state.members.contains(object) : state.added.contains(object)) ? nil : state
    }

    private func noteOneSided(_ slot: Int, _ change: (OneSidedChanges) -> Void) {
        guard layout.slots[slot].inverseSlot >= 0, !flags.contains(.silent) else { return }
        change(makeOneSided())
    }

    private func makeOneSided() -> OneSidedChanges {
        let extras = makeExtras()
        let changes = extras.oneSided ?? OneSidedChanges()
        extras.oneSided = changes
        return changes
    }

    // MARK: Mutable sets that the program changes

    /// Returns the members of a relationship in a set that the program may change.
    ///
    /// It is one of Foundation's own sets, as Swift's sets are bridged from no other. The same set
    /// is returned until another value is set.
    final func primitiveSet(_ slot: Int) -> NSMutableSet {
        let members = toManyMembers(slot).objects
        let changes = makeOneSided()
        if let known = changes.handedOut[slot] {
            if !known.isMade(of: members) { takeOverSet(slot) }
            return known.set
        }
        let set = NSMutableSet(array: Array(members))
        changes.handOut(slot, .init(set: set, members: members))
        return set
    }

    /// Sets the relationship to the members of the mutable set that the program received, as a
    /// primitive setter would.
    ///
    /// - Parameter announced: the members that are announced as added or removed. The other members
    ///   are compared only if the announced ones do not explain the change.
    final func takeOverSet(_ slot: Int, announced: Set<AnyHashable> = []) {
        guard let changes = extras?.oneSided, let known = changes.handedOut[slot] else { return }
        let isCurrent = known.isMade(of: toManyMembers(slot).objects)
        var isChanged = false
        func add(_ object: NSManagedObject) { if addPrimitiveMember(object, slot: slot) { isChanged = true } }
        func remove(_ object: NSManagedObject) { if removePrimitiveMember(object, slot: slot) { isChanged = true } }
        for value in announced where isCurrent {
            guard let object = value.base as? NSManagedObject else { continue }
            if known.set.contains(object) { add(object) } else { remove(object) }
        }
        if announced.isEmpty || !isCurrent || toManyMembers(slot).count != known.set.count {
            let former = Set(known.members)
            for object in known.members where !known.set.contains(object) { remove(object) }
            for value in known.set {
                let object = member(value, slot: slot)
                if !former.contains(object) { add(object) }
            }
        }
        let members = toManyMembers(slot).objects
        if !isCurrent {
            known.set.removeAllObjects()
            known.set.addObjects(from: Array(members))
        }
        changes.handOut(slot, .init(set: known.set, members: members))
        // A slot that was only read here, and whose changes were tracked, stays tracked.
        if isChanged { noteUntracked(layout.slots[slot]) }
    }

    // MARK: Updating the inverse

    /// Updates the inverse in the destinations of a relationship that primitive setters have
    /// changed. A destination whose inverse is right already does not change.
    ///
    /// - Parameter mayChange: called before a destination is changed; a destination for which it
    ///   returns false stays as it is.
    final func maintainInverse(_ slot: Int, where mayChange: (NSManagedObject) throws -> Bool) rethrows {
        guard let changes = extras?.oneSided, !flags.contains(.silent) else { return }
        let (gained, lost) = changes.take(slot)
        let property = layout.slots[slot]
        for object in lost where !leads(to: object, slot) {
            if try mayChange(object), object.mayLead(to: self, property) {
                object.removeFromInverse(of: property, self)
            }
        }
        for object in gained where leads(to: object, slot) {
            if try !mayChange(object) { continue }
            checkDestination(object, property)
            object.prepareForChange()
            if !object.leads(to: self, property.inverseSlot(in: object.layout)) {
                object.addToInverse(of: property, self)
            }
        }
    }

    /// Adds an object that has come back to the inverses of its to-one relationships.
    final func joinDestinations() {
        for slot in layout.relationshipSlots
        where layout.slots[slot].kind == .toOne && layout.slots[slot].inverseSlot >= 0 {
            let property = layout.slots[slot]
            guard let destination = toOne(slot),
                !destination.leads(to: self, property.inverseSlot(in: destination.layout))
            else {
                continue
            }
            destination.addToInverse(of: property, self)
        }
    }

    /// Whether an object is known to be in a relationship, without reading it.
    private func leads(to object: NSManagedObject, _ slot: Int) -> Bool {
        if !layout.slots[slot].kind.isToMany { return toOne(slot) === object }
        let state = toManyState(slot)
        return state.isLoaded ? state.members.contains(object) : state.added.contains(object)
    }

    /// Whether the inverse contains the object, or was not read and may.
    private func mayLead(to object: NSManagedObject, _ relationship: PropertySlot) -> Bool {
        prepareForChange()
        let slot = relationship.inverseSlot(in: layout)
        if layout.slots[slot].kind.isToMany, !toManyState(slot).isLoaded { return true }
        return leads(to: object, slot)
    }
}
