import Foundation

// Conflicts of a save: told to the merge policy, then resolved as its type says.

extension NSManagedObjectContext {
    /// Resolves the conflicts of one attempt to save, so that the next attempt can succeed, or throws.
    ///
    /// The policy settles them, so that a subclass can go on from the result; what it leaves is settled afterwards.
    func resolve(_ found: StoreConflicts) throws {
        let policy = mergePolicy as? NSMergePolicy ?? .error
        var rowConflicts: [NSMergeConflict] = []
        var constraintConflicts: [NSConstraintConflict] = []
        // The conflicts may outlive the save, in an error.
        defer {
            for conflict in rowConflicts { conflict.resolution = nil }
            for conflict in constraintConflicts { conflict.resolution = nil }
        }
        for conflict in found.conflicts.rows {
            if conflict.change == .insert, found.batch.inserted[conflict.index].extras?.deletedRow == nil {
                // Another writer took the key without asking for it: the object is new, and the row is none of its business.
                giveUpKey(found.batch.inserted[conflict.index])
                continue
            }
            let object =
                switch conflict.change {
                case .insert: found.batch.inserted[conflict.index]
                case .update: found.batch.updated[conflict.index]
                case .delete: found.batch.deleted[conflict.index]
                case .check: found.batch.checked[conflict.index]
                }
            let described = mergeConflict(conflict, object, found.store)
            described.resolution = { [self] type in resolve(object, conflict, type) }
            rowConflicts.append(described)
        }
        for violation in found.conflicts.violations {
            let described = constraintConflict(violation, found)
            described.resolution = { [self] type in resolve(violation, found, type) }
            constraintConflicts.append(described)
        }
        // The cached rows are proven stale: whoever refreshes the objects must get the store's rows.
        for conflict in rowConflicts {
            let object = conflict.sourceObject
            found.store.snapshotStore?.rowCaches[object.layout.rootIndex].remove(object.key)
        }
        if rowConflicts.isEmpty, constraintConflicts.isEmpty { return }
        try policy.resolve(mergeConflicts: rowConflicts + constraintConflicts)
        for conflict in rowConflicts { conflict.settle(policy.mergeType) }
        for conflict in constraintConflicts { conflict.settle(policy.mergeType) }
        if changes.awaitsPropagation { processPendingChanges() }
    }

    /// What a merge policy is told about a row.
    ///
    /// When the coordinator knows the newer row already, because another context saved it, the conflict is between the
    /// context and the coordinator's cache and has no persisted snapshot; otherwise it is between that cache and the store.
    private func mergeConflict(
        _ conflict: SaveConflicts.RowConflict, _ object: NSManagedObject, _ store: NSPersistentStore
    ) -> NSMergeConflict {
        let cached = store.snapshotStore?.rowCaches[object.layout.rootIndex].snapshot(for: object.key)
        let isCached = cached?.version == conflict.current?.version
        let newVersion = Int(conflict.current?.version ?? 0)
        let cachedValues = cached.map { values(of: $0, near: object) }
        let persistedValues = isCached ? nil : conflict.current.map { values(of: $0, near: object) }
        if let deletedRow = object.extras?.deletedRow {
            return NSMergeConflict(
                source: object, newVersion: newVersion, oldVersion: Int(deletedRow.version),
                objectSnapshot: values(of: deletedRow, near: object), cachedSnapshot: cachedValues, persistedSnapshot: persistedValues)
        }
        return NSMergeConflict(
            source: object, newVersion: newVersion, oldVersion: Int(object.committedRow?.rowVersion ?? 0),
            cachedSnapshot: cachedValues, persistedSnapshot: persistedValues)
    }

    /// A row's attributes and to-one destinations (as object IDs), as a merge policy sees them.
    private func values(of snapshot: Snapshot, near object: NSManagedObject) -> [String: Any] {
        var result: [String: Any] = [:]
        for slot in snapshot.layout.propertySlots where slot.isFetched {
            if let composite = slot.composite {
                result[slot.name] = snapshot.dictionary(composite) ?? NSNull()
                continue
            }
            let value = snapshot.value(slot.index)
            switch value {
            case .null: result[slot.name] = NSNull()
            case .reference(let reference):
                if let modelLayout, let store = registry.store(number: Int(object.storeNumber)) {
                    result[slot.name] = NSManagedObjectID(
                        key: reference.key, layout: modelLayout.layouts[reference.layoutIndex], store: store)
                }
            default: result[slot.name] = PropertyConversion.object(from: value, kind: slot.kind) ?? NSNull()
            }
        }
        return result
    }

    private func constraintConflict(_ violation: SaveConflicts.ConstraintViolation, _ found: StoreConflicts)
        -> NSConstraintConflict
    {
        let objects =
            violation.inserts.map { found.batch.inserted[$0] } + violation.updates.map { found.batch.updated[$0] }
        var databaseObject: NSManagedObject?
        if let existing = violation.existing, let modelLayout, let store = registry.store(number: found.store.number) {
            let layout = modelLayout.layouts[existing.row.rowLayoutIndex]
            databaseObject = object(with: NSManagedObjectID(key: existing.key, layout: layout, store: store))
        }
        return NSConstraintConflict(
            constraint: violation.constraint, database: databaseObject,
            databaseSnapshot: violation.existing.map { snapshot in
                databaseObject.map { values(of: snapshot, near: $0) } ?? [:]
            },
            conflicting: objects,
            conflictingSnapshots: objects.map { object in
                var snapshot: [AnyHashable: Any] = [:]
                for slot in object.layout.propertySlots where slot.isFetched && slot.kind != .toOne {
                    snapshot[slot.name] = object.objectValue(slot.index) ?? NSNull()
                }
                return snapshot
            })
    }

    // MARK: - Rows

    private func resolve(_ object: NSManagedObject, _ conflict: SaveConflicts.RowConflict, _ type: NSMergePolicyType) {
        let objectWins = type == .mergeByPropertyObjectTrumpMergePolicyType || type == .overwriteMergePolicyType
        guard let current = conflict.current else {
            // Deleted by others.
            switch conflict.change {
            case .insert: break
            case .delete: finishDeletion(object)
            case .update where objectWins && object.flags.contains(.updated) && !isOnlyNullified(object): recreate(object)
            default: finishDeletion(object)
            }
            return
        }
        if conflict.change == .insert {
            // Two contexts gave the deleted row a successor: from here on it is a row that both have changed.
            guard current.row.rowLayoutIndex == object.layout.index else { return discard(object) }
            continueAsUpdate(object)
        }
        let former = object.committedRow.map(Snapshot.init(retaining:))
        switch conflict.change {
        case .check:
            adoptCommitted(current, object)
        case .delete:
            if !objectWins { changes.takeBackDeletion(of: object) }
            adoptCommitted(current, object)
        case .update where !object.flags.contains(.updated):
            // A destination of what was changed.
            adoptCommitted(current, object)
        case .insert, .update:
            mergeRow(current, former, object, type)
        }
        object.awake(fromSnapshotEvents: .mergePolicy)
    }

    private func mergeRow(
        _ current: Snapshot, _ former: Snapshot?, _ object: NSManagedObject, _ type: NSMergePolicyType
    ) {
        let layout = object.layout
        switch type {
        case .rollbackMergePolicyType:
            changes.takeBackChanges(of: object)
            restoreCommittedValues(object)
        case .mergeByPropertyStoreTrumpMergePolicyType:
            if let former, let pending = object.pending {
                for slot in 0..<layout.storedCount where pending.has(slot) {
                    if !object.equals(current.value(slot), former.value(slot), layout.slots[slot]) {
                        pending.remove(slot)
                    }
                }
            }
        case .overwriteMergePolicyType where !isOnlyNullified(object):
            // The whole object as it is in memory is written.
            if let former {
                for slot in 0..<layout.storedCount where object.pending?.has(slot) != true {
                    let value = existing(former.value(slot), object)
                    if !object.equals(current.value(slot), value, layout.slots[slot]) {
                        object.store(value, slot: slot)
                        object.pending?.track(slot)
                    }
                }
            }
        default: forgetUnchanged(object)
        }
        adoptCommitted(current, object)
    }

    /// The row is gone, and so is the object.
    private func finishDeletion(_ object: NSManagedObject) {
        if !object.flags.contains(.deleted) { leaveNewRelationships(of: object) }
        registry.unregister(object)
        changes.endDeletion(of: object)
        changes.noteMergedDeletion(of: object)
    }

    /// Takes an object whose row is gone out of relationships that were made since its last save: what would lead nowhere.
    func leaveNewRelationships(of object: NSManagedObject) {
        for slot in object.layout.relationshipSlots {
            let property = object.layout.slots[slot]
            guard property.inverseSlot >= 0 else { continue }
            if property.kind == .toOne {
                if let destination = object.pending?[slot].destination { destination.removeFromInverse(of: property, object) }
            } else if let state = object.extras?.toMany(slot) {
                for member in state.added.objects { member.removeFromInverse(of: property, object) }
            }
        }
    }

    /// A value that a row had, or nil for a destination whose own row is gone since: it must not be written again.
    private func existing(_ value: PropertyValue, _ object: NSManagedObject) -> PropertyValue {
        guard case .reference(let reference) = value, let modelLayout, modelLayout.layouts.indices.contains(reference.layoutIndex),
            let store = registry.store(number: Int(object.storeNumber)), let snapshotStore = store.snapshotStore
        else { return value }
        let layout = modelLayout.layouts[reference.layoutIndex]
        if let destination = registry.object(store: store.number, root: layout.rootIndex, key: reference.key),
            !destination.flags.isDisjoint(with: [.inserted, .updated])
        {
            // The same save writes it, again if need be.
            return value
        }
        guard let rows = try? snapshotStore.readRows([reference.key], of: layout) else { return value }
        return rows.rows.isEmpty ? .null : value
    }

    /// Whether nothing was changed but that relationships to what is deleted ended. That is no reason to have a deleted row again.
    private func isOnlyNullified(_ object: NSManagedObject) -> Bool {
        let layout = object.layout
        for slot in 0..<layout.storedCount where object.differsFromCommitted(layout.slots[slot]) {
            guard layout.slots[slot].kind == .toOne, object.currentValue(slot).isNull,
                case .reference(let reference) = object.committedValue(slot), isBeingDeleted(reference, object)
            else { return false }
        }
        for (slot, state) in object.extras?.allToMany ?? [] where state.hasChanges && !layout.slots[slot].isTransient {
            guard state.added.isEmpty, !state.removed.isEmpty, state.removed.objects.allSatisfy(Self.isDeletedHere) else { return false }
        }
        return true
    }

    private static func isDeletedHere(_ object: NSManagedObject) -> Bool {
        !object.flags.isDisjoint(with: [.deleted, .deletionSaved])
    }

    /// Whether the destination of an object is deleted in this context or has no row any more.
    private func isBeingDeleted(_ reference: RowReference, _ object: NSManagedObject) -> Bool {
        if let layout = modelLayout?.layouts[reference.layoutIndex],
            let destination = registry.object(store: Int(object.storeNumber), root: layout.rootIndex, key: reference.key),
            Self.isDeletedHere(destination)
        {
            return true
        }
        return existing(.reference(reference), object).isNull
    }

    /// Saves a changed object whose row was deleted as a new row with the same key.
    private func recreate(_ object: NSManagedObject) {
        let values = (0..<object.layout.storedCount).map { existing(object.currentValue($0), object) }
        changes.becomeNew(object, values: values)
        // The deletion took the row out of all its relationships; what was added since is left.
        for (slot, state) in object.extras?.allToMany ?? [] where !object.layout.slots[slot].isTransient {
            let added = state.added.objects
            state.changesWereSaved()
            state.isLoaded = true
            state.members.replaceAll(added)
            for member in added { state.added.appendNew(member) }
        }
    }

    /// Makes a changed object again of one that was to be saved as a new row in the place of a deleted one.
    func continueAsUpdate(_ object: NSManagedObject) {
        guard let former = object.extras?.deletedRow else { return }
        changes.becomeChanged(object, in: former.row)
        // Only what differs from the deleted row was set by anyone.
        forgetUnchanged(object)
    }

    /// Has a new object take another key at the next attempt.
    private func giveUpKey(_ object: NSManagedObject) {
        registry.unregister(object)
        object.giveUpKey()
        if let objectID = object.extras?.objectID, !objectID.isTemporaryID { object.extras?.objectID = nil }
    }

    // MARK: - Uniqueness

    private func resolve(
        _ violation: SaveConflicts.ConstraintViolation, _ found: StoreConflicts, _ type: NSMergePolicyType
    ) {
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
                if let other = storedObject(existing, found.store), other !== object { delete(other) }
            } else {
                withdraw(object)
            }
        }
        processPendingChanges()
    }

    /// A new object takes the place of the row that has its unique values: its values are written over that row's.
    private func becomeRow(_ existing: Snapshot, _ object: NSManagedObject) {
        let layout = object.layout
        guard existing.row.rowLayoutIndex == layout.index else {
            discard(object)
            return
        }
        if let twin = registry.object(store: Int(object.storeNumber), root: layout.rootIndex, key: existing.key),
            twin !== object
        {
            // Another object already stands for the row: it is the one that stays.
            twin.fireFaultIfNeeded()
            adoptCommitted(existing, twin)
            for slot in 0..<layout.storedCount {
                let value = object.currentValue(slot)
                if !value.isNull, layout.slots[slot].kind != .toOne { twin.setTracked(value, slot: slot) }
            }
            moveRelationships(of: object, to: twin, replacing: true)
            discard(object)
            return
        }
        if let objectID = object.extras?.objectID {
            temporaryObjects[objectID.identity] = nil
            object.extras?.objectID = nil
        }
        changes.becomeChanged(object, in: existing.row)
        for slot in 0..<layout.storedCount where object.pending?.has(slot) == true {
            object.pending?.track(slot)
        }
        registry.register(object)
    }

    /// The object of this context that stands for a row of a store.
    private func storedObject(_ row: Snapshot, _ store: NSPersistentStore) -> NSManagedObject? {
        guard let store = registry.store(number: store.number), let modelLayout else { return nil }
        return object(with: NSManagedObjectID(key: row.key, layout: modelLayout.layouts[row.row.rowLayoutIndex], store: store))
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
    private func discard(_ object: NSManagedObject) {
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
        changes.discard(object)
        if object.storeNumber >= 0 { registry.unregister(object) }
        changes.noteMergedDeletion(of: object)
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
        changes.takeBackChanges(of: object)
        restoreCommittedValues(object)
        changes.noteReread(object)
    }
}

extension NSManagedObject {
    /// Whether objects were added to its relationships, or it to theirs, since it was last saved.
    final var hasNewRelationships: Bool {
        layout.relationshipSlots.contains { slot in
            if layout.slots[slot].kind == .toOne, case .object? = pending?[slot] { return true }
            return extras?.toMany(slot)?.added.isEmpty == false
        }
    }
}
