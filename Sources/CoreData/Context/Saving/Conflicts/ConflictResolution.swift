import Foundation

/// The results of a save's earlier attempts that the resolution of its conflicts needs.
final class PastConflicts {
    /// Objects that are saved only as destinations of changed objects.
    var drawnIn: Set<NSManagedObject>
    /// Objects that had a conflict.
    var settled: Set<NSManagedObject> = []
    /// Objects whose deletion the conflicts being resolved have taken back.
    var lostDeletions: Set<NSManagedObject> = []
    /// Faults that were made to describe conflicts: the program had no object of their rows.
    var described: Set<NSManagedObject> = []
    /// Objects that took the values, or the place, of rows with the same unique values.
    var replaced: Set<NSManagedObject> = []
    /// The relationship changes of conflicting objects, and the end that decides.
    fileprivate(set) var unsettled: [(ends: UnsavedEnds, rule: EndSettlement.Rule)] = []

    func settle(_ ends: UnsavedEnds, for type: NSMergePolicyType) {
        let storeWins = type == .mergeByPropertyStoreTrumpMergePolicyType || type == .rollbackMergePolicyType
        unsettled.append((ends, storeWins ? .store : .change))
    }

    init(drawnIn: ContiguousArray<NSManagedObject>) { self.drawnIn = Set(drawnIn) }
}

extension NSManagedObjectContext {
    /// Whether the policy is the program's own and may use objects that conflicts describe.
    var hasPolicyOfItsOwn: Bool { (mergePolicy as? NSMergePolicy).map { type(of: $0) != NSMergePolicy.self } ?? false }
}

/// Resolves the conflicts of one attempt to save, by the merge policy, then by its type.
struct ConflictResolution {
    let context: NSManagedObjectContext
    let found: StoreConflicts
    let past: PastConflicts

    init(_ found: StoreConflicts, after past: PastConflicts, in context: NSManagedObjectContext) {
        self.found = found
        self.past = past
        self.context = context
    }

    /// Resolves the conflicts of one attempt to save, so that the next attempt can succeed, or
    /// throws.
    ///
    /// The policy settles the conflicts, so that a subclass can work with the result. Conflicts
    /// that it leaves are settled afterwards.
    ///
    /// - Returns: The objects that had no change before and have one now, because the other end of
    ///   a relationship was settled.
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
            if conflict.change == .insert, found.batch.value.inserted[conflict.index].extras?.deletedRow == nil {
                // Another writer used the key without reserving it: its row is unrelated.
                giveUpKey(found.batch.value.inserted[conflict.index])
                continue
            }
            let object =
                switch conflict.change {
                case .insert: found.batch.value.inserted[conflict.index]
                case .update: found.batch.value.updated[conflict.index]
                case .delete: found.batch.value.deleted[conflict.index]
                case .check: found.batch.value.checked[conflict.index]
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
            // A value that was set to its former value must not be saved: another writer may have
            // changed it, or deleted its destination. But if another writer has set the same new
            // value, the object gets that value.
            if past.settled.insert(object).inserted { context.forgetUnchanged(object) }
            // The cached rows are stale: a refresh of the objects must return the store's rows.
            context.rows(ofStore: found.store.number)?.forgetCachedRow(object.key, of: object.layout)
        }
        if rowConflicts.isEmpty, constraintConflicts.isEmpty { return [] }
        try policy.resolve(mergeConflicts: rowConflicts + constraintConflicts)
        for conflict in rowConflicts { conflict.resolution.take()?(policy.mergeType) }
        for conflict in constraintConflicts { conflict.resolution.take()?(policy.mergeType) }
        if !past.lostDeletions.isEmpty {
            context.takeBackNullification(around: past.lostDeletions)
            past.lostDeletions = []
        }
        let changed = settleEnds()
        // Before the next attempt, which includes changes that observers make in response.
        context.processPendingChanges()
        return changed
    }

    /// Makes both ends of conflicting objects' relationships agree, now that they have rows.
    private func settleEnds() -> ContiguousArray<NSManagedObject> {
        var settlement = EndSettlement(context)
        for (ends, rule) in past.unsettled { settlement.settle(ends, rule) }
        past.unsettled = []
        return settlement.changed
    }

    /// Describes the conflict of a row to a merge policy.
    ///
    /// When the coordinator knows the newer row already, because another context saved it, the
    /// conflict is between the context and the coordinator's cache and has no persisted snapshot.
    /// Otherwise it is between that cache and the store. A cache without the row has had a newer
    /// one than the object's, which was removed with the context that saved it.
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
                objectSnapshot: values(of: deletedRow, near: object), cachedSnapshot: cachedValues,
                persistedSnapshot: persistedValues)
        }
        return NSMergeConflict(
            source: object, newVersion: newVersion, oldVersion: Int(object.committedRow?.rowVersion ?? 0),
            cachedSnapshot: cachedValues, persistedSnapshot: persistedValues)
    }

    /// Returns a row's attributes and to-one destinations (IDs), as merge policies get them.
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
                if let modelLayout = context.modelLayout,
                    let store = context.registry.store(number: Int(object.storeNumber))
                {
                    result[slot.name] = NSManagedObjectID(
                        key: context.registry.currentKey(reference.key),
                        layout: modelLayout.layouts[reference.layoutIndex], store: store)
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
            violation.inserts.map { found.batch.value.inserted[$0] }
            + violation.updates.map { found.batch.value.updated[$0] }
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
            // Another writer deleted the row.
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
            // Two contexts replaced the deleted row: it is treated as a row that both changed.
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
                // Changes made before the deletion are discarded with it.
                context.restoreCommittedValues(object)
            } else if let former {
                forgetDestinations(of: object, former, current)
            }
            context.adoptCommitted(current, object)
        case .update where !object.flags.contains(.updated):
            // The object is a destination of a changed object.
            context.adoptCommitted(current, object)
        case .insert, .update:
            mergeRow(current, former, object, type)
        }
        object.awake(fromSnapshotEvents: .mergePolicy)
    }

    /// Notes stored values of another writer, to which an undo of later changes returns.
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
            // Writes the whole object as it is in memory.
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

    /// Keeps relationships that another writer set and that only a deletion would end.
    private func forgetNullification(of object: NSManagedObject, _ former: Snapshot, _ current: Snapshot) {
        guard let pending = object.pending else { return }
        for slot in object.layout.relationshipSlots where slot < object.layout.storedCount && pending.has(slot) {
            guard object.currentValue(slot).isNull, case .reference(let reference) = former.value(slot),
                !object.equals(current.value(slot), former.value(slot)), isBeingDeleted(reference, object)
            else { continue }
            pending.remove(slot)
        }
    }

    /// Lets the delete rules of a deleted object find the destinations that another writer has set.
    private func forgetDestinations(of object: NSManagedObject, _ former: Snapshot, _ current: Snapshot) {
        guard let pending = object.pending else { return }
        for slot in object.layout.relationshipSlots where slot < object.layout.storedCount && pending.has(slot) {
            if !object.equals(current.value(slot), former.value(slot)) { pending.remove(slot) }
        }
    }

    /// Removes an object whose row was deleted.
    private func finishDeletion(_ object: NSManagedObject) {
        if !object.flags.contains(.deleted) { context.leaveNewRelationships(of: object) }
        context.endDeletion(of: object)
        context.changes.noteMergedDeletion(of: object)
    }

    /// Returns the former value of a row, or nil in place of a destination whose row was deleted
    /// since. Such a reference must not be written again.
    private func existing(_ value: PropertyValue, _ object: NSManagedObject) -> PropertyValue {
        guard let reference = value.reference, let modelLayout = context.modelLayout,
            modelLayout.layouts.indices.contains(reference.layoutIndex),
            let source = context.rows(near: object)
        else { return value }
        let layout = modelLayout.layouts[reference.layoutIndex]
        if let destination = context.registered(reference, near: object),
            !destination.flags.isDisjoint(with: [.inserted, .updated])
        {
            // The same save writes the destination, as a new row if necessary.
            return value
        }
        do {
            return try source.readRows([reference.key], of: layout).rows.isEmpty ? .null : value
        } catch {
            context.readFailure = error
            return value
        }
    }

    /// Whether all changes are relationships that ended because their destinations were deleted.
    /// Such changes are no reason to recreate a deleted row.
    private func isOnlyNullified(_ object: NSManagedObject) -> Bool {
        let layout = object.layout
        for slot in 0..<layout.storedCount where object.differsFromCommitted(layout.slots[slot]) {
            guard layout.slots[slot].kind == .toOne, object.currentValue(slot).isNull,
                case .reference(let reference) = object.committedValue(slot), isBeingDeleted(reference, object)
            else { return false }
        }
        for (slot, state) in object.extras?.allToMany ?? [] where state.hasChanges && !layout.slots[slot].isTransient {
            guard state.added.isEmpty, !state.removed.isEmpty, state.removed.objects.allSatisfy(Self.isDeletedHere)
            else { return false }
        }
        return true
    }

    private static func isDeletedHere(_ object: NSManagedObject) -> Bool {
        !object.flags.isDisjoint(with: [.deleted, .deletionSaved])
    }

    /// Whether the destination of an object is deleted in this context or has no row.
    private func isBeingDeleted(_ reference: RowReference, _ object: NSManagedObject) -> Bool {
        if let destination = context.registered(reference, near: object), Self.isDeletedHere(destination) {
            return true
        }
        return existing(.stored(.reference(reference)), object).isNull
    }

    /// Saves a changed object whose row was deleted as a new row with the same key.
    private func recreate(_ object: NSManagedObject) {
        let values = (0..<object.layout.storedCount).map { existing(object.currentValue($0), object) }
        context.changes.becomeNew(object, values: values)
        // The deletion ended all relationships: only members added since are left.
        for (slot, state) in object.extras?.allToMany ?? [] where !object.layout.slots[slot].isTransient {
            state.becomeNew(with: state.added.objects)
        }
    }

    /// Makes a new object get another key at the next attempt.
    private func giveUpKey(_ object: NSManagedObject) {
        context.registry.unregister(object)
        object.giveUpKey()
        if let objectID = object.extras?.objectID, !objectID.isTemporaryID { object.extras?.objectID = nil }
    }
}
