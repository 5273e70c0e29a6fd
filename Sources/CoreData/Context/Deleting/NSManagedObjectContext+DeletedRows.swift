// Objects whose rows another context or program has deleted.

extension NSManagedObjectContext {
    /// Removes an object whose row is gone from relationships made since its last save.
    ///
    /// These relationships would refer to nothing.
    func leaveNewRelationships(of object: NSManagedObject) {
        for slot in object.layout.relationshipSlots {
            let property = object.layout.slots[slot]
            guard property.inverseSlot >= 0 else { continue }
            if property.kind == .toOne {
                if let destination = object.pending?.destination(slot) { leave(destination, object, property) }
            } else if let state = object.extras?.toMany(slot) {
                for member in state.added.objects { leave(member, object, property) }
            }
        }
    }

    private func leave(_ destination: NSManagedObject, _ object: NSManagedObject, _ property: PropertySlot) {
        destination.removeFromInverse(of: property, object)
        // An undo must not restore the reference.
        journal?.reread(destination)
    }

    /// Turns an object that was to replace its deleted row with a new one into a changed object
    /// again.
    func continueAsUpdate(_ object: NSManagedObject) {
        guard let former = object.extras?.deletedRow else { return }
        changes.becomeChanged(object, in: former.row)
        // Only values that differ from the deleted row count as changes.
        forgetUnchanged(object)
    }
}

extension NSManagedObject {
    /// Whether objects were added to its relationships, or it to theirs, since it was last saved.
    final var hasNewRelationships: Bool {
        layout.relationshipSlots.contains { slot in
            if layout.slots[slot].kind == .toOne, pending?.destination(slot) != nil { return true }
            return extras?.toMany(slot)?.added.isEmpty == false
        }
    }
}
