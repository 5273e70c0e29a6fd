import Foundation

/// The state at the beginning of an event, without values that the store has.
final class FormerState {
    private(set) var isDeleted = false
    /// Unsaved values of stored slots.
    var pending: PendingValues?
    /// Values of transient attributes, which outlive a save.
    var transient: PendingValues?
    var toMany: [FormerMembers] = []

    init() {}

    /// Copies the current state of an object.
    init(of object: NSManagedObject) {
        isDeleted = object.isDeleted
        if object.hasPendingValues { pending = object.pending?.copyOfValues() }
        if let extras = object.extras {
            transient = extras.transient?.copyOfValues()
            for (slot, state) in extras.allToMany
            where state.hasChanges || state.isLoaded && object.layout.slots[slot].isTransient {
                toMany.append(FormerMembers(state, of: object.layout.slots[slot]))
            }
        }
    }

    /// Copies the current values of an object that was deleted.
    convenience init(ofDeleted object: NSManagedObject) {
        self.init(of: object)
        isDeleted = true
    }

    /// Adopts the values of another state of the object.
    func take(_ other: FormerState) {
        pending = Self.merged(pending, other.pending)
        transient = Self.merged(transient, other.transient)
        for members in other.toMany {
            toMany.removeAll { $0.slot == members.slot }
            toMany.append(members)
        }
    }

    private static func merged(_ own: PendingValues?, _ other: PendingValues?) -> PendingValues? {
        guard let other else { return own }
        let merged = own ?? PendingValues.make(slotCount: other.slotCount, propertyCount: 0)
        other.mask.forEach(below: other.slotCount) { merged.set($0, other.value($0)) }
        return merged
    }
}

/// The changes of an object in an event, kept for observers after the object has changed again.
struct ToldState {
    let object: NSManagedObject
    /// The state when the event began; nil if the object had no unsaved values.
    let former: FormerState?
    /// The properties that changed in the event.
    let properties: SlotMask
}

/// The former state of a changed to-many relationship.
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

/// The difference between a to-many relationship and its former state.
struct ChangedMembers {
    let slot: Int
    /// Members that it has gained since.
    var gained: ContiguousArray<NSManagedObject> = []
    /// Members that it has lost since.
    var lost: ContiguousArray<NSManagedObject> = []
    /// The former order of an ordered relationship.
    var order: ContiguousArray<NSManagedObject>?
}

// Without a former state, a property's former value is the one in the store.
extension NSManagedObject {
    /// The former value of an attribute or a to-one relationship.
    final func formerValue(_ slot: Int, _ former: FormerState?) -> PropertyValue {
        if slot >= layout.storedCount {
            if let transient = former?.transient, transient.has(slot) { return transient.value(slot) }
            return layout.defaultValue(slot)
        }
        if let pending = former?.pending, pending.has(slot) { return pending.value(slot) }
        guard committedRow != nil else { return layout.defaultValue(slot) }
        let committed = committedValue(slot)
        guard case .reference(let reference) = committed else { return .stored(committed) }
        // The object itself, whatever happens to its row.
        return registry?.object(for: reference, near: self).map(PropertyValue.object) ?? .null
    }

    /// Whether an attribute or a to-one relationship has its former value.
    final func hasFormerValue(_ slot: PropertySlot, _ former: FormerState?) -> Bool {
        switch (formerValue(slot.index, former), currentValue(slot.index)) {
        case (.custom(let former), .custom(let value)): former === value
        case (.object(let destination), .stored(.reference(let reference))):
            registry?.object(for: reference, near: self) === destination
        case (let former, let value): equals(value, former, slot)
        }
    }

    /// The changes of a to-many relationship since its former state; nil if there are none.
    final func changedMembers(_ slot: PropertySlot, since former: FormerMembers) -> ChangedMembers? {
        guard let state = extras?.toMany(slot.index) else { return nil }
        var members = ChangedMembers(slot: slot.index)
        let formerlyAdded = Set(former.added)
        let formerlyRemoved = Set(former.removed)
        let added = Set(state.added.objects)
        let removed = Set(state.removed.objects)
        members.gained =
            state.added.objects.filter { !formerlyAdded.contains($0) } + former.removed.filter { !removed.contains($0) }
        members.lost =
            former.added.filter { !added.contains($0) } + state.removed.objects.filter { !formerlyRemoved.contains($0) }
        if slot.kind == .orderedToMany, state.isLoaded { members.order = former.order ?? formerOrder(state, former) }
        if members.gained.isEmpty, members.lost.isEmpty {
            guard let order = members.order, !order.elementsEqual(state.members.objects, by: ===) else { return nil }
        }
        return members
    }

    /// The order of an unchanged or unread relationship: the store's, then added members.
    private func formerOrder(_ state: ToManyState, _ former: FormerMembers) -> ContiguousArray<NSManagedObject> {
        let stored =
            state.committedOrder.map { ContiguousArray($0) }
            ?? state.members.objects.filter { !state.added.contains($0) }
        if former.added.isEmpty, former.removed.isEmpty { return stored }
        let removed = Set(former.removed)
        return stored.filter { !removed.contains($0) } + former.added
    }

    /// The former value of a property, in the form that users see.
    fileprivate final func formerObjectValue(_ slot: PropertySlot, _ former: FormerState?) -> Any? {
        switch slot.kind {
        case .toOne: return formerValue(slot.index, former).destination
        case .toMany, .orderedToMany:
            var members = toManyMembers(slot.index).objects
            let changed = changedMembers(
                slot, since: former?.toMany.first { $0.slot == slot.index } ?? FormerMembers(slot: slot.index))
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
            case .stored(.data(let data)):
                return slot.attribute.flatMap { Transformation.value(from: data, attribute: $0) }
            default: return nil
            }
        default: return formerValue(slot.index, former).object(kind: slot.kind)
        }
    }

    /// Returns the persistent properties that changed since pending changes were last processed,
    /// with their values at that time (NSNull for nil).
    ///
    /// Observers of `didChangeObjects` and delegates of results controllers learn from it what
    /// changed in the event that they are notified of.
    ///
    /// For a deleted object, the result also contains the to-one relationships that its delete
    /// rules have nullified. A changed to-many relationship is read for this; other to-many
    /// relationships are not.
    ///
    /// ```swift
    /// // item.name is the new one
    /// let former = item.changedValuesForCurrentEvent()["name"] as? String
    /// ```
    public final func changedValuesForCurrentEvent() -> [String: Any] {
        guard flags.contains(.inEvent) || registry?.isTellingChanges == true else { return [:] }
        // For an object that was saved since then, the former values are not known.
        let told = flags.contains(.inEvent) ? registry?.toldState(of: self) : nil
        let mask = told?.properties ?? pending?.eventMask
        let isDeleted = !flags.isDisjoint(with: [.deleted, .discarded, .deletionSaved])
        if !isDeleted, mask?.isEmpty != false { return [:] }
        let former = told == nil ? pending?.former : told?.former
        var result: [String: Any] = [:]
        for slot in layout.propertySlots where !slot.isTransient && slot.kind != .fetched {
            if mask.map(slot.isIn) == true {
                if slot.kind.isToMany, !isNewOrUnmanaged {
                    // A relationship that is neither read nor changed is not read for this.
                    let state = extras?.toMany(slot.index)
                    if state?.isLoaded != true, state?.hasChanges != true { continue }
                }
                result[slot.name] = formerObjectValue(slot, former) ?? NSNull()
            } else if isDeleted, slot.kind == .toOne, slot.deletion.nullifies {
                // Unchanged in this event: the value that it had when the event began.
                result[slot.name] =
                    pending?.has(slot.index) == true ? toOne(slot.index) : formerObjectValue(slot, former)
            }
        }
        return result
    }
}
