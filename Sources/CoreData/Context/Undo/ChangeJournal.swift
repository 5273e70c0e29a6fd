/// The record of the changes of an event, from which they can be undone.
///
/// It exists in contexts that have an undo manager. The former state of an object is kept with its
/// unsaved values while the event lasts (`PendingValues.former`). Values that are not tracked (set
/// by primitive setters, read again, merged from another context) count as part of the former
/// state.
final class ChangeJournal {
    /// Untracked values: former ones, unless they turn out to be changes.
    private var untracked: [ObjectIdentifier: (object: NSManagedObject, values: FormerState)] = [:]
    /// Whether present changes count as part of the former state, as not the program's.
    private var isAbsorbing = false

    /// Objects that refer to deleted objects, kept until the deletion is saved.
    var ownersOfDeleted: [NSManagedObject] = []

    /// Forgets everything but the present event.
    func forget() {
        untracked.removeAll()
        ownersOfDeleted.removeAll()
    }

    /// Makes the present state, which the program has not set, the former state of an object.
    func reread(_ object: NSManagedObject) {
        untracked[ObjectIdentifier(object)] = nil
        // The state of any other object is recorded when it changes.
        if object.flags.contains(.inEvent) { object.pending?.former = FormerState(of: object) }
    }

    /// As `reread`, for all objects of an event.
    func reread(_ objects: ContiguousArray<NSManagedObject>) {
        untracked.removeAll()
        for object in objects { reread(object) }
    }

    /// Notes that a value was set without being tracked.
    func noteUntracked(_ object: NSManagedObject, slot: Int) {
        // The pending values keep the former state of the object when it changes.
        object.makePending()
        let values = untracked[ObjectIdentifier(object)]?.values ?? FormerState()
        note(object, slot: slot, in: values)
        untracked[ObjectIdentifier(object)] = (object, values)
    }

    /// Notes that a value that was set without being tracked is a change after all.
    func noteTracked(_ object: NSManagedObject, slot: Int) {
        guard let values = untracked[ObjectIdentifier(object)]?.values else { return }
        values.pending?.remove(slot)
        values.transient?.remove(slot)
        values.toMany.removeAll { $0.slot == slot }
    }

    /// Adds untracked values to the former states of their objects: they were no changes.
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

    /// Records the present value of a slot.
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

    /// Records the value of a transient slot that is about to change. It is stored nowhere else.
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

    // MARK: - Changes

    /// The owners of changed, unread relationships whose former members are unknown, by
    /// relationship name.
    ///
    /// These owners have added members that may have been there before, or have lost members of an
    /// ordered relationship.
    func unreadMembers(of objects: ContiguousArray<NSManagedObject>) -> [String: [NSManagedObject]] {
        takeUntracked()
        var owners: [String: [NSManagedObject]] = [:]
        for object in objects where !object.flags.contains(.discarded) && object.flags.isDisjoint(with: .rowIsGone) {
            for (slot, state) in object.extras?.allToMany ?? [] where !state.isLoaded {
                let property = object.layout.slots[slot]
                let former = object.pending?.former?.toMany.first { $0.slot == slot }?.added ?? []
                let hasLost =
                    property.kind == .orderedToMany
                    && !(state.removed.isEmpty && former.allSatisfy { state.added.contains($0) })
                let known = Set(former)
                let mayHaveHad = state.added.objects.contains { !known.contains($0) && mayHaveBeen($0, in: property) }
                if hasLost || mayHaveHad { owners[property.name, default: []].append(object) }
            }
        }
        return owners
    }

    /// Whether an object added to an unread relationship may have been a member before.
    private func mayHaveBeen(_ object: NSManagedObject, in property: PropertySlot) -> Bool {
        if object.isNewOrUnmanaged || property.inverseIsToOne { return false }
        guard property.inverseSlot >= 0 else { return true }
        return object.extras?.toMany(property.inverseSlot(in: object.layout))?.isLoaded != true
    }

    /// Runs a body whose changes, made and processed, count as part of the former state.
    func absorbing<Value>(_ body: () throws -> Value) rethrows -> Value {
        let wasAbsorbing = isAbsorbing
        isAbsorbing = true
        defer { isAbsorbing = wasAbsorbing }
        return try body()
    }

    /// The changes to the objects of an event that is about to end, in its order.
    func record(_ objects: ContiguousArray<NSManagedObject>) -> [UndoneChange] {
        takeUntracked()
        if isAbsorbing { return [] }
        var changes: [UndoneChange] = []
        changes.reserveCapacity(objects.count)
        for object in objects {
            let former = object.pending?.former
            let isNew = object.flags.contains(.insertedInEvent)
            let wasPresent = !isNew && former?.isDeleted != true
            let isPresent = !object.isDeleted
            if object.flags.contains(.discarded) {
                // Inserted and deleted in one event: nothing happened.
                if wasPresent { changes.append(change(of: object, former, wasPresent: true, isPresent: false)) }
                continue
            }
            // Deletions by another context or program are not undone here. An object that was deleted
            // before has lost or gained the other ends of relationships that changed.
            if object.flags.isDisjoint(with: [.deletedElsewhere, .inaccessible, .invalid]), !isNew || isPresent {
                let change = change(of: object, former, wasPresent: wasPresent, isPresent: isPresent)
                if !change.isEmpty { changes.append(change) }
            }
        }
        return changes
    }

    private func change(of object: NSManagedObject, _ state: FormerState?, wasPresent: Bool, isPresent: Bool)
        -> UndoneChange
    {
        var change = UndoneChange(object: object, wasPresent: wasPresent, isPresent: isPresent)
        // A new object keeps its values when its insertion is undone, as one that was undeleted does.
        guard wasPresent || !isPresent, let mask = object.pending?.eventMask else { return change }
        let layout = object.layout
        mask.forEach(below: layout.slots.count) { index in
            let slot = layout.slots[index]
            if slot.kind == .fetched || slot.composite != nil { return }
            if slot.kind.isToMany {
                let former = state?.toMany.first { $0.slot == index } ?? FormerMembers(slot: index)
                if let members = object.changedMembers(slot, since: former) { change.toMany.append(members) }
            } else {
                if !object.hasFormerValue(slot, state) {
                    change.values.append((index, object.formerValue(index, state)))
                }
            }
        }
        return change
    }
}

/// The changes that return one object to its state before an event.
struct UndoneChange {
    let object: NSManagedObject
    /// Whether the context had the object, not deleted, before the event.
    let wasPresent: Bool
    /// Whether the context has had it since the event.
    let isPresent: Bool
    /// Former values by slot; destinations as objects.
    var values: [(slot: Int, value: PropertyValue)] = []
    var toMany: [ChangedMembers] = []
    /// The store that was assigned to a new object which has left its context.
    var assignedStore: NSPersistentStore?
    /// The references of an object that has left its context.
    var references: KeptReferences?

    var isEmpty: Bool { wasPresent == isPresent && values.isEmpty && toMany.isEmpty }
}
