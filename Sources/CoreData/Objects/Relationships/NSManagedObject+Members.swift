// The members of one side of a to-many relationship.

extension NSManagedObject {
    /// Adds a member on this side only.
    final func addMember(_ object: NSManagedObject, slot: Int, isKnownToBeNew: Bool, at index: Int? = nil) {
        let state = toManyState(slot)
        if state.removed.contains(object) {
            let isOrdered = layout.slots[slot].kind == .orderedToMany
            // Its place in the order depends on the other members, so they must be loaded.
            if isOrdered { _ = toManyMembers(slot) }
            state.removed.removeOrdered(object)
            if state.isLoaded {
                insertMember(object, state, slot, at: index)
                if isOrdered { state.orderChanged = true }
            } else if isOrdered {
                state.added.append(object)
            }
            return
        }
        if !isKnownToBeNew {
            if state.isLoaded ? state.members.contains(object) : state.added.contains(object) { return }
        }
        if isKnownToBeNew { state.added.appendNew(object) } else { state.added.append(object) }
        if state.isLoaded { insertMember(object, state, slot, at: index) }
    }

    private func insertMember(_ object: NSManagedObject, _ state: ToManyState, _ slot: Int, at index: Int?) {
        if let index, index < state.members.count {
            rememberOrder(state, slot, without: object)
            state.members.insert(object, at: index)
        } else {
            state.members.appendNew(object)
        }
    }

    /// Removes a member on this side only.
    final func removeMember(_ object: NSManagedObject, slot: Int) {
        let state = toManyState(slot)
        if !state.isLoaded, state.added.contains(object) { verifyAddition(object, state, slot) }
        let isOrdered = layout.slots[slot].kind == .orderedToMany
        if state.isLoaded {
            if isOrdered, !state.added.contains(object), state.committedOrder == nil, committedRow != nil {
                state.committedOrder = state.members.objects.filter { !state.added.contains($0) }
            }
            let wasMember = isOrdered ? state.members.removeOrdered(object) : state.members.removeUnordered(object)
            guard wasMember || isCommittedOwner(of: object, slot: slot) else { return }
        }
        if state.added.removeOrdered(object) { return }
        if committedRow != nil || flags.contains(.fault) { state.removed.append(object) }
    }

    /// Removes a member from the additions of an unread relationship if the store has it already.
    ///
    /// With a to-one inverse the member's row is known, and additions are certain. Otherwise the
    /// inverse shows it if it is loaded; if not, this side is loaded.
    private func verifyAddition(_ object: NSManagedObject, _ state: ToManyState, _ slot: Int) {
        let property = layout.slots[slot]
        if property.inverseSlot >= 0 {
            if !property.inverseIsToMany { return }
            if let other = object.extras?.toMany(property.inverseSlot(in: object.layout)), other.isLoaded {
                let isStored = other.members.contains(self) ? !other.added.contains(self) : other.removed.contains(self)
                if isStored { state.added.removeOrdered(object) }
                return
            }
        }
        _ = toManyMembers(slot)
    }
}
