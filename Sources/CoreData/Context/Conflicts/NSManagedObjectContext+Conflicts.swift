// What becomes of objects whose rows others deleted.

extension NSManagedObjectContext {
    /// Takes an object whose row is gone out of relationships that were made since its last save: what would lead nowhere.
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
        // Undoing must not lead it back.
        journal?.reread(destination)
    }

    /// Makes a changed object again of one that was to be saved as a new row in the place of a deleted one.
    func continueAsUpdate(_ object: NSManagedObject) {
        guard let former = object.extras?.deletedRow else { return }
        changes.becomeChanged(object, in: former.row)
        // Only what differs from the deleted row was set by anyone.
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
