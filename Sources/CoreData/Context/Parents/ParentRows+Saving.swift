import Foundation

// Saving a child: its changes become changes of its parent.

extension ParentRows {
    /// Applies the changes to the parent's objects. Either all changes are applied, or none if the
    /// parent's values have changed since the child read them.
    func save(_ batch: SaveBatch) throws -> SaveOutcome { try save(batch) {} }

    func save(_ batch: SaveBatch, beforeCommit others: () throws -> Void) throws -> SaveOutcome {
        guard let origin = batch.origin as? SaveOrigin else { return SaveOutcome() }
        return try onParent {
            let updated = try checkConflicts(batch)
            let former = try batch.inserts.map(formerObject)
            try others()
            return try ChildChanges(of: batch, origin, replacing: former, updating: updated, to: self).apply()
        }
    }

    /// Returns the parent's objects of the updated rows.
    ///
    /// - Throws: `SaveConflicts` when the parent's objects have changed since they were read.
    private func checkConflicts(_ batch: SaveBatch) throws -> [NSManagedObject] {
        var conflicts = SaveConflicts()
        var rows = RowsOfObjects(parent, expectedRows: 1)
        @discardableResult
        func check(_ changes: [RowChange], _ kind: SaveConflicts.RowConflict.Change) throws -> [NSManagedObject] {
            var unchanged: [NSManagedObject] = []
            for (index, change) in changes.enumerated() {
                let object = parent.objectOrFault(withChildKey: change.key, of: change.layout, store: store)
                let current = try object.flatMap { try rows.row(of: $0) }
                if let object, let current, change.base.map({ isSame($0, current) }) ?? true {
                    unchanged.append(object)
                } else {
                    conflicts.rows.append(SaveConflicts.RowConflict(change: kind, index: index, current: current))
                }
            }
            return unchanged
        }
        let updated = try check(batch.updates, .update)
        try check(batch.deletes, .delete)
        try check(batch.versionChecks, .check)
        if !conflicts.rows.isEmpty { throw conflicts }
        return updated
    }

    /// Returns the object that the parent has for an inserted row, loaded: the child has undone a
    /// deletion that it saved, or found the row gone. If others have deleted the row of a fault, it
    /// counts as deleted from now on, and the insertion brings it back.
    private func formerObject(_ change: RowChange) throws -> NSManagedObject? {
        guard let former = parent.object(withChildKey: change.key, of: change.layout, store: store),
            former.layout === change.layout
        else { return nil }
        if former.flags.contains(.fault), !parent.isGone(former), try !parent.load(former),
            !former.flags.contains(.inaccessible)
        {
            parent.changes.deleteInaccessible(former)
        }
        return former
    }

    /// Whether two states of a row have the same values. Derived values are not compared: no
    /// context changed them, the root's save computed them.
    private func isSame(_ base: Snapshot, _ current: Snapshot) -> Bool {
        base.hasSameValues(as: current, comparesDerived: false) {
            $0.key == $1.key || parent.latestKey($0.key) == parent.latestKey($1.key)
        } sameArchived: {
            isSameArchived(base, current, $0)
        }
    }

    /// Whether a transformable attribute has the same value in two rows. One value may be archived
    /// in several ways, because dictionaries have no order.
    private func isSameArchived(_ base: Snapshot, _ current: Snapshot, _ slot: Int) -> Bool {
        guard let attribute = base.layout.slots[slot].attribute else { return false }
        func value(_ row: Snapshot) -> Any? {
            guard case .data(let data) = row.value(slot) else { return nil }
            return Transformation.value(from: data, attribute: attribute)
        }
        guard let first = value(base), let second = value(current) else { return false }
        return SameValues.areSame(first, second)
    }
}

/// The changes of one save of a child to its parent.
private struct ChildChanges {
    private let batch: SaveBatch
    private let origin: SaveOrigin
    /// The parent's former objects of the inserted rows.
    private let former: [NSManagedObject?]
    /// The parent's objects of the updated rows.
    private let updated: [NSManagedObject]
    private let rows: ParentRows
    private let parent: NSManagedObjectContext

    init(
        of batch: SaveBatch, _ origin: SaveOrigin, replacing former: [NSManagedObject?],
        updating updated: [NSManagedObject], to rows: ParentRows
    ) {
        self.batch = batch
        self.origin = origin
        self.former = former
        self.updated = updated
        self.rows = rows
        parent = rows.parent
    }

    func apply() throws -> SaveOutcome {
        // All changes are one event of the parent, even if methods of its objects fetch.
        let inserted = parent.asStep { change() }
        parent.processPendingChanges()
        var outcome = SaveOutcome()
        outcome.inserted = try outcomeRows(inserted)
        outcome.updated = try outcomeRows(updated)
        return outcome
    }

    /// Changes the parent's objects. Returns the inserted ones.
    private func change() -> [NSManagedObject] {
        let inserted = batch.inserts.indices.map { insert(batch.inserts[$0], origin.insertedObjects[$0], former[$0]) }
        for (index, change) in batch.inserts.enumerated() {
            setAllValues(of: inserted[index], change, origin.insertedObjects[index])
        }
        for (index, change) in batch.updates.enumerated() {
            setValues(of: updated[index], change, origin.updatedObjects[index])
        }
        // All members are linked first: those of an ordered relationship also from their side.
        let ordered = batch.relationshipChanges.filter { $0.layout.slots[$0.slot].kind == .orderedToMany }.map {
            ($0, newMembers(of: $0))
        }
        for change in batch.relationshipChanges { link(change) }
        for (change, new) in ordered { order(change, new) }
        for (object, source) in zip(inserted, origin.insertedObjects) { setTransientRelationships(of: object, source) }
        for (object, source) in zip(updated, origin.updatedObjects) { setTransientRelationships(of: object, source) }
        for change in batch.deletes {
            if let object = object(change), !parent.isGone(object) { parent.delete(object) }
        }
        return inserted
    }

    /// The parent's object for a row of the child.
    private func object(_ change: RowChange) -> NSManagedObject? {
        parent.objectOrFault(withChildKey: change.key, of: change.layout, store: rows.store)
    }

    private func object(_ reference: RowReference) -> NSManagedObject? {
        guard let model = parent.modelLayout, model.layouts.indices.contains(reference.layoutIndex) else { return nil }
        return parent.objectOrFault(
            withChildKey: reference.key, of: model.layouts[reference.layoutIndex], store: rows.store)
    }

    /// Inserts the parent's object for a new one of the child, under the same ID.
    private func insert(
        _ change: RowChange, _ source: NSManagedObject, _ former: NSManagedObject?
    ) -> NSManagedObject {
        if let former {
            let (wasNew, wasGone) = (former.flags.contains(.discarded), parent.isGone(former))
            parent.insertFormer(former)
            if wasGone { endRelationships(of: former) }
            if wasNew { keepStore(of: former, change) }
            if former.extras?.isRevived == true, former.extras?.deletedRow == nil { noteDeletedRow(of: former, source) }
            return former
        }
        let object = parent.makeObject(of: change.layout)
        let objectID: NSManagedObjectID
        if change.key > 0, let store = parent.registry.store(number: rows.store) {
            // The child has obtained a permanent ID.
            object.take(key: change.key, store: rows.store)
            objectID = NSManagedObjectID(key: change.key, layout: change.layout, store: store)
        } else {
            objectID = parent.registry.identities.objectID(ofSerial: 0 &- change.key, change.layout)
        }
        object.makeExtras().objectID = objectID
        noteDeletedRow(of: object, source)
        keepStore(of: object, change)
        parent.insertNew(object)
        return object
    }

    /// Notes which row a new one replaces. Other contexts may have versions of the deleted row: the
    /// new one must have another.
    private func noteDeletedRow(of object: NSManagedObject, _ source: NSManagedObject) {
        object.extras?.deletedRow = source.extras?.deletedRow
    }

    /// Ends the relationships of an object that comes back.
    ///
    /// The object still has its former references, but no other object refers to it any more. After
    /// this, the child's relationships are new on both sides.
    private func endRelationships(of object: NSManagedObject) {
        object.fireFaultIfNeeded()
        for property in object.layout.persistentRelationships {
            let slot = property.index
            if property.kind.isToMany {
                for member in object.toManyMembers(slot).objects {
                    if parent.isGone(member) {
                        object.removeMember(member, slot: slot)
                    } else {
                        object.removeRelated(member, slot: slot)
                    }
                }
            } else if let destination = object.toOne(slot) {
                if parent.isGone(destination) {
                    set(.stored(.null), object, slot)
                } else {
                    object.setToOne(nil, slot: slot)
                }
            }
        }
    }

    /// Assigns a new object to the child's store if the coordinator would choose another store.
    private func keepStore(of object: NSManagedObject, _ change: RowChange) {
        guard let coordinator = parent.persistentStoreCoordinator,
            let store = parent.registry.store(number: rows.store),
            (try? coordinator.store(for: change.layout, assigned: nil)) !== store
        else { return }
        parent.newObjects.assign(object, to: store)
    }

    // MARK: - Values

    /// Sets all values of a new object of the parent, in place of its initial ones.
    private func setAllValues(of object: NSManagedObject, _ change: RowChange, _ source: NSManagedObject) {
        for slot in 0..<change.layout.storedCount {
            let value = change.values.map { $0.has(slot) ? $0[slot] : .null } ?? .null
            let property = change.layout.slots[slot]
            if property.kind == .toOne {
                set(destination(value), object, slot)
            } else if !object.equals(object.currentValue(slot), .stored(value), property) {
                set(.stored(value), object, slot)
            }
        }
        setTransientValues(of: object, source)
    }

    private func setValues(of object: NSManagedObject, _ change: RowChange, _ source: NSManagedObject) {
        object.fireFaultIfNeeded()
        if let values = change.values {
            for slot in 0..<change.layout.storedCount where values.has(slot) {
                if change.layout.slots[slot].kind == .toOne {
                    set(destination(values[slot]), object, slot)
                } else {
                    set(.stored(values[slot]), object, slot)
                }
            }
        }
        setTransientValues(of: object, source)
    }

    private func set(_ value: PropertyValue, _ object: NSManagedObject, _ slot: Int) {
        object.prepareForChange()
        object.extras?.setDecoded(slot, nil)
        object.store(value, slot: slot)
        object.noteChange(slot)
    }

    private func set(_ destination: NSManagedObject?, _ object: NSManagedObject, _ slot: Int) {
        if object.toOne(slot) !== destination { object.setToOne(destination, slot: slot) }
    }

    private func destination(_ value: StoredValue) -> NSManagedObject? {
        guard case .reference(let reference) = value else { return nil }
        return object(reference).flatMap { parent.isGone($0) ? nil : $0 }
    }

    /// Copies transient attributes, which are in no row.
    private func setTransientValues(of object: NSManagedObject, _ source: NSManagedObject) {
        guard let transient = source.extras?.transient else { return }
        for property in object.layout.slots
        where property.index >= object.layout.storedCount && transient.has(property.index) {
            if property.kind == .toOne || property.kind.isToMany || property.composite != nil { continue }
            let value = transient.value(property.index)
            if object.equals(object.currentValue(property.index), value, property) { continue }
            set(value, object, property.index)
        }
    }

    // MARK: - Relationships

    /// Copies transient relationships. All of their destinations exist by now.
    private func setTransientRelationships(of object: NSManagedObject, _ source: NSManagedObject) {
        guard let extras = source.extras, extras.transient != nil || extras.hasToMany else { return }
        for slot in object.layout.relationshipSlots where object.layout.slots[slot].isTransient {
            if object.layout.slots[slot].kind == .toOne {
                guard let transient = extras.transient, transient.has(slot) else { continue }
                // The parent may have changed a relationship of an object that was saved before.
                guard source.isInserted || source.pending?.tracked.contains(slot) == true else { continue }
                set(transient.value(slot).destination.flatMap(counterpart), object, slot)
            } else if let state = extras.toMany(slot), state.hasChanges {
                for member in state.removed.objects {
                    if let member = counterpart(member) { object.removeRelated(member, slot: slot) }
                }
                for member in state.added.objects {
                    if let member = counterpart(member) { object.addRelated(member, slot: slot) }
                }
                if state.orderChanged { object.restoreOrder(state.members.objects.compactMap(counterpart), slot: slot) }
            }
        }
    }

    /// The parent's object for one of the child.
    private func counterpart(_ object: NSManagedObject) -> NSManagedObject? {
        if object.isDeleted || object.storeNumber < 0 { return nil }
        return self.object(RowReference(key: object.key, layoutIndex: object.layout.index)).flatMap {
            parent.isGone($0) ? nil : $0
        }
    }

    private func owner(of change: RelationshipChange) -> NSManagedObject? {
        object(RowReference(key: change.ownerKey, layoutIndex: change.layout.index)).flatMap {
            parent.isGone($0) ? nil : $0
        }
    }

    private func link(_ change: RelationshipChange) {
        guard let owner = owner(of: change) else { return }
        owner.fireFaultIfNeeded()
        for reference in change.removed {
            if let member = object(reference) { owner.removeRelated(member, slot: change.slot) }
        }
        for reference in change.added {
            if let member = object(reference), !parent.isGone(member) { owner.addRelated(member, slot: change.slot) }
        }
    }

    /// The additions without the members that the parent's object already has. If the inverse has a
    /// column, the members' values have already added them; then all additions count.
    private func newMembers(of change: RelationshipChange) -> [RowReference] {
        let property = change.layout.slots[change.slot]
        guard !property.inverseIsToOne, change.order == nil, change.added.count > 1,
            let state = owner(of: change)?.extras?.toMany(change.slot)
        else { return change.added }
        let known = Set(state.isLoaded ? state.members.objects : state.added.objects)
        return change.added.filter { object($0).map(known.contains) != true }
    }

    private func order(_ change: RelationshipChange, _ new: [RowReference]) {
        guard let owner = owner(of: change) else { return }
        if let order = change.order {
            owner.restoreOrder(order.compactMap(object), slot: change.slot)
        } else if new.count > 1 {
            moveToEnd(new, of: owner, change.slot)
        }
    }

    /// Moves added members, which their own values may have added before, to the end in order.
    private func moveToEnd(_ added: [RowReference], of owner: NSManagedObject, _ slot: Int) {
        let members = owner.toManyMembers(slot).objects
        let known = Set(members)
        let last = added.compactMap(object).filter(known.contains)
        if members.suffix(last.count).elementsEqual(last, by: ===) { return }
        let placed = Set(last)
        owner.reorder(to: members.filter { !placed.contains($0) } + last, slot: slot)
    }

    // MARK: - Rows that the child continues with

    /// The rows of the parent's objects as they are now.
    ///
    /// The parent's own code, an observer for example, may have deleted an object since its changes
    /// were applied. The child has saved it all the same, and finds it deleted at its next save.
    private func outcomeRows(_ objects: [NSManagedObject]) throws -> FetchedRows {
        var made = RowsOfObjects(parent, expectedRows: objects.count)
        return FetchedRows(try objects.map { try made.row(of: $0) ?? made.currentRow(of: $0) })
    }
}
