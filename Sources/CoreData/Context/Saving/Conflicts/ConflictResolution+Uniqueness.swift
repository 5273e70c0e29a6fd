import Foundation

// Conflicts of unique values: two objects have the same values of a uniqueness constraint.

extension ConflictResolution {
    func resolve(_ violation: SaveConflicts.ConstraintViolation, _ type: NSMergePolicyType) {
        // Other conflicts may have changed new objects into updated ones, or removed them.
        let inserts = violation.inserts.map { found.batch.value.inserted[$0] }
        // An object that replaces its deleted row keeps its identity, like a changed one.
        let (replacements, insertedObjects) = split(inserts.filter { $0.flags.contains(.inserted) })
        let updatedObjects =
            violation.updates.map { found.batch.value.updated[$0] } + replacements
            + inserts.filter { $0.flags.contains(.updated) }
        let objectWins = type == .mergeByPropertyObjectTrumpMergePolicyType || type == .overwriteMergePolicyType
        guard let existing = violation.existing else {
            // All objects are in this context. The one whose row has the values stays, since the
            // others could not be saved without it; if none has, the first one.
            let holder = updatedObjects.first { hasStored(violation, $0) }
            let first = holder ?? updatedObjects.first ?? insertedObjects.first
            for object in insertedObjects where object !== first {
                let stays = type == .rollbackMergePolicyType ? nil : first
                if let stays { moveRelationships(of: object, to: stays, replacing: false) }
                context.discard(object, inFavourOf: stays)
            }
            for object in updatedObjects where object !== first { withdraw(object, type) }
            context.processPendingChanges()
            return
        }
        for (index, object) in insertedObjects.enumerated() {
            if index == 0, objectWins, updatedObjects.isEmpty {
                replaceRow(existing, object)
            } else {
                let stays = type == .rollbackMergePolicyType ? nil : storedObject(existing, found.store)
                if let stays { moveRelationships(of: object, to: stays, replacing: false) }
                context.discard(object, inFavourOf: stays)
            }
        }
        for object in updatedObjects {
            if objectWins {
                // The other object is deleted in favor of this one.
                if let other = storedObject(existing, found.store), other !== object { context.delete(other) }
            } else {
                withdraw(object, type)
            }
        }
        context.processPendingChanges()
    }

    /// Whether the committed row of an object has the values of a conflict.
    private func hasStored(_ violation: SaveConflicts.ConstraintViolation, _ object: NSManagedObject) -> Bool {
        guard let row = object.committedRow.map(Snapshot.init(retaining:)) else { return false }
        return zip(violation.constraint, violation.values).allSatisfy { name, value in
            object.layout.slotByPath[name].map { row.value($0) == value } ?? false
        }
    }

    /// Resolves a conflict in favor of a new object over the row that has its unique values.
    private func replaceRow(_ existing: Snapshot, _ object: NSManagedObject) {
        guard existing.row.rowLayoutIndex == object.layout.index else {
            // A row keeps its entity. So this row is deleted, as for a changed object.
            if let other = storedObject(existing, found.store) { context.delete(other) }
            return
        }
        let twin = context.registry.object(
            store: Int(object.storeNumber), root: object.layout.rootIndex, key: existing.key)
        guard let twin else { return becomeRow(existing, object) }
        if past.described.contains(twin), !twin.hasChanges, !context.hasPolicyOfItsOwn {
            leave(existing, twin)
            return becomeRow(existing, object)
        }
        // The program has another object of the row, perhaps from the conflict. That object stays.
        if past.replaced.insert(twin).inserted {
            twin.fireFaultIfNeeded()
            context.adoptCommitted(existing, twin)
            noteReread(twin)
            giveValues(of: object, to: twin)
            moveRelationships(of: object, to: twin, replacing: true)
        } else {
            // The first new object has already been written over the row.
            moveRelationships(of: object, to: twin, replacing: false)
        }
        if let objectID = object.extras?.objectID { context.noteKey(of: twin, inPlaceOf: objectID) }
        context.discard(object, inFavourOf: twin)
    }

    /// Removes a fault that was made only to describe the conflict, and leaves its row to another
    /// object. The conflict's holder reads the stored values from it, as from a deleted object.
    private func leave(_ existing: Snapshot, _ fault: NSManagedObject) {
        if fault.flags.contains(.fault) {
            fault.keep(existing.row)
            context.fulfill(fault)
        }
        context.retained.remove(fault)
        context.endDeletion(of: fault)
    }

    /// Turns a new object into the object of an existing row. All its values are written over the
    /// row's, including nil. The row's to-many members stay related to it.
    private func becomeRow(_ existing: Snapshot, _ object: NSManagedObject) {
        let layout = object.layout
        past.replaced.insert(object)
        // No object has the permanent ID that it had obtained.
        context.registry.unregister(object)
        let formerID = object.extras?.objectID
        object.extras?.objectID = nil
        for slot in 0..<layout.storedCount {
            if layout.slots[slot].isDerived {
                object.pending?.remove(slot)
            } else if object.pending?.has(slot) != true {
                object.store(object.currentValue(slot), slot: slot)
            }
        }
        for (slot, state) in object.extras?.allToMany ?? [] where !layout.slots[slot].isTransient {
            let members = state.members.objects
            state.changesWereSaved()
            state.isLoaded = false
            state.members.removeAll()
            for member in members { state.added.append(member) }
        }
        context.changes.becomeChanged(object, in: existing.row)
        context.registry.register(object)
        context.noteUse(of: CollectionOfOne(object), store: Int(object.storeNumber))
        if context.retainsRegisteredObjects { context.retained.insert(object) }
        if let formerID {
            context.newObjects.forget(formerID)
            context.noteKey(of: object, inPlaceOf: formerID)
        }
        context.forgetUnchanged(object)
        for slot in 0..<layout.storedCount where object.pending?.has(slot) == true {
            object.pending?.track(slot)
            leaveFormerDestination(existing, object, layout.slots[slot])
        }
    }

    /// Removes an object from a former destination of the row that it has adopted.
    private func leaveFormerDestination(_ existing: Snapshot, _ object: NSManagedObject, _ property: PropertySlot) {
        guard property.kind == .toOne, property.inverseSlot >= 0,
            case .reference(let reference) = existing.value(property.index),
            let former = context.object(for: reference, near: object), former !== object.toOne(property.index)
        else { return }
        former.removeFromInverse(of: property, object)
    }

    private func giveValues(of object: NSManagedObject, to twin: NSManagedObject) {
        for property in object.layout.slots.prefix(object.layout.storedCount)
        where property.kind != .toOne && !property.isDerived {
            let value = object.currentValue(property.index)
            if !twin.equals(twin.currentValue(property.index), value, property) {
                twin.setTracked(value, slot: property.index)
            }
        }
    }

    /// Returns this context's object for a row of a store.
    private func storedObject(_ row: Snapshot, _ store: NSPersistentStore) -> NSManagedObject? {
        guard let store = context.registry.store(number: store.number), let modelLayout = context.modelLayout else {
            return nil
        }
        return context.object(
            with: NSManagedObjectID(key: row.key, layout: modelLayout.layouts[row.row.rowLayoutIndex], store: store))
    }

    /// Relates the destinations of a new object to the object that stays instead, through the
    /// relationships that both inherit from one entity. Those of the same name in two subentities
    /// are different relationships.
    ///
    /// - Parameter replacing: Whether the destination of a to-one relationship replaces that of
    ///   `twin`, even by nil.
    private func moveRelationships(of object: NSManagedObject, to twin: NSManagedObject, replacing: Bool) {
        for slot in object.layout.relationshipSlots {
            let property = object.layout.slots[slot]
            guard let twinSlot = twin.layout.slotByName[property.name],
                twin.layout.slots[twinSlot].property === property.property
            else { continue }
            if property.kind == .toOne {
                let (destination, current) = (object.toOne(slot), twin.toOne(twinSlot))
                if destination !== current, replacing || current == nil {
                    twin.setValue(destination, forKey: property.name)
                }
                continue
            }
            let members = object.toManyMembers(slot).objects
            if members.isEmpty { continue }
            if property.kind == .orderedToMany {
                twin.mutableOrderedSetValue(forKey: property.name).addObjects(from: Array(members))
            } else {
                twin.mutableSetValue(forKey: property.name).addObjects(from: Array(members))
            }
        }
    }

    /// Separates objects that replace their deleted rows from new ones.
    private func split(_ objects: [NSManagedObject]) -> (replacements: [NSManagedObject], new: [NSManagedObject]) {
        (objects.filter { $0.extras?.deletedRow != nil }, objects.filter { $0.extras?.deletedRow == nil })
    }

    /// Takes back the changes of a changed object.
    private func withdraw(_ object: NSManagedObject, _ type: NSMergePolicyType) {
        if object.flags.contains(.inserted) {
            context.discard(object)
            return
        }
        past.settle(UnsavedEnds(of: object), for: type)
        context.changes.takeBackChanges(of: object)
        context.restoreCommittedValues(object)
        noteReread(object)
    }
}
