import Foundation

// To-many relationships: loading, pending additions and removals, inverses.

extension NSManagedObject {
    /// The state of a to-many slot, made on first use; complete in a new object.
    final func toManyState(_ slot: Int) -> ToManyState {
        let extras = makeExtras()
        if let state = extras.toMany(slot) { return state }
        let state = ToManyState()
        state.isLoaded = isNewOrUnmanaged || layout.slots[slot].isTransient
        extras.setToMany(slot, state)
        return state
    }

    /// The members of a to-many relationship, loading them if they are still a fault.
    final func toManyMembers(_ slot: Int) -> ObjectList {
        fireFaultIfNeeded(slot)
        let state = toManyState(slot)
        if !state.isLoaded { loadMembers(slot, state) }
        return state.members
    }

    /// The destinations of a to-one or to-many relationship, loading them if they are still a
    /// fault.
    final func destinations(through slot: PropertySlot) -> ContiguousArray<NSManagedObject> {
        slot.kind.isToMany ? toManyMembers(slot.index).objects : toOne(slot.index).map { [$0] } ?? []
    }

    /// The members of a to-many relationship as a set, loading them if they are still a fault.
    final func toManySet(_ slot: Int) -> MemberSet {
        fireFaultIfNeeded(slot)
        let state = toManyState(slot)
        if !state.isLoaded { loadMembers(slot, state) }
        return state.members.set()
    }

    /// The position of a member in an ordered relationship.
    final func position(of object: NSManagedObject, slot: Int) -> Int? {
        _ = toManyMembers(slot)
        return toManyState(slot).members.position(of: object)
    }

    private func loadMembers(_ slot: Int, _ state: ToManyState) {
        state.isLoaded = true
        guard flags.isDisjoint(with: [.inaccessible, .invalid, .deletionSaved]), let registry else { return }
        switch registry.relatedObjects(to: self, slot: slot) {
        case .noContext: break
        case .unknown:
            // Empty for now: it is read again at the next access.
            state.isLoaded = false
        case .objects(let stored, let mayBeDeleted): mergeLoaded(stored, into: slot, state, mayBeDeleted: mayBeDeleted)
        }
    }

    /// Combines the store's members with pending additions and removals.
    final func mergeLoaded(
        _ stored: ContiguousArray<NSManagedObject>, into slot: Int, _ state: ToManyState, mayBeDeleted: Bool
    ) {
        state.isLoaded = true
        let wanted = state.wantedOrder
        state.wantedOrder = nil
        combine(stored, with: state, isOrderChanged: wanted != nil, slot, mayBeDeleted: mayBeDeleted)
        if let wanted { state.members.replaceAll(state.members.objects.ordered(as: wanted)) }
    }

    private final func combine(
        _ stored: ContiguousArray<NSManagedObject>, with state: ToManyState, isOrderChanged: Bool, _ slot: Int,
        mayBeDeleted: Bool
    ) {
        // A deleted object has left the relationships of all other objects, as its inverses were
        // updated. A relationship without an inverse is not updated: it keeps the object until the
        // deletion is saved. Objects that are deleted together keep each other, as undo brings them
        // back.
        let keepsDeleted = flags.contains(.deleted) || layout.slots[slot].inverseSlot < 0
        func hasLeft(_ member: NSManagedObject) -> Bool { !keepsDeleted && member.flags.contains(.propagated) }
        if isOrderChanged || !state.removed.isEmpty && layout.slots[slot].kind == .orderedToMany {
            state.committedOrder = stored.filter { !hasLeft($0) || state.removed.contains($0) }
        }
        if state.added.isEmpty && state.removed.isEmpty {
            if mayBeDeleted, stored.contains(where: hasLeft) {
                state.members.replaceAll(stored.filter { !hasLeft($0) })
            } else {
                state.members.replaceAll(stored)
            }
            return
        }
        state.members.replaceAll(stored.filter { !state.removed.contains($0) })
        if state.added.isEmpty { return }
        // Objects added to an unread relationship may be in the store already: these are not
        // additions. An object whose own row was read before another context or program added it
        // remains an addition.
        let property = layout.slots[slot]
        func isAddition(_ member: NSManagedObject) -> Bool {
            if !state.members.contains(member) { return true }
            if !property.inverseIsToOne { return false }
            return member.differsFromCommitted(member.layout.slots[property.inverseSlot(in: member.layout)])
        }
        state.added.replaceAll(state.added.objects.filter(isAddition))
        for object in state.added.objects { state.members.append(object) }
    }

    /// The members in the store.
    final func committedMembers(_ slot: Int) -> [NSManagedObject] {
        guard committedRow != nil || flags.contains(.fault) else { return [] }
        _ = toManyMembers(slot)
        return toManyState(slot).committedMembers
    }

    /// Adds an object as the user requests: both sides, tracked.
    final func addRelated(_ object: NSManagedObject, slot: Int, at index: Int? = nil) {
        prepareForChange()
        let property = layout.slots[slot]
        precondition(
            property.kind.isToMany,
            "\(layout.name).\(property.name) is not a to-many relationship: objects cannot be added.")
        precondition(
            object.layout.model !== layout.model
                || object.layout.isKind(of: layout.model.layouts[property.destinationIndex]),
            "\(layout.name).\(property.name) takes objects of entity "
                + "\(layout.model.layouts[property.destinationIndex].name), not \(object.layout.name)."
        )
        precondition(
            registry == nil || object.registry == nil || registry === object.registry,
            "Illegal attempt to establish the relationship \(layout.name).\(property.name) between objects in "
                + "different contexts."
        )
        // An index counts all members, so they must be loaded.
        if index != nil { _ = toManyMembers(slot) }
        // An unknown membership is resolved by reading, and makes no difference to a store.
        if knownMembership(of: object, slot: slot) == true {
            noteChange(slot)
            return
        }
        addMember(object, slot: slot, isKnownToBeNew: true, at: index)
        noteChange(slot)
        if property.inverseSlot >= 0, !flags.contains(.silent) { object.addToInverse(of: property, self) }
    }

    /// Removes an object as the user requests: both sides, tracked.
    final func removeRelated(_ object: NSManagedObject, slot: Int) {
        prepareForChange()
        let property = layout.slots[slot]
        guard isMember(object, slot: slot) else {
            noteChange(slot)
            return
        }
        let hasInverse = property.inverseSlot >= 0 && !flags.contains(.silent)
        // Before any change: the member may be this object itself.
        if hasInverse, !property.inverseIsToMany { registry?.readAgain(object, ifOthersLedItTo: self, property) }
        removeMember(object, slot: slot)
        noteChange(slot)
        if hasInverse { object.removeFromInverse(of: property, self) }
    }

    /// Whether an object is a member now, read from the relationship if need be.
    final func isMember(_ object: NSManagedObject, slot: Int) -> Bool {
        knownMembership(of: object, slot: slot) ?? (position(of: object, slot: slot) != nil)
    }

    /// Whether an object is a member now, as far as that is known without reading the relationship.
    final func knownMembership(of object: NSManagedObject, slot: Int) -> Bool? {
        let property = layout.slots[slot]
        let state = toManyState(slot)
        if state.isLoaded { return state.members.contains(object) }
        if state.added.contains(object) { return true }
        if state.removed.contains(object) { return false }
        guard property.inverseSlot >= 0, object.registry === registry else { return nil }
        let inverse = property.inverseSlot(in: object.layout)
        if property.inverseIsToMany {
            guard let other = object.extras?.toMany(inverse), other.isLoaded else { return nil }
            return other.members.contains(self)
        }
        object.fireFaultIfNeeded()
        guard object.toOne(inverse) === self else { return false }
        // A primitive setter set the to-one inverse: that adds the object to no members.
        return !object.hasOneSidedChanges || object.extras?.oneSided?.hasGained(self, slot: inverse) != true
    }

    /// Replaces all members.
    final func setToMany(_ members: [NSManagedObject], slot: Int) {
        prepareForChange()
        let isOrdered = layout.slots[slot].kind == .orderedToMany
        var wanted = ObjectList()
        for object in members { wanted.append(object) }
        let current = toManyMembers(slot)
        for object in current.objects where !wanted.contains(object) { removeRelated(object, slot: slot) }
        for object in wanted.objects { if !isMember(object, slot: slot) { addRelated(object, slot: slot) } }
        if isOrdered { reorder(to: wanted.objects, slot: slot) }
        noteChange(slot)
    }

    // MARK: Public

    /// Whether a relationship is still a fault: not read since the object was loaded. Never fires
    /// it.
    ///
    /// Cost: O(1).
    ///
    /// ```swift
    /// if !item.hasFault(forRelationshipNamed: "tags") { show(item.value(forKey: "tags") ?? 0) }
    /// ```
    public final func hasFault(forRelationshipNamed key: String) -> Bool {
        let slot = requireRelationship(key)
        if isNewOrUnmanaged { return false }
        if layout.slots[slot].kind.isToMany { return !(extras?.toMany(slot)?.isLoaded ?? false) }
        if flags.contains(.fault) { return true }
        if let pending, pending.has(slot) { return false }
        return toOne(slot)?.isFault ?? false
    }

    /// The IDs of related objects, without firing them; empty when nothing is related.
    ///
    /// Cost: one statement where the relationship is a fault, otherwise O(number of related
    /// objects).
    ///
    /// ```swift
    /// let ids = item.objectIDs(forRelationshipNamed: "tags")
    /// ```
    public final func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
        let slot = requireRelationship(key)
        if layout.slots[slot].kind == .toOne { return toOne(slot).map { [$0.objectID] } ?? [] }
        return toManyMembers(slot).objects.map(\.objectID)
    }

    /// A live view of a to-many relationship: adding and removing through it is tracked and
    /// maintains the inverse.
    ///
    /// ```swift
    /// item.mutableSetValue(forKey: "tags").add(tag)           // tag.items has the item, too
    /// ```
    public final func mutableSetValue(forKey key: String) -> NSMutableSet {
        ManagedMutableSet(owner: self, slot: requireToMany(key, ordered: false))
    }

    /// A live view of an ordered to-many relationship.
    ///
    /// ```swift
    /// order.mutableOrderedSetValue(forKey: "lines").insert(line, at: 0)
    /// ```
    public final func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
        ManagedMutableOrderedSet(owner: self, slot: requireToMany(key, ordered: true))
    }

    /// A live view of an ordered to-many relationship, or of an attribute whose values are arrays.
    /// Adding and removing through it is tracked.
    ///
    /// A relationship contains each object once: adding a member again changes nothing. A change of
    /// an attribute sets a new array, which costs O(n).
    ///
    /// ```swift
    /// order.mutableArrayValue(forKey: "lines").removeObject(at: 0)
    /// ```
    public final func mutableArrayValue(forKey key: String) -> NSMutableArray {
        guard let slot = layout.slotByName[key] else {
            preconditionFailure("The entity \(layout.name) has no property named \"\(key)\".")
        }
        if layout.slots[slot].relationship == nil { return ManagedMutableArray(attribute: slot, of: self) }
        return ManagedMutableArray(
            OrderedMembers(owner: self, slot: requireToMany(key, ordered: true), isPrimitive: false))
    }

    /// A live view of the to-many relationship at the end of a path through to-one relationships.
    ///
    /// - Precondition: the path ends at an object that has such a relationship.
    public final func mutableSetValue(forKeyPath keyPath: String) -> NSMutableSet {
        let (owner, key) = relationshipOwner(at: keyPath)
        return owner.mutableSetValue(forKey: key)
    }

    /// A live view of the ordered to-many relationship at the end of a path through to-one
    /// relationships.
    ///
    /// - Precondition: the path ends at an object that has such a relationship.
    public final func mutableOrderedSetValue(forKeyPath keyPath: String) -> NSMutableOrderedSet {
        let (owner, key) = relationshipOwner(at: keyPath)
        return owner.mutableOrderedSetValue(forKey: key)
    }

    /// A live view of the ordered to-many relationship, or of the array attribute, at the end of a
    /// path through to-one relationships.
    ///
    /// - Precondition: the path ends at an object that has such a property.
    public final func mutableArrayValue(forKeyPath keyPath: String) -> NSMutableArray {
        let (owner, key) = relationshipOwner(at: keyPath)
        return owner.mutableArrayValue(forKey: key)
    }

    /// The object that owns the last key of a key path, and that key.
    private func relationshipOwner(at keyPath: String) -> (owner: NSManagedObject, key: String) {
        guard let dot = keyPath.lastIndex(of: ".") else { return (self, keyPath) }
        let path = String(keyPath[..<dot])
        guard let owner = value(forKeyPath: path) as? NSManagedObject else {
            preconditionFailure("\"\(path)\" of \(layout.name) leads to no object whose relationship could be changed.")
        }
        return (owner, String(keyPath[keyPath.index(after: dot)...]))
    }

    private func requireRelationship(_ key: String) -> Int {
        guard let slot = layout.slotByName[key], layout.slots[slot].relationship != nil else {
            preconditionFailure("The entity \(layout.name) has no relationship named \"\(key)\".")
        }
        return slot
    }

    private func requireToMany(_ key: String, ordered: Bool) -> Int {
        guard let slot = layout.slotByName[key], layout.slots[slot].kind.isToMany else {
            preconditionFailure("The entity \(layout.name) has no to-many relationship named \"\(key)\".")
        }
        precondition(
            !ordered || layout.slots[slot].kind == .orderedToMany,
            "\(layout.name).\(key) is not ordered: use mutableSetValue(forKey:).")
        return slot
    }

    // MARK: Generated accessors

    public final func _addRelated(_ value: Any, forKey key: String) {
        let slot = requireToMany(key, ordered: false)
        if let object = value as? NSManagedObject { return addRelated(object, slot: slot) }
        for object in objects(in: value, slot) { addRelated(object, slot: slot) }
    }

    public final func _removeRelated(_ value: Any, forKey key: String) {
        let slot = requireToMany(key, ordered: false)
        if let object = value as? NSManagedObject { return removeRelated(object, slot: slot) }
        for object in objects(in: value, slot) { removeRelated(object, slot: slot) }
    }

    private func objects(in value: Any, _ slot: Int) -> [NSManagedObject] {
        guard let objects = RelationshipValues.objects(in: value) else {
            preconditionFailure(wrongType(value, layout.slots[slot]))
        }
        return objects
    }

    public final func _insertRelated(_ object: NSManagedObject, at index: Int, forKey key: String) {
        mutableOrderedSetValue(forKey: key).insert(object, at: index)
    }

    public final func _insertRelated(_ objects: [Any], at indexes: NSIndexSet, forKey key: String) {
        let set = mutableOrderedSetValue(forKey: key)
        for (object, index) in zip(objects, indexes) { set.insert(object, at: index) }
    }

    public final func _removeRelated(at index: Int, forKey key: String) {
        mutableOrderedSetValue(forKey: key).removeObject(at: index)
    }

    public final func _removeRelated(at indexes: NSIndexSet, forKey key: String) {
        let set = mutableOrderedSetValue(forKey: key)
        for index in indexes.reversed() { set.removeObject(at: index) }
    }

    public final func _replaceRelated(at index: Int, with object: NSManagedObject, forKey key: String) {
        mutableOrderedSetValue(forKey: key).replaceObject(at: index, with: object)
    }

    public final func _replaceRelated(at indexes: NSIndexSet, with objects: [Any], forKey key: String) {
        let set = mutableOrderedSetValue(forKey: key)
        for (object, index) in zip(objects, indexes) { set.replaceObject(at: index, with: object) }
    }
}
