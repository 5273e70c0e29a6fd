import Foundation

// Objects that would have the unique values of others.

extension ConflictResolution {
    func resolve(_ violation: SaveConflicts.ConstraintViolation, _ type: NSMergePolicyType) {
        // An object that takes the place of its deleted row keeps its identity, as a changed one does.
        let (replacements, insertedObjects) = split(violation.inserts.map { found.batch.inserted[$0] })
        let updatedObjects = violation.updates.map { found.batch.updated[$0] } + replacements
        let objectWins = type == .mergeByPropertyObjectTrumpMergePolicyType || type == .overwriteMergePolicyType
        guard let existing = violation.existing else {
            // All in this context: the first one stays.
            let first = updatedObjects.first ?? insertedObjects.first
            for object in insertedObjects.dropFirst(updatedObjects.isEmpty ? 1 : 0) {
                if let first, type != .rollbackMergePolicyType { moveRelationships(of: object, to: first, replacing: false) }
                discard(object)
            }
            for object in updatedObjects.dropFirst() { withdraw(object) }
            return
        }
        for (index, object) in insertedObjects.enumerated() {
            if index == 0, objectWins, updatedObjects.isEmpty {
                becomeRow(existing, object)
            } else {
                if type != .rollbackMergePolicyType, let stored = storedObject(existing, found.store) {
                    moveRelationships(of: object, to: stored, replacing: false)
                }
                discard(object)
            }
        }
        for object in updatedObjects {
            if objectWins {
                // The other record gives way to this one.
                if let other = storedObject(existing, found.store), other !== object { context.delete(other) }
            } else {
                withdraw(object)
            }
        }
        context.processPendingChanges()
    }

    /// A new object takes the place of the row that has its unique values: its values are written over that row's.
    private func becomeRow(_ existing: Snapshot, _ object: NSManagedObject) {
        let layout = object.layout
        guard existing.row.rowLayoutIndex == layout.index else {
            discard(object)
            return
        }
        if let twin = context.registry.object(store: Int(object.storeNumber), root: layout.rootIndex, key: existing.key),
            twin !== object
        {
            // Another object already stands for the row: it is the one that stays.
            twin.fireFaultIfNeeded()
            context.adoptCommitted(existing, twin)
            noteReread(twin)
            for slot in 0..<layout.storedCount {
                let value = object.currentValue(slot)
                if !value.isNull, layout.slots[slot].kind != .toOne { twin.setTracked(value, slot: slot) }
            }
            moveRelationships(of: object, to: twin, replacing: true)
            discard(object)
            return
        }
        if let objectID = object.extras?.objectID {
            context.temporaryObjects[objectID.identity] = nil
            object.extras?.objectID = nil
        }
        context.changes.becomeChanged(object, in: existing.row)
        for slot in 0..<layout.storedCount where object.pending?.has(slot) == true {
            object.pending?.track(slot)
        }
        context.registry.register(object)
    }

    /// The object of this context that stands for a row of a store.
    private func storedObject(_ row: Snapshot, _ store: NSPersistentStore) -> NSManagedObject? {
        guard let store = context.registry.store(number: store.number), let modelLayout = context.modelLayout else { return nil }
        return context.object(with: NSManagedObjectID(key: row.key, layout: modelLayout.layouts[row.row.rowLayoutIndex], store: store))
    }

    /// What the new object was related to is related to the object that stays instead.
    ///
    /// - Parameter replacing: whether the destination of a to-one relationship takes the place of the one that `twin` has.
    private func moveRelationships(of object: NSManagedObject, to twin: NSManagedObject, replacing: Bool) {
        for slot in object.layout.relationshipSlots {
            let property = object.layout.slots[slot]
            guard let twinSlot = twin.layout.slotByName[property.name] else { continue }
            if property.kind == .toOne {
                if let destination = object.toOne(slot), replacing || twin.toOne(twinSlot) == nil {
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

    /// A new object leaves the context.
    func discard(_ object: NSManagedObject) {
        guard object.flags.contains(.inserted) else { return }
        for slot in object.layout.relationshipSlots {
            let property = object.layout.slots[slot]
            guard property.inverseSlot >= 0 else { continue }
            if property.kind == .toOne {
                object.toOne(slot)?.removeFromInverse(of: property, object)
            } else {
                for member in object.toManyMembers(slot).objects { member.removeFromInverse(of: property, object) }
            }
        }
        context.changes.discard(object)
        if object.storeNumber >= 0 { context.registry.unregister(object) }
        context.changes.noteMergedDeletion(of: object)
    }

    /// Objects that take the places of their deleted rows, and really new ones.
    private func split(_ objects: [NSManagedObject]) -> (replacements: [NSManagedObject], new: [NSManagedObject]) {
        (objects.filter { $0.extras?.deletedRow != nil }, objects.filter { $0.extras?.deletedRow == nil })
    }

    /// A changed object gives up its changes.
    private func withdraw(_ object: NSManagedObject) {
        if object.flags.contains(.inserted) {
            discard(object)
            return
        }
        context.changes.takeBackChanges(of: object)
        context.restoreCommittedValues(object)
        noteReread(object)
    }
}
