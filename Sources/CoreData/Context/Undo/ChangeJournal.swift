/// What a context's objects were like when pending changes were last processed, so that what has changed since can be undone.
///
/// It exists in contexts that have an undo manager. An object without an entry was unchanged then: its former values are the committed
/// ones. Values that are not tracked (set by primitive setters, read again, taken over from others) are part of what was there before.
final class ChangeJournal {
    /// An object with unsaved changes as it was.
    private struct Entry {
        let object: NSManagedObject
        var isDeleted = false
        /// Unsaved values of stored slots.
        var pending: PendingValues?
        /// Values of transient attributes, which outlive a save.
        var transient: PendingValues?
        var toMany: [ToManyEntry] = []

        var isOfValues: Bool {
            pending.map { !$0.mask.isEmpty } == true || transient.map { !$0.mask.isEmpty } == true || !toMany.isEmpty
        }

        /// Takes the values that another entry of the object has.
        mutating func take(_ other: Entry) {
            if let values = other.pending {
                let pending = pending ?? PendingValues.make(slotCount: values.slotCount, propertyCount: 0)
                values.mask.forEach(below: values.slotCount) { pending.set($0, values.value($0)) }
                self.pending = pending
            }
            if let values = other.transient {
                let transient = transient ?? PendingValues.make(slotCount: values.slotCount, propertyCount: 0)
                values.mask.forEach(below: values.slotCount) { transient.set($0, values.value($0)) }
                self.transient = transient
            }
            for members in other.toMany {
                toMany.removeAll { $0.slot == members.slot }
                toMany.append(members)
            }
        }
    }

    /// A changed to-many relationship as it was.
    private struct ToManyEntry {
        let slot: Int
        var added: ContiguousArray<NSManagedObject> = []
        var removed: ContiguousArray<NSManagedObject> = []
        /// All members, in order, of an ordered relationship that was read.
        var order: ContiguousArray<NSManagedObject>?

        init(slot: Int) { self.slot = slot }

        init(_ state: ToManyState, of property: PropertySlot) {
            slot = property.index
            added = state.added.objects
            removed = state.removed.objects
            order = state.isLoaded ? property.kind == .orderedToMany ? state.members.objects : nil : state.wantedOrder
        }
    }

    private var entries: [ObjectIdentifier: Entry] = [:]
    /// What was set without being tracked since: it is as if it had been there before, unless it turns out to be a change.
    private var untracked: [ObjectIdentifier: Entry] = [:]
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
        var entry = Entry(object: object)
        entry.isDeleted = object.isDeleted
        if object.hasPendingValues { entry.pending = object.pending?.copyOfValues() }
        if let extras = object.extras {
            entry.transient = extras.transient?.copyOfValues()
            for (slot, state) in extras.allToMany where state.hasChanges || state.isLoaded && object.layout.slots[slot].isTransient {
                entry.toMany.append(ToManyEntry(state, of: object.layout.slots[slot]))
            }
        }
        entries[ObjectIdentifier(object)] = entry
    }

    /// A value was set without being tracked.
    func noteUntracked(_ object: NSManagedObject, slot: Int) {
        var entry = untracked[ObjectIdentifier(object)] ?? Entry(object: object)
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
            var entry = entries[ObjectIdentifier(values.object)] ?? Entry(object: values.object)
            entry.take(values)
            entries[ObjectIdentifier(values.object)] = entry
        }
    }

    private func noteUntracked(_ entry: inout Entry, slot: Int) {
        let object = entry.object
        let property = object.layout.slots[slot]
        if property.kind.isToMany {
            entry.toMany.removeAll { $0.slot == slot }
            if let state = object.extras?.toMany(slot) { entry.toMany.append(ToManyEntry(state, of: property)) }
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
        var entry = entries[ObjectIdentifier(object)] ?? Entry(object: object)
        if entry.transient?.has(slot) == true { return }
        noteTransient(&entry, slot: slot, object.currentValue(slot))
        entries[ObjectIdentifier(object)] = entry
    }

    private func noteTransient(_ entry: inout Entry, slot: Int, _ value: PropertyValue) {
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

    private func change(of object: NSManagedObject, _ entry: Entry?, wasPresent: Bool, isPresent: Bool) -> UndoneChange {
        var change = UndoneChange(object: object, wasPresent: wasPresent, isPresent: isPresent)
        // A new object keeps its values when its insertion is undone.
        guard wasPresent, let mask = object.pending?.eventMask else { return change }
        let layout = object.layout
        mask.forEach(below: layout.slots.count) { index in
            let slot = layout.slots[index]
            if slot.kind == .fetched || slot.composite != nil { return }
            if slot.kind.isToMany {
                let former = entry?.toMany.first { $0.slot == index } ?? ToManyEntry(slot: index)
                if let members = changedMembers(of: object, slot, former) { change.toMany.append(members) }
            } else {
                let value = formerValue(of: object, index, entry)
                if !isSame(value, object.currentValue(index), object, slot) { change.values.append((index, value)) }
            }
        }
        return change
    }

    private func formerValue(of object: NSManagedObject, _ slot: Int, _ entry: Entry?) -> PropertyValue {
        let layout = object.layout
        if slot >= layout.storedCount {
            if let transient = entry?.transient, transient.has(slot) { return transient.value(slot) }
            return layout.defaultValue(slot)
        }
        if let pending = entry?.pending, pending.has(slot) { return pending.value(slot) }
        guard object.committedRow != nil else { return layout.defaultValue(slot) }
        let committed = object.committedValue(slot)
        guard case .reference(let reference) = committed else { return .stored(committed) }
        // The object itself, whatever becomes of its row.
        return object.registry?.object(for: reference, near: object).map(PropertyValue.object) ?? .null
    }

    private func isSame(_ former: PropertyValue, _ value: PropertyValue, _ object: NSManagedObject, _ slot: PropertySlot) -> Bool {
        switch (former, value) {
        case (.custom(let former), .custom(let value)): former === value
        case (.object(let destination), .stored(.reference(let reference))):
            object.registry?.object(for: reference, near: object) === destination
        default: object.equals(value, former, slot)
        }
    }

    private func changedMembers(of object: NSManagedObject, _ slot: PropertySlot, _ former: ToManyEntry) -> UndoneChange.Members? {
        guard let state = object.extras?.toMany(slot.index) else { return nil }
        var members = UndoneChange.Members(slot: slot.index)
        let formerlyAdded = Set(former.added)
        let formerlyRemoved = Set(former.removed)
        let added = Set(state.added.objects)
        let removed = Set(state.removed.objects)
        members.gained = state.added.objects.filter { !formerlyAdded.contains($0) } + former.removed.filter { !removed.contains($0) }
        members.lost = former.added.filter { !added.contains($0) } + state.removed.objects.filter { !formerlyRemoved.contains($0) }
        if slot.kind == .orderedToMany, state.isLoaded { members.order = former.order ?? formerOrder(state, former) }
        if members.gained.isEmpty, members.lost.isEmpty {
            guard let order = members.order, !order.elementsEqual(state.members.objects, by: ===) else { return nil }
        }
        return members
    }

    /// The order of a relationship that had no changes before, or was not read: that of the store, then what was added.
    private func formerOrder(_ state: ToManyState, _ former: ToManyEntry) -> ContiguousArray<NSManagedObject> {
        let stored = state.committedOrder.map { ContiguousArray($0) } ?? state.members.objects.filter { !state.added.contains($0) }
        if former.added.isEmpty, former.removed.isEmpty { return stored }
        let removed = Set(former.removed)
        return stored.filter { !removed.contains($0) } + former.added
    }
}

/// What undoing does to one object: the way back to what it was before an event.
struct UndoneChange {
    struct Members {
        let slot: Int
        /// Members that it has got, and does not have any more when it is undone.
        var gained: ContiguousArray<NSManagedObject> = []
        /// Members that it has lost.
        var lost: ContiguousArray<NSManagedObject> = []
        /// The former order of an ordered relationship.
        var order: ContiguousArray<NSManagedObject>?
    }

    let object: NSManagedObject
    /// Whether the context had the object before, not deleted.
    let wasPresent: Bool
    /// Whether it has it since.
    let isPresent: Bool
    /// Former values by slot; destinations as objects.
    var values: [(slot: Int, value: PropertyValue)] = []
    var toMany: [Members] = []
    /// The store that a new object was assigned to, which has left its context.
    var assignedStore: NSPersistentStore?

    var isEmpty: Bool { wasPresent == isPresent && values.isEmpty && toMany.isEmpty }
}
