import Foundation

/// What the earlier attempts of a save tell the resolution of its conflicts.
final class PastConflicts {
    /// Objects that the program has not changed: destinations of what it has changed, which are saved with that.
    var drawnIn: Set<NSManagedObject>
    /// Objects that had a conflict.
    var settled: Set<NSManagedObject> = []
    /// Objects that are not to be deleted after all, by the conflicts that are being resolved.
    var lostDeletions: Set<NSManagedObject> = []
    /// Faults that were made for conflicts to name: the program had no object of their rows.
    var described: Set<NSManagedObject> = []
    /// Objects that have got the values of new ones, or were new themselves, in the place of rows with the same unique values.
    var replaced: Set<NSManagedObject> = []
    /// What conflicting objects had changed in relationships, and whose word counts where the two ends do not agree.
    fileprivate(set) var unsettled: [(ends: UnsavedEnds, rule: EndSettlement.Rule)] = []

    func settle(_ ends: UnsavedEnds, for type: NSMergePolicyType) {
        let storeWins = type == .mergeByPropertyStoreTrumpMergePolicyType || type == .rollbackMergePolicyType
        unsettled.append((ends, storeWins ? .store : .change))
    }

    init(drawnIn: ContiguousArray<NSManagedObject>) { self.drawnIn = Set(drawnIn) }
}

extension NSManagedObjectContext {
    /// Whether conflicts are told to a merge policy of the program's own, which goes on with the objects that they name.
    var hasPolicyOfItsOwn: Bool { (mergePolicy as? NSMergePolicy).map { type(of: $0) != NSMergePolicy.self } ?? false }
}

/// Conflicts of one attempt to save: told to the merge policy, then settled as its type says.
struct ConflictResolution {
    let context: NSManagedObjectContext
    let found: StoreConflicts
    let past: PastConflicts

    init(_ found: StoreConflicts, after past: PastConflicts, in context: NSManagedObjectContext) {
        self.found = found
        self.past = past
        self.context = context
    }

    /// Resolves the conflicts of one attempt to save, so that the next attempt can succeed, or throws.
    ///
    /// The policy settles them, so that a subclass can go on from the result; what it leaves is settled afterwards.
    ///
    /// - Returns: the objects that have a change now, and had none, because the other end of a relationship was settled.
    @discardableResult
    func resolve() throws -> ContiguousArray<NSManagedObject> {
        let policy = context.mergePolicy as? NSMergePolicy ?? .error
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
            described.resolution = { type in resolve(object, conflict, type) }
            rowConflicts.append(described)
        }
        for violation in found.conflicts.violations {
            let described = constraintConflict(violation)
            described.resolution = { type in resolve(violation, type) }
            constraintConflicts.append(described)
        }
        for conflict in rowConflicts {
            let object = conflict.sourceObject
            // What was set to the value that it had is not to be saved: others may have changed it, or deleted where it leads. But what
            // others have set it to meanwhile, too, is what it is to have.
            if past.settled.insert(object).inserted { context.forgetUnchanged(object) }
            // The cached rows are proven stale: whoever refreshes the objects must get the store's rows.
            context.rows(ofStore: found.store.number)?.forgetCachedRow(object.key, of: object.layout)
        }
        if rowConflicts.isEmpty, constraintConflicts.isEmpty { return [] }
        try policy.resolve(mergeConflicts: rowConflicts + constraintConflicts)
        for conflict in rowConflicts { conflict.settle(policy.mergeType) }
        for conflict in constraintConflicts { conflict.settle(policy.mergeType) }
        if !past.lostDeletions.isEmpty {
            context.takeBackNullification(around: past.lostDeletions)
            past.lostDeletions = []
        }
        let changed = settleEnds()
        // Told before the next attempt: what is changed in answer is part of it.
        context.processPendingChanges()
        return changed
    }

    /// Has both ends of the relationships of objects in conflict agree, now that all have their rows.
    private func settleEnds() -> ContiguousArray<NSManagedObject> {
        var settlement = EndSettlement(context)
        for (ends, rule) in past.unsettled { settlement.settle(ends, rule) }
        past.unsettled = []
        return settlement.changed
    }

    /// What a merge policy is told about a row.
    ///
    /// When the coordinator knows the newer row already, because another context saved it, the conflict is between the
    /// context and the coordinator's cache and has no persisted snapshot; otherwise it is between that cache and the store.
    /// A cache without the row has had a newer one than the object's, which went with the context that saved it.
    private func mergeConflict(
        _ conflict: SaveConflicts.RowConflict, _ object: NSManagedObject, _ store: NSPersistentStore
    ) -> NSMergeConflict {
        let cached = context.rows(ofStore: store.number)?.cachedRow(object.key, of: object.layout)
        let isKnown = cached.map { $0.version == conflict.current?.version } ?? true
        let newVersion = Int(conflict.current?.version ?? 0)
        let currentValues = conflict.current.map { values(of: $0, near: object) }
        let cachedValues = isKnown ? currentValues : cached.map { values(of: $0, near: object) }
        let persistedValues = isKnown ? nil : currentValues
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
                if let modelLayout = context.modelLayout, let store = context.registry.store(number: Int(object.storeNumber)) {
                    result[slot.name] = NSManagedObjectID(
                        key: context.registry.currentKey(reference.key), layout: modelLayout.layouts[reference.layoutIndex], store: store)
                }
            default: result[slot.name] = PropertyConversion.object(from: value, kind: slot.kind) ?? NSNull()
            }
        }
        return result
    }

    private func constraintConflict(_ violation: SaveConflicts.ConstraintViolation)
        -> NSConstraintConflict
    {
        let objects =
            violation.inserts.map { found.batch.inserted[$0] } + violation.updates.map { found.batch.updated[$0] }
        var databaseObject: NSManagedObject?
        if let existing = violation.existing, let modelLayout = context.modelLayout,
            let store = context.registry.store(number: found.store.number)
        {
            let layout = modelLayout.layouts[existing.row.rowLayoutIndex]
            let isKnown = context.registry.object(store: store.number, root: layout.rootIndex, key: existing.key) != nil
            let object = context.object(with: NSManagedObjectID(key: existing.key, layout: layout, store: store))
            if !isKnown { past.described.insert(object) }
            databaseObject = object
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
        past.settle(UnsavedEnds(of: object), for: type)
        guard let current = conflict.current else {
            // Deleted by others.
            switch conflict.change {
            case .insert: break
            case .delete: finishDeletion(object)
            case .update where objectWins && object.flags.contains(.updated) && !isOnlyNullified(object):
                recreate(object)
                context.journal?.reread(object)
            default: finishDeletion(object)
            }
            return
        }
        if conflict.change == .insert {
            // Two contexts gave the deleted row a successor: from here on it is a row that both have changed.
            guard current.row.rowLayoutIndex == object.layout.index else { return context.discard(object) }
            context.continueAsUpdate(object)
        }
        defer { noteReread(object) }
        let former = object.committedRow.map(Snapshot.init(retaining:))
        switch conflict.change {
        case .check:
            context.adoptCommitted(current, object)
        case .delete:
            if !objectWins {
                context.changes.takeBackDeletion(of: object)
                past.lostDeletions.insert(object)
                // What was changed before the deletion goes with it.
                context.restoreCommittedValues(object)
            } else if let former {
                forgetDestinations(of: object, former, current)
            }
            context.adoptCommitted(current, object)
        case .update where !object.flags.contains(.updated):
            // A destination of what was changed.
            context.adoptCommitted(current, object)
        case .insert, .update:
            mergeRow(current, former, object, type)
        }
        object.awake(fromSnapshotEvents: .mergePolicy)
    }

    /// Values of others have come into an object: they are told, and are what later changes are undone to.
    func noteReread(_ object: NSManagedObject) {
        context.changes.noteRefreshed(object)
        context.journal?.reread(object)
    }

    private func mergeRow(
        _ current: Snapshot, _ former: Snapshot?, _ object: NSManagedObject, _ type: NSMergePolicyType
    ) {
        let layout = object.layout
        switch type {
        case .rollbackMergePolicyType:
            context.changes.takeBackChanges(of: object)
            context.restoreCommittedValues(object)
        case .mergeByPropertyStoreTrumpMergePolicyType:
            if let former, let pending = object.pending {
                for slot in 0..<layout.storedCount where pending.has(slot) {
                    if !object.equals(current.value(slot), former.value(slot)) {
                        pending.remove(slot)
                    }
                }
            }
        case .overwriteMergePolicyType where !past.drawnIn.contains(object) && !isOnlyNullified(object):
            // The whole object as it is in memory is written.
            if let former {
                for slot in 0..<layout.storedCount where object.pending?.has(slot) != true {
                    let value = existing(.stored(former.value(slot)), object)
                    if !object.equals(.stored(current.value(slot)), value, layout.slots[slot]) {
                        object.store(value, slot: slot)
                        object.pending?.track(slot)
                    }
                }
            }
        default:
            if let former { forgetNullification(of: object, former, current) }
        }
        context.adoptCommitted(current, object)
    }

    /// Leaves relationships as others have set them that were to end only because what they led to before is deleted.
    private func forgetNullification(of object: NSManagedObject, _ former: Snapshot, _ current: Snapshot) {
        guard let pending = object.pending else { return }
        for slot in object.layout.relationshipSlots where slot < object.layout.storedCount && pending.has(slot) {
            guard object.currentValue(slot).isNull, case .reference(let reference) = former.value(slot),
                !object.equals(current.value(slot), former.value(slot)), isBeingDeleted(reference, object)
            else { continue }
            pending.remove(slot)
        }
    }

    /// Has the delete rules of an object that is still to be deleted look at where others have led it.
    private func forgetDestinations(of object: NSManagedObject, _ former: Snapshot, _ current: Snapshot) {
        guard let pending = object.pending else { return }
        for slot in object.layout.relationshipSlots where slot < object.layout.storedCount && pending.has(slot) {
            if !object.equals(current.value(slot), former.value(slot)) { pending.remove(slot) }
        }
    }

    /// The row is gone, and so is the object.
    private func finishDeletion(_ object: NSManagedObject) {
        if !object.flags.contains(.deleted) { context.leaveNewRelationships(of: object) }
        context.endDeletion(of: object)
        context.changes.noteMergedDeletion(of: object)
    }

    /// A value that a row had, or nil for a destination whose own row is gone since: it must not be written again.
    private func existing(_ value: PropertyValue, _ object: NSManagedObject) -> PropertyValue {
        guard let reference = value.reference, let modelLayout = context.modelLayout,
            modelLayout.layouts.indices.contains(reference.layoutIndex),
            let source = context.rows(near: object)
        else { return value }
        let layout = modelLayout.layouts[reference.layoutIndex]
        if let destination = context.registry.object(store: Int(object.storeNumber), root: layout.rootIndex, key: reference.key),
            !destination.flags.isDisjoint(with: [.inserted, .updated])
        {
            // The same save writes it, again if need be.
            return value
        }
        do {
            return try source.readRows([reference.key], of: layout).rows.isEmpty ? .null : value
        } catch {
            context.readFailure = error
            return value
        }
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
        if let layout = context.modelLayout?.layouts[reference.layoutIndex],
            let destination = context.registry.object(store: Int(object.storeNumber), root: layout.rootIndex, key: reference.key),
            Self.isDeletedHere(destination)
        {
            return true
        }
        return existing(.stored(.reference(reference)), object).isNull
    }

    /// Saves a changed object whose row was deleted as a new row with the same key.
    private func recreate(_ object: NSManagedObject) {
        let values = (0..<object.layout.storedCount).map { existing(object.currentValue($0), object) }
        context.changes.becomeNew(object, values: values)
        // The deletion took the row out of all its relationships; what was added since is left.
        for (slot, state) in object.extras?.allToMany ?? [] where !object.layout.slots[slot].isTransient {
            let added = state.added.objects
            state.changesWereSaved()
            state.isLoaded = true
            state.members.replaceAll(added)
            for member in added { state.added.appendNew(member) }
        }
    }

    /// Has a new object take another key at the next attempt.
    private func giveUpKey(_ object: NSManagedObject) {
        context.registry.unregister(object)
        object.giveUpKey()
        if let objectID = object.extras?.objectID, !objectID.isTemporaryID { object.extras?.objectID = nil }
    }
}
