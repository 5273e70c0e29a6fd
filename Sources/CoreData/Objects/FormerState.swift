import Foundation

/// An object with unsaved changes as it was when an event began. What it does not have was as in the store.
final class FormerState {
    private(set) var isDeleted = false
    /// Unsaved values of stored slots.
    var pending: PendingValues?
    /// Values of transient attributes, which outlive a save.
    var transient: PendingValues?
    var toMany: [FormerMembers] = []

    init() {}

    /// An object as it is now.
    init(of object: NSManagedObject) {
        isDeleted = object.isDeleted
        if object.hasPendingValues { pending = object.pending?.copyOfValues() }
        if let extras = object.extras {
            transient = extras.transient?.copyOfValues()
            for (slot, state) in extras.allToMany where state.hasChanges || state.isLoaded && object.layout.slots[slot].isTransient {
                toMany.append(FormerMembers(state, of: object.layout.slots[slot]))
            }
        }
    }

    /// An object with the values of now that was deleted.
    convenience init(ofDeleted object: NSManagedObject) {
        self.init(of: object)
        isDeleted = true
    }

    /// Takes the values that another state of the object has.
    func take(_ other: FormerState) {
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

/// What observers of an event are told of an object that has changed again meanwhile.
struct ToldState {
    let object: NSManagedObject
    /// As it was when the event began; nil where it had no unsaved values.
    let former: FormerState?
    /// The properties that changed in the event.
    let properties: SlotMask
}

/// A changed to-many relationship as it was.
struct FormerMembers {
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

/// How a to-many relationship differs from what it was.
struct ChangedMembers {
    let slot: Int
    /// Members that it has got since.
    var gained: ContiguousArray<NSManagedObject> = []
    /// Members that it has lost.
    var lost: ContiguousArray<NSManagedObject> = []
    /// The former order of an ordered relationship.
    var order: ContiguousArray<NSManagedObject>?
}

// What was not changed yet, of which there is no former state, was as the store has it.
extension NSManagedObject {
    /// What an attribute or a to-one relationship was.
    final func formerValue(_ slot: Int, _ former: FormerState?) -> PropertyValue {
        if slot >= layout.storedCount {
            if let transient = former?.transient, transient.has(slot) { return transient.value(slot) }
            return layout.defaultValue(slot)
        }
        if let pending = former?.pending, pending.has(slot) { return pending.value(slot) }
        guard committedRow != nil else { return layout.defaultValue(slot) }
        let committed = committedValue(slot)
        guard case .reference(let reference) = committed else { return .stored(committed) }
        // The object itself, whatever becomes of its row.
        return registry?.object(for: reference, near: self).map(PropertyValue.object) ?? .null
    }

    /// Whether an attribute or a to-one relationship is what it was.
    final func hasFormerValue(_ slot: PropertySlot, _ former: FormerState?) -> Bool {
        switch (formerValue(slot.index, former), currentValue(slot.index)) {
        case (.custom(let former), .custom(let value)): former === value
        case (.object(let destination), .stored(.reference(let reference))): registry?.object(for: reference, near: self) === destination
        case (let former, let value): equals(value, former, slot)
        }
    }

    /// What has changed in a to-many relationship; nil for nothing.
    final func changedMembers(_ slot: PropertySlot, since former: FormerMembers) -> ChangedMembers? {
        guard let state = extras?.toMany(slot.index) else { return nil }
        var members = ChangedMembers(slot: slot.index)
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
    private func formerOrder(_ state: ToManyState, _ former: FormerMembers) -> ContiguousArray<NSManagedObject> {
        let stored = state.committedOrder.map { ContiguousArray($0) } ?? state.members.objects.filter { !state.added.contains($0) }
        if former.added.isEmpty, former.removed.isEmpty { return stored }
        let removed = Set(former.removed)
        return stored.filter { !removed.contains($0) } + former.added
    }

    /// A property as users saw it.
    fileprivate final func formerObjectValue(_ slot: PropertySlot, _ former: FormerState?) -> Any? {
        switch slot.kind {
        case .toOne: return formerValue(slot.index, former).destination
        case .toMany, .orderedToMany:
            var members = toManyMembers(slot.index).objects
            let changed = changedMembers(slot, since: former?.toMany.first { $0.slot == slot.index } ?? FormerMembers(slot: slot.index))
            if let changed {
                let gained = Set(changed.gained)
                members = changed.order ?? members.filter { !gained.contains($0) } + changed.lost
            }
            return slot.kind == .toMany ? NSSet(array: members.map { $0 }) : NSOrderedSet(array: members.map { $0 })
        case .composite:
            guard let composite = slot.composite else { return nil }
            return composite.dictionary { formerObjectValue(layout.slots[$0], former) }
        case .transformable:
            switch formerValue(slot.index, former) {
            case .custom(let custom): return custom.value
            case .stored(.data(let data)): return slot.attribute.flatMap { Transformation.value(from: data, attribute: $0) }
            default: return nil
            }
        default: return formerValue(slot.index, former).object(kind: slot.kind)
        }
    }

    /// Persistent properties that have changed since the last time that pending changes were processed, with the values that they had then
    /// (NSNull for nil). Observers of `didChangeObjects` and delegates of results controllers are told what has changed in the event that
    /// they hear of.
    ///
    /// Of a deleted object these are the to-one relationships that its delete rules have nullified. A changed to-many relationship is read
    /// for it, any other is not.
    ///
    /// ```swift
    /// let former = item.changedValuesForCurrentEvent()["name"] as? String     // item.name is the new one
    /// ```
    public final func changedValuesForCurrentEvent() -> [String: Any] {
        guard flags.contains(.inEvent) || registry?.isTellingChanges == true else { return [:] }
        // Of one that was saved since, nobody knows what it was.
        let told = flags.contains(.inEvent) ? registry?.toldState(of: self) : nil
        let mask = told?.properties ?? pending?.eventMask
        let isDeleted = !flags.isDisjoint(with: [.deleted, .discarded, .deletionSaved])
        if !isDeleted, mask?.isEmpty != false { return [:] }
        let former = told == nil ? pending?.former : told?.former
        var result: [String: Any] = [:]
        for slot in layout.propertySlots where !slot.isTransient && slot.kind != .fetched {
            if mask.map(slot.isIn) == true {
                if slot.kind.isToMany, !isNewOrUnmanaged {
                    // One that is neither read nor changed is not read for this.
                    let state = extras?.toMany(slot.index)
                    if state?.isLoaded != true, state?.hasChanges != true { continue }
                }
                result[slot.name] = formerObjectValue(slot, former) ?? NSNull()
            } else if isDeleted, slot.kind == .toOne, slot.deleteRule == .nullifyDeleteRule {
                // What has not changed in this event is what it was when the event began.
                result[slot.name] = pending?.has(slot.index) == true ? toOne(slot.index) : formerObjectValue(slot, former)
            }
        }
        return result
    }
}
