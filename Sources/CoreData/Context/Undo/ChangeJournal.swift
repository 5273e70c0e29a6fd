/// What a context's objects were like when pending changes were last processed, so that what has changed since can be undone.
///
/// It exists in contexts that have an undo manager. An object without an entry was unchanged then: its former values are the committed
/// ones. Values that are not tracked (set by primitive setters, read again, taken over from others) are part of what was there before.
final class ChangeJournal {
    private var entries: [ObjectIdentifier: FormerState] = [:]
    /// What was set without being tracked since: it is as if it had been there before, unless it turns out to be a change.
    private var untracked: [ObjectIdentifier: FormerState] = [:]
    /// Whether what changes now is none of the program's changes: it is as if it had been there before.
    private var isAbsorbing = false

    /// - Parameter objects: those that are changed already, which is not to be undone.
    init(_ objects: some Sequence<NSManagedObject>) { for object in objects { note(object) } }

    func removeAll() {
        entries.removeAll()
        untracked.removeAll()
    }

    /// Objects have been saved, or have taken back their changes.
    func forget(_ objects: some Sequence<NSManagedObject>) {
        takeUntracked()
        if entries.isEmpty { return }
        for object in objects { forget(object) }
    }

    func forget(_ object: NSManagedObject) {
        takeUntracked()
        guard var entry = entries.removeValue(forKey: ObjectIdentifier(object)), entry.transient != nil else { return }
        entry.pending = nil
        entry.toMany = []
        entry.isDeleted = false
        entries[ObjectIdentifier(object)] = entry
    }

    /// An object has got other values without the program having changed it.
    func reread(_ object: NSManagedObject) {
        takeUntracked()
        entries[ObjectIdentifier(object)] = nil
        if object.hasChanges || object.hasPendingValues || object.extras?.transient != nil { note(object) }
    }

    /// As `reread`, for all objects.
    func rereadAll() {
        takeUntracked()
        for entry in entries.values { reread(entry.object) }
    }

    /// Remembers an object as it is now.
    func note(_ object: NSManagedObject) {
        entries[ObjectIdentifier(object)] = FormerState(of: object)
    }

    /// A value was set without being tracked.
    func noteUntracked(_ object: NSManagedObject, slot: Int) {
        var entry = untracked[ObjectIdentifier(object)] ?? FormerState(object: object)
        noteUntracked(&entry, slot: slot)
        untracked[ObjectIdentifier(object)] = entry
    }

    /// What was set without being tracked is a change after all.
    func noteTracked(_ object: NSManagedObject, slot: Int) {
        guard var entry = untracked.removeValue(forKey: ObjectIdentifier(object)) else { return }
        entry.pending?.remove(slot)
        entry.transient?.remove(slot)
        entry.toMany.removeAll { $0.slot == slot }
        if entry.isOfValues { untracked[ObjectIdentifier(object)] = entry }
    }

    /// What was set without being tracked was no change.
    private func takeUntracked() {
        if untracked.isEmpty { return }
        let former = untracked.values
        untracked = [:]
        for values in former {
            var entry = entries[ObjectIdentifier(values.object)] ?? FormerState(object: values.object)
            entry.take(values)
            entries[ObjectIdentifier(values.object)] = entry
        }
    }

    private func noteUntracked(_ entry: inout FormerState, slot: Int) {
        let object = entry.object
        let property = object.layout.slots[slot]
        if property.kind.isToMany {
            entry.toMany.removeAll { $0.slot == slot }
            if let state = object.extras?.toMany(slot) { entry.toMany.append(FormerMembers(state, of: property)) }
        } else if slot < object.layout.storedCount {
            let pending = entry.pending ?? PendingValues.make(slotCount: object.layout.storedCount, propertyCount: 0)
            pending.set(slot, object.currentValue(slot))
            entry.pending = pending
        } else {
            noteTransient(&entry, slot: slot, object.currentValue(slot))
        }
    }

    /// The value of a transient slot is about to change, which is nowhere else to be found.
    func willChangeTransient(_ object: NSManagedObject, slot: Int) {
        var entry = entries[ObjectIdentifier(object)] ?? FormerState(object: object)
        if entry.transient?.has(slot) == true { return }
        noteTransient(&entry, slot: slot, object.currentValue(slot))
        entries[ObjectIdentifier(object)] = entry
    }

    private func noteTransient(_ entry: inout FormerState, slot: Int, _ value: PropertyValue) {
        let transient = entry.transient ?? PendingValues.make(slotCount: entry.object.layout.slots.count, propertyCount: 0)
        transient.set(slot, value)
        entry.transient = transient
    }

    // MARK: - What has changed

    /// Objects by the names of ordered relationships that have lost members and are not read, so that nobody knows where these were.
    func unreadOrders(of objects: ContiguousArray<NSManagedObject>) -> [String: [NSManagedObject]] {
        takeUntracked()
        var owners: [String: [NSManagedObject]] = [:]
        for object in objects where !object.flags.contains(.discarded) && object.flags.isDisjoint(with: .rowIsGone) {
            for (slot, state) in object.extras?.allToMany ?? [] where !state.isLoaded && object.layout.slots[slot].kind == .orderedToMany {
                let added = entries[ObjectIdentifier(object)]?.toMany.first { $0.slot == slot }?.added ?? []
                if state.removed.isEmpty, added.allSatisfy({ state.added.contains($0) }) { continue }
                owners[object.layout.slots[slot].name, default: []].append(object)
            }
        }
        return owners
    }

    /// Takes all that a body changes, and has processed, as having been there before.
    func absorbing<Value>(_ body: () throws -> Value) rethrows -> Value {
        let wasAbsorbing = isAbsorbing
        isAbsorbing = true
        defer { isAbsorbing = wasAbsorbing }
        return try body()
    }

    /// What has changed in the objects of an event that is about to end, in its order. From here on it is what was there before.
    func record(_ objects: ContiguousArray<NSManagedObject>) -> [UndoneChange] {
        takeUntracked()
        var changes: [UndoneChange] = []
        changes.reserveCapacity(objects.count)
        for object in objects {
            let entry = entries[ObjectIdentifier(object)]
            let wasPresent = !object.flags.contains(.insertedInEvent) && entry?.isDeleted != true
            let isPresent = !object.isDeleted
            if object.flags.contains(.discarded) {
                // Inserted and deleted in one event: nothing happened.
                if wasPresent { changes.append(change(of: object, entry, wasPresent: true, isPresent: false)) }
                entries[ObjectIdentifier(object)] = nil
                continue
            }
            // What others deleted is not to be undone here.
            if object.flags.isDisjoint(with: [.deletedElsewhere, .inaccessible, .invalid]), wasPresent || isPresent {
                let change = change(of: object, entry, wasPresent: wasPresent, isPresent: isPresent)
                if !change.isEmpty { changes.append(change) }
            }
            note(object)
        }
        return isAbsorbing ? [] : changes
    }

    private func change(of object: NSManagedObject, _ entry: FormerState?, wasPresent: Bool, isPresent: Bool) -> UndoneChange {
        var change = UndoneChange(object: object, wasPresent: wasPresent, isPresent: isPresent)
        // A new object keeps its values when its insertion is undone.
        guard wasPresent, let mask = object.pending?.eventMask else { return change }
        let layout = object.layout
        mask.forEach(below: layout.slots.count) { index in
            let slot = layout.slots[index]
            if slot.kind == .fetched || slot.composite != nil { return }
            if slot.kind.isToMany {
                let former = entry?.toMany.first { $0.slot == index } ?? FormerMembers(slot: index)
                if let members = object.changedMembers(slot, since: former) { change.toMany.append(members) }
            } else {
                let value = object.formerValue(index, entry)
                if !isSame(value, object.currentValue(index), object, slot) { change.values.append((index, value)) }
            }
        }
        return change
    }

    private func isSame(_ former: PropertyValue, _ value: PropertyValue, _ object: NSManagedObject, _ slot: PropertySlot) -> Bool {
        switch (former, value) {
        case (.custom(let former), .custom(let value)): former === value
        case (.object(let destination), .stored(.reference(let reference))):
            object.registry?.object(for: reference, near: object) === destination
        default: object.equals(value, former, slot)
        }
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

    var isEmpty: Bool { wasPresent == isPresent && values.isEmpty && toMany.isEmpty }
}
