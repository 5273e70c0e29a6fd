import Foundation

// Writing of slots, with change tracking and maintenance of inverse relationships.

extension NSManagedObject {
    /// Sets a value through an accessor: tracked, with the inverse maintained.
    final func setTracked(_ value: PropertyValue, slot: Int) {
        let property = layout.slots[slot]
        if property.kind == .toOne {
            return setToOne(value.destination, slot: slot)
        }
        if property.kind == .composite, let composite = property.composite {
            return setComposite(value.object(kind: .composite), composite)
        }
        prepareForChange()
        store(value, slot: slot)
        noteChange(slot)
    }

    /// Stores a value without recording a change. Forgets the destination that was looked up for the
    /// committed row: a save makes the new value the committed one.
    @inline(__always)
    final func store(_ value: PropertyValue, slot: Int) {
        if slot < layout.storedCount {
            withPending { $0.set(slot, value) }
            extrasReference?.withObject { $0.setToOne(slot, nil) }
            readThroughPending()
        } else {
            let extras = makeExtras()
            if let registry, registry.tracksFormerValues, !flags.contains(.silent) {
                registry.willChangeTransient(self, slot: slot)
            }
            if extras.transient == nil {
                extras.transient = PendingValues.make(slotCount: layout.slots.count, propertyCount: 0)
            }
            extras.transient?.set(slot, value)
        }
    }

    /// Stores the value of a plain attribute and records the change: `store` and `noteChange` in
    /// one step.
    ///
    /// - Parameter slot: the slot of an attribute whose values are not objects.
    @inline(__always)
    final func storeTracked(_ value: StoredValue, slot: Int) {
        // Without counting references: the path of nearly every setter call.
        let isStored =
            flags.contains(.inEvent) && !flags.contains(.silent)
            && pendingReference?.withObject { pending in
                pending[slot] = value
                pending.noteChange(slot)
                return true
            } ?? false
        if isStored {
            readThroughPending()
            markChangedInSave()
        } else {
            store(.stored(value), slot: slot)
            noteChange(slot)
        }
    }

    /// Loads the object before its first change: committed values are needed for conflicts and
    /// undo. If it has unsaved values, its current state is remembered.
    @inline(__always)
    final func prepareForChange() {
        if !flags.isDisjoint(with: .attention) { fireFault() }
        if needsFormerState { registry?.keepFormerState(of: self) }
    }

    /// Whether the current state must be remembered before a change: the object has no changes in
    /// this event yet, and differs from its store.
    @inline(__always)
    final var needsFormerState: Bool {
        !flags.contains(.inEvent) && (pendingReference != nil || flags.contains(.deleted))
    }

    /// Records that a slot changed, and notifies the context.
    @inline(__always)
    final func noteChange(_ slot: Int) {
        if flags.contains(.silent) { return }
        withPending { $0.noteChange(slot) }
        noteObjectChange()
    }

    /// Notifies the context that the object has changed in some way.
    @inline(__always)
    final func noteObjectChange() {
        if flags.contains(.silent) { return }
        markChangedInSave()
        // Within an event an object may be saved or refreshed, and then changed again.
        if flags.contains(.inEvent), !flags.isDisjoint(with: .known) { return }
        registry?.noteChanged(self)
    }

    /// Sets a to-one relationship and its inverse.
    final func setToOne(_ new: NSManagedObject?, slot: Int) {
        prepareForChange()
        let property = layout.slots[slot]
        if let new { checkDestination(new, property) }
        let old = toOne(slot)
        store(new.map(PropertyValue.object) ?? .null, slot: slot)
        noteChange(slot)
        guard old !== new, property.inverseSlot >= 0, !flags.contains(.silent) else { return }
        old?.removeFromInverse(of: property, self)
        new?.addToInverse(of: property, self)
    }

    /// Removes this object's reference to an object that no longer refers to it.
    ///
    /// - Parameter relationship: the property of `object`, whose inverse changes here.
    final func removeFromInverse(of relationship: PropertySlot, _ object: NSManagedObject) {
        prepareForChange()
        let slot = relationship.inverseSlot(in: layout)
        if layout.slots[slot].kind.isToMany {
            removeMember(object, slot: slot)
        } else if toOne(slot) === object {
            store(.null, slot: slot)
        }
        noteChange(slot)
    }

    /// Adds a reference to an object that now refers to this one.
    ///
    /// - Parameter relationship: the property of `object`, whose inverse changes here.
    final func addToInverse(of relationship: PropertySlot, _ object: NSManagedObject) {
        prepareForChange()
        let slot = relationship.inverseSlot(in: layout)
        let property = layout.slots[slot]
        guard !property.kind.isToMany else {
            let isKnownToBeNew = !property.inverseIsToMany && !toManyState(slot).mayHaveOneSidedMembers
            addMember(object, slot: slot, isKnownToBeNew: isKnownToBeNew)
            return noteChange(slot)
        }
        let previous = toOne(slot)
        store(.object(object), slot: slot)
        noteChange(slot)
        // One-to-one: the former partner, which may be this object, loses its reference.
        if let previous, previous !== object, property.inverseSlot >= 0 {
            previous.removeFromInverse(of: property, self)
        }
    }

    final func checkDestination(_ object: NSManagedObject, _ property: PropertySlot) {
        let expected = property.destinationIndex
        guard expected >= 0 else { return }
        let mine = layout
        let theirs = object.layout
        if theirs.modelIdentity == mine.modelIdentity, theirs.index != expected { checkKind(of: object, property) }
        guard let registry = heldRegistry, let other = object.heldRegistry, registry.pointer != other.pointer
        else { return }
        preconditionFailure(
            "Illegal attempt to establish the relationship \(mine.name).\(property.name) between objects in "
                + "different contexts."
        )
    }

    @inline(never)
    private func checkKind(of object: NSManagedObject, _ property: PropertySlot) {
        let destination = layout.model.layouts[property.destinationIndex]
        precondition(
            object.layout.isKind(of: destination),
            "\(layout.name).\(property.name) takes an object of entity \(destination.name), not \(object.layout.name).")
    }

    /// Sets a property by key-value coding.
    final func setObjectValue(_ value: Any?, slot: Int) {
        let property = layout.slots[slot]
        switch property.kind {
        case .toMany, .orderedToMany:
            guard let members = RelationshipValues.objects(in: value) else {
                preconditionFailure(wrongType(value, property))
            }
            setToMany(members, slot: slot)
        case .fetched:
            preconditionFailure("\(layout.name).\(property.name) is a fetched property and cannot be set.")
        default:
            guard let converted = PropertyValue(value, kind: property.kind) else {
                preconditionFailure(wrongType(value, property))
            }
            if case .custom = converted { extras?.setDecoded(slot, nil) }
            setTracked(converted, slot: slot)
        }
    }

    /// Returns a new member of a relationship; stops the program if it is no object.
    final func member(_ value: Any, slot: Int) -> NSManagedObject {
        guard let object = value as? NSManagedObject else { preconditionFailure(wrongType(value, layout.slots[slot])) }
        return object
    }

    final func wrongType(_ value: Any?, _ property: PropertySlot) -> String {
        let given = PropertyConversion.unwrapped(value).map { "\(Swift.type(of: $0)) (\($0))" } ?? "nil"
        let expected =
            property.attribute?.attributeValueClassName
            ?? property.relationship?.destinationEntity?.name.map { property.kind.isToMany ? "a set of \($0)" : $0 }
            ?? "another type"
        return "Unacceptable type of value for \(layout.name).\(property.name): expected \(expected), given \(given)."
    }
}
