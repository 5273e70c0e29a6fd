/// What the changes of an event were, so that they can be undone.
///
/// It exists in contexts that have an undo manager. What an object was is kept with its unsaved values while the event lasts
/// (`PendingValues.former`). Values that are not tracked (set by primitive setters, read again, taken over from others) are part of what
/// was there before.
final class ChangeJournal {
    /// What was set without being tracked since the event began: it is as if it had been there before, unless it turns out to be a change.
    private var untracked: [ObjectIdentifier: (object: NSManagedObject, values: FormerState)] = [:]
    /// Whether what changes now is none of the program's changes: it is as if it had been there before.
    private var isAbsorbing = false

    /// Keeps what leads to deleted objects until their deletion is saved.
    var ownersOfDeleted: [NSManagedObject] = []

    /// Forgets everything but the present event.
    func forget() {
        untracked.removeAll()
        ownersOfDeleted.removeAll()
    }

    /// An object has got other values without the program having changed it: from here on it is what it is now.
    func reread(_ object: NSManagedObject) {
        untracked[ObjectIdentifier(object)] = nil
        // Any other is remembered when it changes.
        if object.flags.contains(.inEvent) { object.pending?.former = FormerState(of: object) }
    }

    /// As `reread`, for all objects of an event.
    func reread(_ objects: ContiguousArray<NSManagedObject>) {
        untracked.removeAll()
        for object in objects { reread(object) }
    }

    /// A value was set without being tracked.
    func noteUntracked(_ object: NSManagedObject, slot: Int) {
        // What is set there is remembered with the object when it changes.
        object.makePending()
        let values = untracked[ObjectIdentifier(object)]?.values ?? FormerState()
        note(object, slot: slot, in: values)
        untracked[ObjectIdentifier(object)] = (object, values)
    }

    /// What was set without being tracked is a change after all.
    func noteTracked(_ object: NSManagedObject, slot: Int) {
        guard let values = untracked[ObjectIdentifier(object)]?.values else { return }
        values.pending?.remove(slot)
        values.transient?.remove(slot)
        values.toMany.removeAll { $0.slot == slot }
    }

    /// What was set without being tracked was no change.
    private func takeUntracked() {
        if untracked.isEmpty { return }
        let taken = untracked.values
        untracked = [:]
        for (object, values) in taken {
            guard let pending = object.pending else { continue }
            if object.flags.contains(.inEvent) {
                let former = pending.former ?? FormerState()
                former.take(values)
                pending.former = former
            } else {
                pending.former = nil
            }
        }
    }

    /// Remembers a value as it is now.
    private func note(_ object: NSManagedObject, slot: Int, in former: FormerState) {
        let property = object.layout.slots[slot]
        if property.kind.isToMany {
            former.toMany.removeAll { $0.slot == slot }
            if let state = object.extras?.toMany(slot) { former.toMany.append(FormerMembers(state, of: property)) }
        } else if slot < object.layout.storedCount {
            let pending = former.pending ?? PendingValues.make(slotCount: object.layout.storedCount, propertyCount: 0)
            pending.set(slot, object.currentValue(slot))
            former.pending = pending
        } else {
            noteTransient(object, slot: slot, in: former)
        }
    }

    /// The value of a transient slot is about to change, which is nowhere else to be found.
    func willChangeTransient(_ object: NSManagedObject, slot: Int) {
        object.withPending { pending in
            let former = pending.former ?? FormerState()
            if former.transient?.has(slot) == true { return }
            noteTransient(object, slot: slot, in: former)
            pending.former = former
        }
    }

    private func noteTransient(_ object: NSManagedObject, slot: Int, in former: FormerState) {
        let transient = former.transient ?? PendingValues.make(slotCount: object.layout.slots.count, propertyCount: 0)
        transient.set(slot, object.currentValue(slot))
        former.transient = transient
    }

    // MARK: - What has changed

    /// Objects by the names of changed relationships that are not read, where nobody knows what they were: those that have got members that
    /// they may have had before, and ordered ones that have lost members.
    func unreadMembers(of objects: ContiguousArray<NSManagedObject>) -> [String: [NSManagedObject]] {
        takeUntracked()
        var owners: [String: [NSManagedObject]] = [:]
        for object in objects where !object.flags.contains(.discarded) && object.flags.isDisjoint(with: .rowIsGone) {
            for (slot, state) in object.extras?.allToMany ?? [] where !state.isLoaded {
                let property = object.layout.slots[slot]
                let former = object.pending?.former?.toMany.first { $0.slot == slot }?.added ?? []
                let hasLost = property.kind == .orderedToMany && !(state.removed.isEmpty && former.allSatisfy { state.added.contains($0) })
                let known = Set(former)
                let mayHaveHad = state.added.objects.contains { !known.contains($0) && mayHaveBeen($0, in: property) }
                if hasLost || mayHaveHad { owners[property.name, default: []].append(object) }
            }
        }
        return owners
    }

    /// Whether an object that was added to a relationship without reading it may have been a member before.
    private func mayHaveBeen(_ object: NSManagedObject, in property: PropertySlot) -> Bool {
        if object.isNewOrUnmanaged || property.inverseSlot >= 0 && !property.inverseIsToMany { return false }
        guard property.inverseSlot >= 0 else { return true }
        return object.extras?.toMany(property.inverseSlot(in: object.layout))?.isLoaded != true
    }

    /// Takes all that a body changes, and has processed, as having been there before.
    func absorbing<Value>(_ body: () throws -> Value) rethrows -> Value {
        let wasAbsorbing = isAbsorbing
        isAbsorbing = true
        defer { isAbsorbing = wasAbsorbing }
        return try body()
    }

    /// What has changed in the objects of an event that is about to end, in its order.
    func record(_ objects: ContiguousArray<NSManagedObject>) -> [UndoneChange] {
        takeUntracked()
        if isAbsorbing { return [] }
        var changes: [UndoneChange] = []
        changes.reserveCapacity(objects.count)
        for object in objects {
            let former = object.pending?.former
            let wasPresent = !object.flags.contains(.insertedInEvent) && former?.isDeleted != true
            let isPresent = !object.isDeleted
            if object.flags.contains(.discarded) {
                // Inserted and deleted in one event: nothing happened.
                if wasPresent { changes.append(change(of: object, former, wasPresent: true, isPresent: false)) }
                continue
            }
            // What others deleted is not to be undone here.
            if object.flags.isDisjoint(with: [.deletedElsewhere, .inaccessible, .invalid]), wasPresent || isPresent {
                let change = change(of: object, former, wasPresent: wasPresent, isPresent: isPresent)
                if !change.isEmpty { changes.append(change) }
            }
        }
        return changes
    }

    private func change(of object: NSManagedObject, _ state: FormerState?, wasPresent: Bool, isPresent: Bool) -> UndoneChange {
        var change = UndoneChange(object: object, wasPresent: wasPresent, isPresent: isPresent)
        // A new object keeps its values when its insertion is undone.
        guard wasPresent, let mask = object.pending?.eventMask else { return change }
        let layout = object.layout
        mask.forEach(below: layout.slots.count) { index in
            let slot = layout.slots[index]
            if slot.kind == .fetched || slot.composite != nil { return }
            if slot.kind.isToMany {
                let former = state?.toMany.first { $0.slot == index } ?? FormerMembers(slot: index)
                if let members = object.changedMembers(slot, since: former) { change.toMany.append(members) }
            } else {
                if !object.hasFormerValue(slot, state) { change.values.append((index, object.formerValue(index, state))) }
            }
        }
        return change
    }
}

/// What undoing does to one object: the way back to what it was before an event.
struct UndoneChange {
    let object: NSManagedObject
    /// Whether the context had the object before, not deleted.
    let wasPresent: Bool
    /// Whether it has it since.
    let isPresent: Bool
    /// Former values by slot; destinations as objects.
    var values: [(slot: Int, value: PropertyValue)] = []
    var toMany: [ChangedMembers] = []
    /// The store that a new object was assigned to, which has left its context.
    var assignedStore: NSPersistentStore?
    /// The references of an object that has left its context.
    var references: KeptReferences?

    var isEmpty: Bool { wasPresent == isPresent && values.isEmpty && toMany.isEmpty }
}
