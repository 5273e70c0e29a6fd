import Foundation

// Primitive values, and the notifications around their changes.

extension NSManagedObject {
    /// The value of a property in the object's storage, without access notification. Nil in a
    /// fault, which does not fire.
    ///
    /// A custom accessor calls `willAccessValue(forKey:)` first. The value of a to-many
    /// relationship is an `NSMutableSet` or an `NSMutableOrderedSet`: changing it has the effect of
    /// setting another one with `setPrimitiveValue(_:forKey:)`. Accessors see changes of an
    /// `NSMutableSet` after `didChangeValue`.
    ///
    /// ```swift
    /// func add(_ item: Item) {
    ///     willChangeValue(forKey: "items", withSetMutation: .union, using: [item])
    ///     (primitiveValue(forKey: "items") as? NSMutableSet)?.add(item)
    ///     didChangeValue(forKey: "items", withSetMutation: .union, using: [item])
    /// }
    /// ```
    public final func primitiveValue(forKey key: String) -> Any? {
        guard let slot = layout.slotByName[key] else { return value(forUndefinedKey: key) }
        if flags.contains(.fault) { return nil }
        switch layout.slots[slot].kind {
        case .toMany: return primitiveSet(slot)
        case .orderedToMany: return ManagedMutableOrderedSet(owner: self, slot: slot, isPrimitive: true)
        default: return objectValue(slot)
        }
    }

    /// Stores a value without change tracking: `hasChanges`, `changedValues()` and inverses do not
    /// change.
    ///
    /// If the object is saved for another reason, the value is saved with it. A new object lists
    /// the value in `changedValues()`.
    ///
    /// Between `willChangeValue(forKey:)` and `didChangeValue(forKey:)` it is a change like that of
    /// any setter, and the inverse of a relationship follows. For a relationship set without these
    /// calls, the inverse follows when the object is saved.
    public final func setPrimitiveValue(_ value: Any?, forKey key: String) {
        guard let slot = layout.slotByName[key] else {
            setValue(value, forUndefinedKey: key)
            return
        }
        let property = layout.slots[slot]
        fireFaultIfNeeded()
        defer { noteUntracked(property) }
        if property.kind.isRelationship { return setPrimitiveRelationship(value, property) }
        guard let converted = PropertyValue(value, kind: property.kind) else {
            preconditionFailure(wrongType(value, property))
        }
        if let composite = property.composite { return setComposite(value, composite, isTracked: false) }
        extras?.setDecoded(slot, nil)
        store(converted, slot: slot)
    }

    private final func setPrimitiveRelationship(_ value: Any?, _ property: PropertySlot) {
        if property.kind.isToMany {
            guard let members = RelationshipValues.objects(in: value) else {
                preconditionFailure(wrongType(value, property))
            }
            extras?.oneSided?.handOut(property.index, nil)
            setPrimitiveMembers(members, slot: property.index)
        } else {
            guard let destination = PropertyValue(value, kind: .toOne) else {
                preconditionFailure(wrongType(value, property))
            }
            setPrimitiveDestination(destination.destination, slot: property.index)
        }
    }

    /// Whether the context needs former values, as it does for undo.
    @inline(__always)
    private final var hasTrackedFormerValues: Bool {
        heldRegistry?.withObject { $0.tracksFormerValues } ?? false
    }

    final func noteUntracked(_ property: PropertySlot) {
        guard hasTrackedFormerValues, let registry else { return }
        for slot in property.composite?.slots ?? [property.index] { registry.noteUntracked(self, slot: slot) }
    }

    /// Records values set by primitive setters as a change; the inverse follows.
    @inline(never)
    private final func takeOver(_ slot: Int, announced: Set<AnyHashable>) {
        takeOverSet(slot, announced: announced)
        if hasTrackedFormerValues, let registry {
            for slot in layout.slots[slot].composite?.slots ?? [slot] { registry.noteTracked(self, slot: slot) }
        }
        maintainInverse(slot) { _ in true }
    }

    /// Fires the fault before a value is read by primitive access; nil means all values.
    public final func willAccessValue(forKey key: String?) {
        if flags.contains(.fault) { fireFault(key.flatMap { layout.slotByName[$0] } ?? -1) }
    }

    /// Ends an access that began with `willAccessValue(forKey:)`.
    public final func didAccessValue(forKey key: String?) {}

    /// Announces a change that is made with primitive setters.
    public final func willChangeValue(forKey key: String) {
        prepareForChange()
    }

    /// Records a change that was made with primitive setters since `willChangeValue(forKey:)`.
    ///
    /// The inverse of a relationship follows, as it does for other setters.
    public final func didChangeValue(forKey key: String) { didChange(key, announced: []) }

    @inline(__always)
    private final func didChange(_ key: String, announced: Set<AnyHashable>) {
        guard let slot = layout.slotByName[key] else {
            if !Self.contextShouldIgnoreUnmodeledPropertyChanges { noteObjectChange() }
            return
        }
        noteChange(slot)
        if hasOneSidedChanges || hasTrackedFormerValues { takeOver(slot, announced: announced) }
    }

    /// Announces a change of a to-many relationship that is made with primitive setters.
    public final func willChangeValue(
        forKey key: String, withSetMutation mutation: NSKeyValueSetMutationKind, using objects: Set<AnyHashable>
    ) {
        willChangeValue(forKey: key)
    }

    /// Records a change of a to-many relationship that was made with primitive setters since
    /// `willChangeValue(forKey:withSetMutation:using:)`.
    public final func didChangeValue(
        forKey key: String, withSetMutation mutation: NSKeyValueSetMutationKind, using objects: Set<AnyHashable>
    ) {
        didChange(key, announced: objects)
    }
}
