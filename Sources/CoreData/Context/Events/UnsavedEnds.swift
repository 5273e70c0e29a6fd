// A relationship is one fact with two ends: code that settles one of them settles the other.

/// The effect of an object's unsaved changes on its relationships, before they end.
struct UnsavedEnds {
    let object: NSManagedObject
    /// The row on which the changes were made.
    let row: Snapshot?
    /// Changed relationships with an inverse, and the objects that each has gained and lost.
    private(set) var changes:
        [(slot: Int, gained: ContiguousArray<NSManagedObject>, lost: ContiguousArray<NSManagedObject>)] = []

    /// Cost: O(changed relationships); reads nothing.
    init(of object: NSManagedObject) {
        self.object = object
        row = object.committedRow.map(Snapshot.init(retaining:))
        if object.pendingReference == nil, object.extrasReference == nil { return }
        for property in object.layout.persistentRelationships where property.inverseSlot >= 0 {
            let slot = property.index
            if property.kind.isToMany {
                guard let state = object.extras?.toMany(slot), !state.added.isEmpty || !state.removed.isEmpty else {
                    continue
                }
                changes.append((slot, state.added.objects, state.removed.objects))
            } else if object.differsFromCommitted(property) {
                let (gained, lost) = (object.toOne(slot), object.committedDestination(slot))
                changes.append((slot, gained.map { [$0] } ?? [], lost.map { [$0] } ?? []))
            } else if let gained = object.pending?.destination(slot) {
                // Set to the row's own value, which another writer may have changed since.
                changes.append((slot, [gained], []))
            }
        }
    }
}

extension NSManagedObject {
    /// Removes a member from the additions of a to-many relationship: the member's committed row
    /// refers here already.
    ///
    /// - Parameter relationship: The property of the member.
    final func forgetAddition(of member: NSManagedObject, _ relationship: PropertySlot) {
        guard let state = extras?.toMany(relationship.inverseSlot(in: layout)), state.added.removeOrdered(member) else {
            return
        }
        state.forgetMembers()
    }
}

extension NSManagedObjectContext {
    /// Drops pending values that equal the row's, which must not override another writer's.
    func forgetUnchanged(_ object: NSManagedObject) {
        guard let pending = object.pending, object.committedRow != nil else { return }
        for slot in 0..<object.layout.storedCount where pending.has(slot) {
            let property = object.layout.slots[slot]
            if !object.equals(pending.value(slot), .stored(object.committedValue(slot)), property) { continue }
            if property.inverseIsToMany, let owner = pending.destination(slot) {
                owner.forgetAddition(of: object, property)
            }
            pending.remove(slot)
        }
    }
}
