// A relationship is one fact with two ends: who settles one of them settles the other.

/// What the unsaved changes of an object have done to its relationships: remembered before they are taken back, or put on a newer row.
struct UnsavedEnds {
    let object: NSManagedObject
    /// The row that they were made on.
    let row: Snapshot?
    /// Changed relationships with an inverse, and what these have gained and lost.
    private(set) var changes: [(slot: Int, gained: ContiguousArray<NSManagedObject>, lost: ContiguousArray<NSManagedObject>)] = []

    /// Cost: O(changed relationships); reads nothing.
    init(of object: NSManagedObject) {
        self.object = object
        row = object.committedRow.map(Snapshot.init(retaining:))
        if object.pendingReference == nil, object.extrasReference == nil { return }
        let layout = object.layout
        for slot in layout.relationshipSlots {
            let property = layout.slots[slot]
            if property.inverseSlot < 0 || property.isTransient { continue }
            if property.kind.isToMany {
                guard let state = object.extras?.toMany(slot), !state.added.isEmpty || !state.removed.isEmpty else { continue }
                changes.append((slot, state.added.objects, state.removed.objects))
            } else if object.differsFromCommitted(property) {
                let (gained, lost) = (object.toOne(slot), object.committedDestination(slot))
                changes.append((slot, gained.map { [$0] } ?? [], lost.map { [$0] } ?? []))
            } else if let gained = object.pending?.destination(slot) {
                // Set to what the row says, which others may have changed since.
                changes.append((slot, [gained], []))
            }
        }
    }
}

extension NSManagedObject {
    /// Removes a member from the additions of a to-many relationship: its committed row leads here already.
    ///
    /// - Parameter relationship: the property of the member.
    final func forgetAddition(of member: NSManagedObject, _ relationship: PropertySlot) {
        guard let state = extras?.toMany(relationship.inverseSlot(in: layout)), state.added.removeOrdered(member) else { return }
        state.forgetMembers()
    }
}

extension NSManagedObjectContext {
    /// Drops pending values that are those of the committed row: nobody changed them, so that others' changes must not lose to them.
    func forgetUnchanged(_ object: NSManagedObject) {
        guard let pending = object.pending, object.committedRow != nil else { return }
        for slot in 0..<object.layout.storedCount where pending.has(slot) {
            let property = object.layout.slots[slot]
            if !object.equals(pending.value(slot), .stored(object.committedValue(slot)), property) { continue }
            if property.inverseIsToMany, let owner = pending.destination(slot) { owner.forgetAddition(of: object, property) }
            pending.remove(slot)
        }
    }
}
