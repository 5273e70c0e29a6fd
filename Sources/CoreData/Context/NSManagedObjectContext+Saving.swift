import Foundation

// Saving: hooks -> validation -> permanent keys -> one transaction per store -> snapshots -> hooks and notifications.

extension NSManagedObjectContext {
    private static let maximumWillSaveRounds = 1000
    private static let maximumConflictRounds = 16

    func saveChanges() throws {
        if isSaving {
            throw CoreDataErrors.make(
                .coreData, "The context\(nameInMessages) is being saved already.",
                recovery: "Do not call save() from willSave, didSave or an observer of the save's notifications.")
        }
        isSaving = true
        defer { isSaving = false }
        let coordinator = try requireCoordinator("save")
        try throwReadFailure()
        processPendingChanges()
        NotificationCenter.default.post(name: Self.willSaveObjectsNotification, object: self, userInfo: nil)
        processPendingChanges()
        try completeInverses(of: pendingObjects())
        try callWillSave()
        let objects = pendingObjects()
        try validate(objects)
        let outcome = try write(objects, coordinator)
        finish(outcome)
    }

    /// Throws what an accessor could not: what was changed since may rest on values that were not the store's.
    private func throwReadFailure() throws {
        guard let failure = readFailure else { return }
        readFailure = nil
        throw failure
    }

    /// Writes exactly the changes that a request names, without hooks before it and without validation.
    func write(_ request: NSSaveChangesRequest) throws {
        if isSaving {
            throw CoreDataErrors.make(.coreData, "The context\(nameInMessages) is being saved already.")
        }
        isSaving = true
        defer { isSaving = false }
        let coordinator = try requireCoordinator("save")
        try throwReadFailure()
        processPendingChanges()
        func named(_ objects: Set<NSManagedObject>?, among list: ChangeList) -> ContiguousArray<NSManagedObject> {
            guard let objects, !objects.isEmpty else { return [] }
            return list.objects.filter { objects.contains($0) }
        }
        var completed: ContiguousArray<NSManagedObject> = []
        func objects() throws -> SavedObjects {
            let deletions = named(request.deletedObjects, among: changes.deleted)
            var objects = SavedObjects(
                inserted: named(request.insertedObjects, among: changes.inserted),
                updated: named(request.updatedObjects, among: changes.updated).filter { $0.flags.isDisjoint(with: .rowIsGone) },
                deleted: deletions.filter { $0.flags.isDisjoint(with: .rowIsGone) },
                inaccessible: deletions.filter { !$0.flags.isDisjoint(with: .rowIsGone) })
            completed += try completeInverses(of: objects)
            objects.updated += completed.filter { $0.flags.contains(.updated) && !objects.updated.contains($0) }
            return objects
        }
        conflictChecks.formUnion(request.lockedObjects ?? [])
        finish(try write(objects(), coordinator, remaining: objects))
    }

    /// The objects that take part in one save.
    struct SavedObjects {
        var inserted: ContiguousArray<NSManagedObject>
        var updated: ContiguousArray<NSManagedObject>
        var deleted: ContiguousArray<NSManagedObject>
        /// Objects whose row was gone already: nothing to write.
        var inaccessible: ContiguousArray<NSManagedObject>
    }

    /// All pending changes.
    private func pendingObjects() -> SavedObjects {
        SavedObjects(
            inserted: changes.inserted.objects, updated: changes.updated.objects,
            deleted: changes.deleted.objects.filter { $0.flags.isDisjoint(with: .rowIsGone) },
            inaccessible: changes.deleted.objects.filter { !$0.flags.isDisjoint(with: .rowIsGone) })
    }

    private func callWillSave() throws {
        var round = 0
        while true {
            var called = false
            for list in [changes.inserted.objects, changes.updated.objects, changes.deleted.objects] {
                list.forEachUnretained { object in
                    guard object.flags.contains(.changedInSave) else { return }
                    object.unmarkChangedInSave()
                    guard object.accessorTable.hooks.contains(.willSave) else { return }
                    called = true
                    object.willSave()
                }
            }
            if !called { return }
            processPendingChanges()
            round += 1
            if round > Self.maximumWillSaveRounds {
                let culprit = (changes.inserted.objects + changes.updated.objects + changes.deleted.objects)
                    .first { $0.flags.contains(.changedInSave) }
                throw CoreDataErrors.make(
                    .coreData,
                    "willSave of \(culprit?.layout.name ?? "an object") \(culprit?.descriptionOfIdentity ?? "") changes the object each "
                        + "time it is called: the save cannot come to an end.",
                    recovery: "Compare before you set a property in willSave, or use setPrimitiveValue(_:forKey:).")
            }
        }
    }

    private func validate(_ objects: SavedObjects) throws {
        var errors: [NSError] = []
        func collect(_ body: () throws -> Void) {
            do { try body() } catch { errors += ValidationErrors.flattened(error as NSError) }
        }
        for object in objects.deleted { collect { try object.validateForDelete() } }
        objects.inserted.forEachUnretained { object in
            if object.accessorTable.hooks.contains(.validation) { collect { try object.validateForInsert() } }
        }
        objects.updated.forEachUnretained { object in
            if object.accessorTable.hooks.contains(.validation) { collect { try object.validateForUpdate() } }
        }
        // A failed save leaves the hooks to be called again.
        if errors.isEmpty { return }
        markUnsaved(objects)
        if errors.count == 1 { throw errors[0] }
        throw ValidationErrors.combined(errors)
    }

    private func markUnsaved(_ objects: SavedObjects) {
        for object in objects.inserted { object.markChangedInSave() }
        for object in objects.updated { object.markChangedInSave() }
        for object in objects.deleted { object.markChangedInSave() }
    }

    // MARK: - Writing

    /// What was written, by store.
    struct WrittenChanges {
        var objects: SavedObjects
        var stores: [(store: NSPersistentStore, batch: ObjectBatch, outcome: SaveOutcome)] = []
    }

    /// A save batch and the objects that its changes came from, index by index.
    final class ObjectBatch {
        let batch = SaveBatch()
        @exclusivity(unchecked) var inserted: ContiguousArray<NSManagedObject> = []
        @exclusivity(unchecked) var updated: ContiguousArray<NSManagedObject> = []
        @exclusivity(unchecked) var deleted: ContiguousArray<NSManagedObject> = []
        @exclusivity(unchecked) var checked: ContiguousArray<NSManagedObject> = []
    }

    /// - Parameter remaining: the objects to write after a merge policy has changed what is pending; nil for all of them.
    private func write(
        _ initial: SavedObjects, _ coordinator: NSPersistentStoreCoordinator, remaining: (() throws -> SavedObjects)? = nil
    ) throws -> WrittenChanges {
        var objects = initial
        var rounds = 0
        while true {
            do {
                return try writeOnce(objects, coordinator)
            } catch let conflicts as StoreConflicts {
                rounds += 1
                if rounds > Self.maximumConflictRounds {
                    markUnsaved(objects)
                    throw CoreDataErrors.make(
                        .managedObjectMerge,
                        "The save met conflicts again and again: other writers changed the same rows \(rounds) times meanwhile.")
                }
                do {
                    try resolve(conflicts)
                    if remaining == nil { try completeInverses(of: pendingObjects()) }
                    // The resolution may have changed objects that were not to be saved before.
                    try callWillSave()
                } catch {
                    markUnsaved(objects)
                    throw error
                }
                objects = try remaining?() ?? pendingObjects()
                try validate(objects)
            } catch {
                markUnsaved(objects)
                throw error
            }
        }
    }

    /// Conflicts of one store with the objects they concern.
    struct StoreConflicts: Error, @unchecked Sendable {
        // Sendable: thrown and caught within one save, on one thread.
        let store: NSPersistentStore
        let batch: ObjectBatch
        let conflicts: SaveConflicts
    }

    private func writeOnce(_ objects: SavedObjects, _ coordinator: NSPersistentStoreCoordinator) throws -> WrittenChanges {
        try assignKeys(to: objects.inserted, coordinator)
        var batches: [Int: ObjectBatch] = [:]
        var order: [Int] = []
        var last: (number: Int16, batch: ObjectBatch)?
        func batch(for object: NSManagedObject) -> ObjectBatch {
            if let last, last.number == object.storeNumber { return last.batch }
            let number = Int(object.storeNumber)
            let batch: ObjectBatch
            if let known = batches[number] {
                batch = known
            } else {
                batch = ObjectBatch()
                batch.batch.contextName = name
                batch.batch.transactionAuthor = transactionAuthor
                batches[number] = batch
                order.append(number)
            }
            last = (object.storeNumber, batch)
            return batch
        }
        var restored: [(object: NSManagedObject, slot: Int)] = []
        var isOneStore = true
        objects.inserted.forEachUnretained { if $0.storeNumber != objects.inserted[0].storeNumber { isOneStore = false } }
        if isOneStore, let first = objects.inserted.first {
            let batch = batch(for: first)
            batch.inserted = objects.inserted
            batch.batch.inserts.reserveCapacity(objects.inserted.count)
        }
        try objects.inserted.forEachUnretained { object in
            let batch = batch(for: object)
            let takesAPlace = object.extrasReference?._withUnsafeGuaranteedRef { $0.deletedRow != nil } ?? false
            if takesAPlace { restored += try restoredDestinations(of: object) }
            batch.batch.inserts.append(try insertion(of: object, takesAPlace: takesAPlace))
            if !isOneStore { batch.inserted.append(object) }
            collectRelationshipChanges(of: object, into: batch.batch)
            if takesAPlace { collectPlaces(of: object, into: batch.batch) }
        }
        for object in objects.updated {
            restored += try restoredDestinations(of: object)
            guard let change = try update(of: object) else { continue }
            let batch = batch(for: object)
            batch.batch.updates.append(change)
            batch.updated.append(object)
            collectRelationshipChanges(of: object, into: batch.batch)
        }
        for (object, slot) in restored {
            let batch = batch(for: object)
            if batch.updated.contains(where: { $0 === object }) { continue }
            batch.batch.updates.append(
                RowChange(
                    layout: object.layout, key: object.key, base: object.committedRow.map(Snapshot.init(retaining:)), values: nil,
                    touchesVersionOnly: true, changedToMany: [slot]))
            batch.updated.append(object)
        }
        for object in objects.deleted {
            let batch = batch(for: object)
            batch.batch.deletes.append(
                RowChange(
                    layout: object.layout, key: object.key, base: object.committedRow.map(Snapshot.init(retaining:)), values: nil))
            batch.deleted.append(object)
        }
        // A fault has no values that could be outdated.
        for object in conflictChecks where !object.hasChanges && object.storeNumber >= 0 && object.committedRow != nil {
            let batch = batch(for: object)
            batch.batch.versionChecks.append(
                RowChange(
                    layout: object.layout, key: object.key, base: object.committedRow.map(Snapshot.init(retaining:)), values: nil))
            batch.checked.append(object)
        }
        var written = WrittenChanges(objects: objects)
        for number in order {
            guard let batch = batches[number] else { continue }
            guard let store = registry.store(number: number), let snapshotStore = store.snapshotStore else {
                throw removedStore(batch)
            }
            if store.isReadOnly {
                throw CoreDataErrors.make(
                    .persistentStoreSave,
                    "The store at \(store.url?.path ?? "?") is read-only: its \(batch.batch.inserts.count) inserted, "
                        + "\(batch.batch.updates.count) changed and \(batch.batch.deletes.count) deleted objects cannot be saved.",
                    recovery: store.readOnlyReason.recovery, userInfo: [NSAffectedStoresErrorKey: [store]])
            }
            if snapshotStore.needsObjects {
                batch.batch.origin = SaveOrigin(
                    context: self, inserted: Array(batch.inserted), updated: Array(batch.updated), deleted: Array(batch.deleted),
                    checked: Array(batch.checked))
                for object in batch.inserted where object.objectID.isTemporaryID {
                    object.makeExtras().objectID = NSManagedObjectID(key: object.key, layout: object.layout, store: store)
                }
            }
            do {
                let outcome = try snapshotStore.save(batch.batch)
                written.stores.append((store, batch, outcome))
            } catch let conflicts as SaveConflicts {
                if written.stores.isEmpty { throw StoreConflicts(store: store, batch: batch, conflicts: conflicts) }
                throw incomplete(written, failed: store, batch, reason: "it reported conflicts with other writers")
            } catch {
                if written.stores.isEmpty { throw error }
                throw incomplete(written, failed: store, batch, reason: error.localizedDescription)
            }
        }
        for added in coordinator.addedStores where !order.contains(added.store.number) && !added.store.isReadOnly {
            try added.store.snapshotStore?.saveMetadata()
        }
        return written
    }

    private func removedStore(_ batch: ObjectBatch) -> NSError {
        let object = batch.inserted.first ?? batch.updated.first ?? batch.deleted.first
        return CoreDataErrors.make(
            .coreData,
            "The store of \(object?.layout.name ?? "an object") p\(object?.key ?? 0) was removed from the coordinator: its changes cannot be saved.",
            userInfo: [NSAffectedObjectsErrorKey: Array(batch.inserted + batch.updated + batch.deleted)])
    }

    /// Some stores have saved, one has not: what is saved is finished, the rest stays pending.
    private func incomplete(
        _ written: WrittenChanges, failed store: NSPersistentStore, _ batch: ObjectBatch, reason: String
    ) -> NSError {
        finish(written)
        return CoreDataErrors.make(
            .persistentStoreIncompleteSave,
            "The store at \(store.url?.path ?? "?") could not be saved (\(reason)), but \(written.stores.count) other store(s) were.",
            recovery: "The changes that were not saved are still pending: resolve the cause and save again.",
            userInfo: [
                NSAffectedStoresErrorKey: [store],
                NSAffectedObjectsErrorKey: Array(batch.inserted + batch.updated + batch.deleted),
            ])
    }

    /// New objects that take their keys from one counter.
    private struct KeyGroup {
        let store: NSPersistentStore
        let root: EntityLayout
        /// Owned by the list of all objects.
        var members: ContiguousArray<Unmanaged<NSManagedObject>> = []
    }

    /// Gives every new object a store and a permanent key.
    private func assignKeys(to objects: ContiguousArray<NSManagedObject>, _ coordinator: NSPersistentStoreCoordinator) throws {
        defer { withExtendedLifetime(objects) {} }
        var groups: [KeyGroup] = []
        var lastLayout: ObjectIdentifier?
        var lastGroup = -1
        try objects.forEachUnretained { object in
            if object.storeNumber >= 0 { return }
            // Neighbours are usually of one entity.
            if !assignedStores.isEmpty || lastLayout != ObjectIdentifier(object.layout) {
                let layout = object.layout
                if layout.isAbstract {
                    throw CoreDataErrors.make(
                        .coreData,
                        "The object \(object.descriptionOfIdentity) cannot be saved: its entity \(layout.name) is abstract.",
                        recovery: "Make an object of one of its subentities, and delete this one.",
                        userInfo: [NSAffectedObjectsErrorKey: [object]])
                }
                let store = try coordinator.store(for: layout, assigned: assignedStores[ObjectIdentifier(object)])
                let root = layout.model.layouts[layout.rootIndex]
                lastLayout = ObjectIdentifier(layout)
                lastGroup = groups.firstIndex { $0.store === store && $0.root === root } ?? groups.count
                if lastGroup == groups.count { groups.append(KeyGroup(store: store, root: root)) }
            }
            groups[lastGroup].members.append(.passUnretained(object))
        }
        for group in groups {
            let (store, root) = (group.store, group.root)
            guard let snapshotStore = store.snapshotStore else { continue }
            if store.isReadOnly {
                throw CoreDataErrors.make(
                    .persistentStoreSave,
                    "The store at \(store.url?.path ?? "?") is read-only: new objects of \(root.name) cannot be saved in it.",
                    recovery: store.readOnlyReason.recovery, userInfo: [NSAffectedStoresErrorKey: [store]])
            }
            if snapshotStore.needsObjects {
                let members = group.members.map { $0.takeUnretainedValue() }
                let keys = try snapshotStore.obtainKeys(members.count, for: root, origin: NewObjects(members))
                for (object, key) in zip(members, keys) {
                    object.take(key: key, store: store.number)
                }
                continue
            }
            var key = try snapshotStore.reserveKeys(group.members.count, for: root)
            for member in group.members {
                member._withUnsafeGuaranteedRef { $0.take(key: key, store: store.number) }
                key += 1
            }
        }
    }

    /// Gives new objects permanent IDs before they are saved; objects that have one are left alone.
    ///
    /// - Throws: errors of the store that hands out the keys.
    public func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
        let coordinator = try requireCoordinator("obtain permanent IDs")
        let fresh = objects.filter { $0.registry === registry && $0.flags.contains(.inserted) && $0.storeNumber < 0 }
        try assignKeys(to: ContiguousArray(fresh), coordinator)
        for object in objects where object.flags.contains(.inserted) && object.storeNumber >= 0 {
            guard object.extras?.objectID?.isTemporaryID ?? true else { continue }
            guard let store = registry.store(number: Int(object.storeNumber)) else { continue }
            if let former = object.extras?.objectID { temporaryObjects[former.identity] = nil }
            object.makeExtras().objectID = NSManagedObjectID(key: object.key, layout: object.layout, store: store)
            registry.register(object)
        }
    }

    // MARK: Changes of rows

    private func insertion(of object: NSManagedObject, takesAPlace: Bool) throws -> RowChange {
        object.fireFaultIfNeeded()
        let layout = object.layout
        // Retained: transformers of the program run meanwhile.
        let pending = object.withPending { $0 }
        if layout.hasDefaults {
            for slot in 0..<layout.storedCount where !pending.has(slot) { pending[slot] = layout.defaultValue(slot) }
        }
        let values = try storeValues(pending, object, onlyChanged: false)
        var change = RowChange(layout: layout, key: object.key, base: nil, values: values)
        if takesAPlace, let deletedRow = object.extras?.deletedRow { change.insertedVersion = Self.version(after: deletedRow) }
        return change
    }

    /// The version of a row that takes the place of a deleted one.
    ///
    /// Others may still hold any version that the deleted row had, and must not take the new row for theirs. No one knows the
    /// last of these versions, so that the new one is far from all of them, and from those of other rows that took this place.
    private static func version(after row: Snapshot) -> Int64 {
        let (version, overflow) = row.version.addingReportingOverflow(Int64.random(in: 1 << 10..<1 << 24))
        return overflow ? 2 : version
    }

    /// The destinations that an object has again because the resolution of a conflict wrote its former values over others', with
    /// the slot of the inverse. They gain a member, as if it had been added to them, so that who deletes them meanwhile meets a conflict.
    ///
    /// What is gone, or belongs to another object, becomes nil.
    private func restoredDestinations(of object: NSManagedObject) throws -> [(object: NSManagedObject, slot: Int)] {
        guard let pending = object.pending else { return [] }
        var restored: [(object: NSManagedObject, slot: Int)] = []
        for slot in object.layout.convertedSlots where pending.has(slot) {
            // What was set by anyone is an object.
            guard case .reference(let reference) = pending[slot], let layout = modelLayout?.layouts[reference.layoutIndex],
                let store = registry.store(number: Int(object.storeNumber))
            else { continue }
            let destination = self.object(with: NSManagedObjectID(key: reference.key, layout: layout, store: store))
            if destination.flags.contains(.inserted) { continue }
            guard !destination.isDeleted, let current = try freshSnapshot(of: destination) else {
                pending[slot] = .null
                continue
            }
            let property = object.layout.slots[slot]
            guard property.inverseSlot >= 0 else { continue }
            let inverse = property.inverseSlot(in: current.layout)
            if !property.inverseIsToMany {
                // Both sides have a column, and only one of them is this object's.
                let leadsBack = !current.isNull(inverse) && current.reference(inverse).key == object.key
                if !leadsBack { pending[slot] = .null }
                continue
            }
            if !destination.flags.contains(.updated) {
                destination.fireFaultIfNeeded()
                adoptCommitted(current, destination)
            }
            restored.append((destination, inverse))
        }
        return restored
    }

    /// Nil when no persistent value differs from the store.
    private func update(of object: NSManagedObject) throws -> RowChange? {
        let layout = object.layout
        let base = object.committedRow.map(Snapshot.init(retaining:))
        let hasToMany = object.extrasReference?._withUnsafeGuaranteedRef { $0.hasToMany } ?? false
        let changed = hasToMany ? object.extras?.allToMany.filter { $0.state.hasChanges && !layout.slots[$0.slot].isTransient } : nil
        let changedToMany = changed?.map(\.slot) ?? []
        if let pending = object.pending {
            let values = try storeValues(pending, object, onlyChanged: true)
            if !values.mask.isEmpty {
                return RowChange(layout: layout, key: object.key, base: base, values: values, changedToMany: changedToMany)
            }
        }
        guard !changedToMany.isEmpty else { return nil }
        return RowChange(
            layout: layout, key: object.key, base: base, values: nil, touchesVersionOnly: true, changedToMany: changedToMany)
    }

    /// The pending values in the store's form; the same object when nothing needs converting.
    private func storeValues(_ pending: PendingValues, _ object: NSManagedObject, onlyChanged: Bool) throws -> PendingValues {
        let layout = object.layout
        if !onlyChanged {
            // A new object: only relationships and transformable values need converting.
            if layout.convertedSlots.isEmpty { return pending }
            var copy: PendingValues?
            for slot in layout.convertedSlots where pending.has(slot) {
                let value = pending[slot]
                switch value {
                case .object: if let destination = value.destination { try checkSaved(destination, from: object, slot) }
                case .custom: break
                default: continue
                }
                let made = copy ?? pending.copy()
                copy = made
                made[slot] = try PropertyConversion.rowValue(value, slot: layout.slots[slot])
            }
            return copy ?? pending
        }
        var copy: PendingValues?
        for slot in 0..<layout.storedCount where pending.has(slot) {
            let value = pending[slot]
            var converted: PropertyValue?
            switch value {
            case .object:
                if let destination = value.destination { try checkSaved(destination, from: object, slot) }
                converted = try PropertyConversion.rowValue(value, slot: layout.slots[slot])
            case .custom: converted = try PropertyConversion.rowValue(value, slot: layout.slots[slot])
            default: break
            }
            if case .integer(let integer) = value, let row = object.committedRow, layout.slots[slot].kind.isInteger {
                if Int64(bitPattern: row[slot]) != integer || layout.isNull(row, slot) { continue }
            }
            if object.equals(value, object.committedValue(slot), layout.slots[slot]) {
                if copy == nil { copy = pending.copy() }
                copy?.remove(slot)
            } else if let converted {
                if copy == nil { copy = pending.copy() }
                copy?[slot] = converted
            }
        }
        return copy ?? pending
    }

    /// A to-one destination must be a row of the same store by the end of this save.
    private func checkSaved(_ destination: NSManagedObject, from object: NSManagedObject, _ slot: Int) throws {
        if destination.storeNumber == object.storeNumber, object.storeNumber >= 0 { return }
        let place = "\(object.layout.name).\(object.layout.slots[slot].name)"
        if destination.storeNumber >= 0, object.storeNumber >= 0 {
            throw CoreDataErrors.make(
                .managedObjectExternalRelationship,
                "\(place) of \(object.descriptionOfIdentity) leads to \(destination.descriptionOfIdentity), which is in another store.",
                recovery: "Relationships cannot cross stores: use a fetched property, or assign both objects to one store.",
                userInfo: [NSAffectedObjectsErrorKey: [object, destination]])
        }
        throw CoreDataErrors.make(
            .managedObjectReferentialIntegrity,
            "\(place) of \(object.descriptionOfIdentity) leads to a \(destination.layout.name) that is not part of the context and was never saved.",
            recovery: "Insert the destination into the context, or set the relationship to nil.",
            userInfo: [NSAffectedObjectsErrorKey: [object]])
    }

    private func collectRelationshipChanges(of object: NSManagedObject, into batch: SaveBatch) {
        let hasToMany = object.extrasReference?._withUnsafeGuaranteedRef { $0.hasToMany } ?? false
        guard hasToMany, let extras = object.extras else { return }
        let layout = object.layout
        for (slot, state) in extras.allToMany where state.hasChanges {
            let property = layout.slots[slot]
            if property.isTransient { continue }
            let isOrdered = property.kind == .orderedToMany
            let hasToOneInverse = property.inverseSlot >= 0 && !property.inverseIsToMany
            if hasToOneInverse, !isOrdered { continue }
            var change = RelationshipChange(layout: layout, slot: slot, ownerKey: object.key)
            if isOrdered, state.orderChanged, state.isLoaded {
                change.order = state.members.objects.filter { !$0.isDeleted && $0.storeNumber >= 0 }.map(reference)
            }
            if hasToOneInverse || isWritingSide(property, layout) {
                change.added = state.added.objects.filter { !$0.isDeleted && $0.storeNumber >= 0 }.map(reference)
                change.removed = state.removed.objects.filter { $0.storeNumber >= 0 }.map(reference)
            }
            if change.order != nil || !change.added.isEmpty || !change.removed.isEmpty {
                batch.relationshipChanges.append(change)
            }
        }
    }

    /// Puts a row that takes the place of a deleted one at the end of the ordered relationships that its destinations have to it:
    /// its former places went with the deletion.
    private func collectPlaces(of object: NSManagedObject, into batch: SaveBatch) {
        for slot in object.layout.relationshipSlots where slot < object.layout.storedCount {
            let property = object.layout.slots[slot]
            guard property.inverseSlot >= 0, let destination = object.toOne(slot) else { continue }
            let inverse = property.inverseSlot(in: destination.layout)
            guard destination.layout.slots[inverse].kind == .orderedToMany, destination.extras?.toMany(inverse)?.hasChanges != true
            else { continue }
            var change = RelationshipChange(layout: destination.layout, slot: inverse, ownerKey: destination.key)
            change.added = [reference(object)]
            batch.relationshipChanges.append(change)
        }
    }

    private func reference(_ object: NSManagedObject) -> RowReference {
        RowReference(key: object.key, layoutIndex: object.layout.index)
    }

    /// Of the two sides of a many-to-many relationship one reports additions and removals: the ordered one, or else the
    /// one whose entity and slot come first.
    func isWritingSide(_ property: PropertySlot, _ layout: EntityLayout) -> Bool {
        guard property.inverseSlot >= 0, property.destinationIndex >= 0 else { return true }
        let inverse = layout.model.layouts[property.destinationIndex].slots[property.inverseSlot]
        let isOrdered = property.kind == .orderedToMany
        let inverseIsOrdered = inverse.kind == .orderedToMany
        if isOrdered != inverseIsOrdered { return isOrdered }
        // The declaring entities decide, so that objects of subentities agree.
        let mine = (property.property.entity.name ?? "", property.name)
        let theirs = (inverse.property.entity.name ?? "", inverse.name)
        return mine <= theirs
    }

    // MARK: - After the transaction

    private func finish(_ written: WrittenChanges) {
        // Rows are read by address: their pages must live until every object has its own reference.
        defer { withExtendedLifetime(written) {} }
        let savedSets = changes.takeLastSets()
        var insertedObjects: ContiguousArray<NSManagedObject> = []
        var updatedObjects: ContiguousArray<NSManagedObject> = []
        var deletedObjects: ContiguousArray<NSManagedObject> = []
        for (store, batch, outcome) in written.stores {
            insertedObjects.appendOrAdopt(batch.inserted)
            updatedObjects.appendOrAdopt(batch.updated)
            deletedObjects.appendOrAdopt(batch.deleted)
            var index = 0
            batch.inserted.forEachUnretained { object in
                adopt(outcome.inserted.rows[index], object)
                index += 1
                if !temporaryObjects.isEmpty, let objectID = object.extras?.objectID, objectID.isTemporaryID {
                    temporaryObjects[objectID.identity] = nil
                    object.extras?.objectID = nil
                }
            }
            changes.endInsertion(of: batch.inserted)
            register(batch.inserted, store)
            index = 0
            batch.updated.forEachUnretained { object in
                adopt(outcome.updated.rows[index], object)
                index += 1
            }
            changes.endUpdate(of: batch.updated)
            for object in batch.deleted {
                store.snapshotStore?.rowCaches[object.layout.rootIndex].remove(object.key)
                registry.unregister(object)
                changes.endDeletion(of: object)
            }
        }
        for object in written.objects.inaccessible {
            changes.endDeletion(of: object)
            registry.unregister(object)
        }
        // Objects that were touched without a persistent change are clean again, too.
        for object in written.objects.updated where object.flags.contains(.updated) && !object.hasPersistentChanges {
            guard object.extras?.allToMany.contains(where: { $0.state.hasChanges }) != true else { continue }
            changes.takeBackChanges(of: object)
            object.dropPendingValues()
            for (_, state) in object.extras?.allToMany ?? [] { state.changesWereSaved() }
            updatedObjects.append(object)
        }
        assignedStores.removeAll()
        conflictChecks.removeAll()
        written.objects.inserted.forEachUnretained { object in
            if object.accessorTable.hooks.contains(.didSave), !object.flags.contains(.inserted) { object.didSave() }
        }
        written.objects.updated.forEachUnretained { object in
            if object.accessorTable.hooks.contains(.didSave), !object.flags.contains(.updated) { object.didSave() }
        }
        for object in written.objects.deleted { object.didSave() }
        postDidSave(savedSets, insertedObjects, updatedObjects, deletedObjects)
    }

    /// The saved row becomes the object's committed row, and its pending changes are done.
    private func adopt(_ row: RowPointer, _ object: NSManagedObject) {
        if object.pendingReference != nil, !object.layout.convertedSlots.isEmpty { keepObjects(of: object) }
        object.adoptSavedRow(row)
        object.extrasReference?._withUnsafeGuaranteedRef { extras in
            if extras.deletedRow != nil { extras.deletedRow = nil }
            guard extras.hasToMany else { return }
            for (_, state) in extras.allToMany { state.changesWereSaved() }
        }
    }

    /// Destinations stay reachable without a look-up, and transformable values keep their identity.
    private func keepObjects(of object: NSManagedObject) {
        object.pendingReference?._withUnsafeGuaranteedRef { pending in
            for slot in object.layout.convertedSlots {
                if let destination = pending.destination(slot) {
                    object.withExtras { $0.setToOne(slot, destination) }
                } else if case .custom(let custom) = pending[slot] {
                    object.withExtras { $0.setDecoded(slot, custom.value) }
                }
            }
        }
    }

    private func register(_ objects: ContiguousArray<NSManagedObject>, _ store: NSPersistentStore) {
        var start = 0
        while start < objects.count {
            let root = objects[start].layout.rootIndex
            var end = start + 1
            while end < objects.count, objects[end].layout.rootIndex == root { end += 1 }
            registry.withTable(store: store.number, root: root) { table in
                table.reserve(table.count + end - start)
                objects.forEachUnretained(in: start..<end) { table.insert(.passUnretained($0), key: $0.key) }
            }
            start = end
        }
        noteUse(of: objects, store: store.number)
        if retainsRegisteredObjects { retained.formUnion(objects) }
    }

    private static func identifiers(of objects: ContiguousArray<NSManagedObject>) -> Set<NSManagedObjectID> {
        var set = Set<NSManagedObjectID>(minimumCapacity: objects.count + objects.count / 2)
        var token: StoreToken?
        var number: Int16 = -1
        objects.forEachUnretained { object in
            if let known = object.extrasReference?._withUnsafeGuaranteedRef({ $0.objectID }) {
                set.insert(known)
                return
            }
            if object.storeNumber != number {
                number = object.storeNumber
                token = object.registry?.store(number: Int(number))?.token
            }
            guard let token else { return }
            set.insert(NSManagedObjectID(key: object.key, layout: object.layout, token: token))
        }
        return set
    }

    private func postDidSave(
        _ savedSets: (inserted: Set<NSManagedObject>?, updated: Set<NSManagedObject>?),
        _ insertedObjects: ContiguousArray<NSManagedObject>, _ updatedObjects: ContiguousArray<NSManagedObject>,
        _ deletedObjects: ContiguousArray<NSManagedObject>
    ) {
        let count = insertedObjects.count + updatedObjects.count + deletedObjects.count
        if ContextNotification.didSave.isWanted(forObjects: count) {
            let insertedSet = savedSets.inserted.flatMap { $0.count == insertedObjects.count ? $0 : nil } ?? Self.set(of: insertedObjects)
            let updatedSet = savedSets.updated.flatMap { $0.count == updatedObjects.count ? $0 : nil } ?? Self.set(of: updatedObjects)
            NotificationCenter.default.post(
                name: ContextNotification.didSave.name, object: self,
                userInfo: [
                    NSInsertedObjectsKey: insertedSet, NSUpdatedObjectsKey: updatedSet,
                    NSDeletedObjectsKey: Self.set(of: deletedObjects),
                ])
        }
        if ContextNotification.didSaveIDs.isWanted(forObjects: count) {
            NotificationCenter.default.post(
                name: ContextNotification.didSaveIDs.name, object: self,
                userInfo: [
                    NSInsertedObjectIDsKey: Self.identifiers(of: insertedObjects),
                    NSUpdatedObjectIDsKey: Self.identifiers(of: updatedObjects),
                    NSDeletedObjectIDsKey: Self.identifiers(of: deletedObjects),
                ])
        }
        ContextObservers.shared.contextDidSave(self, insertedObjects, updatedObjects, deletedObjects)
    }
}
