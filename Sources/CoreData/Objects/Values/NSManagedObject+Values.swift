import Foundation

// Reading of slots: the code below the accessors and key-value coding.

extension NSManagedObject {
    /// Runs a block with the extras, which are made if there are none, without counting references.
    @inline(__always)
    final func withExtras<Result>(_ body: (ObjectExtras) -> Result) -> Result {
        if extrasReference == nil { _ = makeExtras() }
        guard let extrasReference else { preconditionFailure("Extras were not made.") }
        return extrasReference.withObject(body)
    }

    /// Runs a block with the unsaved values, made if need be, without counting references.
    @inline(__always)
    final func withPending<Result>(_ body: (PendingValues) -> Result) -> Result {
        if pendingReference == nil { makePending() }
        guard let pendingReference else { preconditionFailure("Unsaved values were not made.") }
        return pendingReference.withObject(body)
    }

    /// Whether values of stored properties are unsaved; they may all equal the committed ones.
    final var hasPendingValues: Bool { pendingReference?.withObject { !$0.mask.isEmpty } ?? false }

    /// Whether the object has no row and is no fault: it is new, or has no context.
    final var isNewOrUnmanaged: Bool { committedRow == nil && !flags.contains(.fault) }

    // MARK: Reading

    /// The value of an attribute or to-one slot, pending or committed, without firing a fault.
    ///
    /// `.object` for a pending to-one destination, a reference for a committed one; transformables
    /// in memory form when pending, as bytes when committed. A transient attribute that was not set
    /// has its default value, even in an object that was fetched: a required one would otherwise
    /// make every fetched object invalid.
    final func currentValue(_ slot: Int) -> PropertyValue {
        if slot >= layout.storedCount {
            if let composite = layout.slots[slot].composite {
                if flags.contains(.fault) { return .null }
                return composite.dictionary { objectValue($0) }.map { .custom(CustomValue($0)) } ?? .null
            }
            if let transient = extras?.transient, transient.has(slot) { return transient.value(slot) }
            return flags.contains(.inaccessible) ? .null : layout.defaultValue(slot)
        }
        if let pending, pending.has(slot) { return pending.value(slot) }
        if let committedRow { return .stored(Snapshot(retaining: committedRow).value(slot)) }
        if flags.contains(.fault) || flags.contains(.inaccessible) { return .null }
        return isNewOrUnmanaged ? layout.defaultValue(slot) : .null
    }

    /// The value in the store as of the last fetch or save; `.null` for a new object.
    final func committedValue(_ slot: Int) -> StoredValue {
        guard let committedRow, slot < layout.storedCount else { return .null }
        return Snapshot(retaining: committedRow).value(slot)
    }

    /// Loads the object if it is a fault. The slot is the one whose value is needed; -1 for none.
    @inline(__always)
    final func fireFaultIfNeeded(_ slot: Int = -1) {
        if !flags.isDisjoint(with: .attention) { fireFault(slot) }
    }

    @inline(never)
    final func fireFault(_ slot: Int = -1) {
        if flags.contains(.checked) {
            registry?.checkQueue(of: self, slot: slot)
            guard flags.contains(.fault) else { return }
        }
        if let committedRow, extrasReference == nil, pendingReference == nil,
            !accessorTable.hooks.contains(.awakeFromFetch),
            layout.index == committedRow.rowLayoutIndex, let heldRegistry,
            !heldRegistry.withObject({ $0.checksAge })
        {
            becomeLoaded()
            return
        }
        if flags.contains(.invalid) || registry?.fulfillFault(self, triggeredBy: slot) != true {
            // As on Apple's platforms an object without a context reads as nil.
            becomeInaccessible()
        }
    }

    /// The value in the form of key-value coding; fires the fault.
    final func objectValue(_ slot: Int) -> Any? {
        let property = layout.slots[slot]
        switch property.kind {
        case .toOne: return toOne(slot)
        case .toMany: return NSSet(array: toManyMembers(slot).objects.map { $0 })
        case .orderedToMany: return NSOrderedSet(array: toManyMembers(slot).objects.map { $0 })
        case .fetched: return registry?.fetchedPropertyValue(of: self, slot)
        case .transformable: return transformedValue(slot)
        case .composite:
            if let composite = property.composite { return compositeValue(composite) }
            return transformedValue(slot)
        default:
            fireFaultIfNeeded(slot)
            return currentValue(slot).object(kind: property.kind)
        }
    }

    /// The object of a transformable attribute, decoded once.
    final func transformedValue(_ slot: Int) -> Any? {
        fireFaultIfNeeded(slot)
        switch currentValue(slot) {
        case .custom(let custom): return custom.value
        case .stored(.data(let data)):
            if let decoded = extras?.decoded(slot) { return decoded }
            guard let attribute = layout.slots[slot].attribute,
                let value = Transformation.value(from: data, attribute: attribute)
            else { return nil }
            makeExtras().setDecoded(slot, value)
            return value
        default: return nil
        }
    }

    /// The destination of a to-one relationship.
    final func toOne(_ slot: Int) -> NSManagedObject? {
        fireFaultIfNeeded(slot)
        if let pending, pending.has(slot) {
            switch pending.value(slot) {
            case .object(let destination): return destination
            case .stored(.reference(let reference)): return registry?.object(for: reference, near: self)
            default: return nil
            }
        }
        if let extras {
            if let transient = extras.transient, transient.has(slot), let object = transient.destination(slot) {
                return object
            }
            if let object = extras.toOne(slot) { return object }
        }
        guard let committedRow, slot < layout.storedCount else { return nil }
        let snapshot = Snapshot(retaining: committedRow)
        guard !snapshot.isNull(slot) else { return nil }
        let object = registry?.destination(snapshot.reference(slot), of: self, slot: slot)
        if let object { makeExtras().setToOne(slot, object) }
        return object
    }

    // MARK: Changes

    /// Returns the persistent properties that changed since the last fetch or save, with their new
    /// values (NSNull for nil).
    ///
    /// An object that was never saved lists every value that was set, also those set by primitive
    /// setters, as in `awakeFromInsert`; the defaults of the model are not changes. A saved object
    /// in which another value was changed lists values set by primitive setters, too: a save writes
    /// them as well.
    ///
    /// Cost: O(number of properties).
    ///
    /// ```swift
    /// if item.changedValues()["name"] != nil { print("renamed") }
    /// ```
    public final func changedValues() -> [String: Any] {
        guard let tracked = pending?.tracked else { return [:] }
        let isSaved = flags.contains(.inserted) || !tracked.isEmpty
        var result: [String: Any] = [:]
        for slot in layout.propertySlots where !slot.isTransient && slot.kind != .fetched {
            if isSaved && differsFromCommitted(slot) {
                result[slot.name] = objectValue(slot.index) ?? NSNull()
            }
        }
        return result
    }

    /// Returns the values that were last fetched or saved, NSNull for nil. Nil for the keys means
    /// all persistent properties.
    ///
    /// Fires a fault. Empty for an object that was never saved.
    ///
    /// ```swift
    /// let former = item.committedValues(forKeys: ["name"])["name"] as? String
    /// ```
    public final func committedValues(forKeys keys: [String]?) -> [String: Any] {
        if flags.contains(.inserted) { return [:] }
        fireFaultIfNeeded()
        var result: [String: Any] = [:]
        let wanted = keys?.compactMap { layout.slotByName[$0] } ?? layout.propertySlots.map(\.index)
        for index in wanted {
            let slot = layout.slots[index]
            if slot.isTransient || slot.kind == .fetched { continue }
            result[slot.name] = committedObjectValue(slot) ?? NSNull()
        }
        return result
    }

    final func committedObjectValue(_ slot: PropertySlot) -> Any? {
        switch slot.kind {
        case .toOne:
            guard case .reference(let reference) = committedValue(slot.index) else { return nil }
            return registry?.object(for: reference, near: self)
        case .toMany: return NSSet(array: committedMembers(slot.index))
        case .orderedToMany: return NSOrderedSet(array: committedMembers(slot.index))
        case .composite:
            guard let composite = slot.composite, let committedRow else { return nil }
            return Snapshot(retaining: committedRow).dictionary(composite)
        case .transformable:
            guard case .data(let data) = committedValue(slot.index), let attribute = slot.attribute else { return nil }
            return Transformation.value(from: data, attribute: attribute)
        default: return PropertyConversion.object(from: committedValue(slot.index), kind: slot.kind)
        }
    }

    /// Whether a changed slot now has a value other than the store's.
    final func differsFromCommitted(_ slot: PropertySlot) -> Bool {
        if slot.kind.isToMany { return extras?.toMany(slot.index)?.hasChanges ?? false }
        if let composite = slot.composite { return composite.slots.contains { differsFromCommitted(layout.slots[$0]) } }
        guard slot.index < layout.storedCount, let pending, pending.has(slot.index) else { return false }
        if committedRow == nil {
            // A new object is nil there without the change.
            return !pending.value(slot.index).isNull || !layout.defaultValue(slot.index).isNull
        }
        return !equals(pending.value(slot.index), .stored(committedValue(slot.index)), slot)
    }

    /// The to-one destination in the committed row.
    final func committedDestination(_ slot: Int) -> NSManagedObject? {
        guard case .reference(let reference) = committedValue(slot) else { return nil }
        return registry?.object(for: reference, near: self)
    }

    /// Whether a member's row refers to this object, read or not.
    final func isCommittedOwner(of member: NSManagedObject, slot: Int) -> Bool {
        let property = layout.slots[slot]
        if !property.inverseIsToOne || property.isTransient { return false }
        return member.committedDestination(property.inverseSlot(in: member.layout)) === self
    }

    final var hasPersistentChanges: Bool {
        guard let tracked = pending?.tracked else { return false }
        // Only the changed slots: each access to a property counts references.
        return tracked.contains(below: layout.slots.count) { index in
            let slot = layout.slots[index]
            return !slot.isTransient && slot.kind != .fetched && differsFromCommitted(slot)
        }
    }

    /// Whether a value or a relationship differs from the store.
    final var hasChangesToSave: Bool {
        hasPersistentChanges || extras?.allToMany.contains { $0.state.hasChanges } == true
    }

    final func equals(_ new: PropertyValue, _ old: PropertyValue, _ slot: PropertySlot) -> Bool {
        switch (new, old) {
        case (.stored(let new), .stored(let old)): return equals(new, old) || slot.isJSON && new.isSameJSON(as: old)
        case (.object(let object), .stored(.reference(let reference))):
            let reference = latest(reference)
            // An object that replaces its deleted row has that row's key.
            return (!object.flags.contains(.inserted) || object.extras?.deletedRow != nil)
                && object.key == reference.key
                && object.layout.rootIndex == layout.model.layouts[reference.layoutIndex].rootIndex
        case (.object(let new), .object(let old)): return new === old
        case (.custom(let custom), .stored(let stored)):
            guard let attribute = slot.attribute else { return false }
            let bytes: Data?
            do { bytes = try Transformation.data(from: custom.value, attribute: attribute) } catch { return false }
            guard case .data(let data) = stored else { return stored.isNull && bytes == nil }
            if bytes == data { return true }
            // One value may be archived in several ways.
            return SameValues.areSame(custom.value, Transformation.value(from: data, attribute: attribute))
        default: return false
        }
    }

    final func equals(_ new: StoredValue, _ old: StoredValue) -> Bool {
        switch (new, old) {
        case (.double, .null), (.decimal, .null): return new.isNotANumber
        case (.reference(let new), .reference(let old)): return new == old || latest(new) == latest(old)
        default: return new == old
        }
    }
}

extension NSManagedObject {
    /// The reference with its permanent key, if that has replaced a provisional key in the context.
    private final func latest(_ reference: RowReference) -> RowReference {
        guard reference.key < 0, let registry else { return reference }
        return RowReference(key: registry.currentKey(reference.key), layoutIndex: reference.layoutIndex)
    }
}

extension EntityLayout {
    /// The value of a slot in a new object.
    func defaultValue(_ slot: Int) -> PropertyValue {
        guard hasDefaults else { return .null }
        return PropertyValue(defaultsBySlot[slot])
    }
}

/// Reads the objects in a value to which a to-many property is set.
enum RelationshipValues {
    /// The objects in a set, ordered set or array, in its order; nil if it contains anything else.
    static func objects(in value: Any?) -> [NSManagedObject]? {
        guard let value = PropertyConversion.present(value) else { return [] }
        switch value {
        case let set as NSOrderedSet: return objects(set.array)
        case let set as NSSet: return objects(set.allObjects)
        case let array as [Any]: return objects(array)
        case let set as Set<NSManagedObject>: return Array(set)
        case let set as Set<AnyHashable>: return objects(set.map(\.base))
        default: return nil
        }
    }

    private static func objects(_ elements: [Any]) -> [NSManagedObject]? {
        var result: [NSManagedObject] = []
        result.reserveCapacity(elements.count)
        for element in elements {
            guard let object = element as? NSManagedObject else { return nil }
            result.append(object)
        }
        return result
    }
}
