import Foundation

/// One attempt to write changes to their stores: keys for new objects, a batch for each store, one
/// transaction each.
///
/// It changes nothing in the objects except their keys; `SaveCompletion` then updates them and
/// notifies observers.
struct SaveAttempt {
    private let context: NSManagedObjectContext
    private let coordinator: NSPersistentStoreCoordinator
    private let objects: SavedObjects
    /// The numbers of the stores, in the order in which they are saved, and below, their batches.
    private var order: [Int] = []
    private var batches: [ObjectBatch] = []

    init(_ objects: SavedObjects, _ coordinator: NSPersistentStoreCoordinator, _ context: NSManagedObjectContext) {
        self.objects = objects
        self.coordinator = coordinator
        self.context = context
    }

    /// - Throws: `StoreConflicts` if other writers were first; other errors as they are.
    mutating func run() throws -> WrittenChanges {
        try KeyAssignment(coordinator, context).assign(to: objects.inserted)
        try collect()
        return try save()
    }

    /// Returns the index of the batch of an object's store.
    private mutating func place(for object: NSManagedObject) -> Int {
        let number = Int(object.storeNumber)
        if let known = order.firstIndex(of: number) { return known }
        var batch = ObjectBatch()
        batch.batch.author = ChangeAuthor(contextName: context.name, transactionAuthor: context.transactionAuthor)
        order.append(number)
        batches.append(batch)
        return batches.count - 1
    }

    /// Puts the changes of all objects into the batches of their stores.
    private mutating func collect() throws {
        let changes = RowChanges(context)
        var restored: [(object: NSManagedObject, slot: Int)] = []
        var unwrittenEnds: [NSManagedObject] = []
        var isOneStore = true
        objects.inserted.forEachUnretained {
            if $0.storeNumber != objects.inserted[0].storeNumber { isOneStore = false }
        }
        if isOneStore, let first = objects.inserted.first {
            let place = place(for: first)
            batches[place].inserted = objects.inserted
            var target = batches[place].batch
            target.inserts.reserveCapacity(objects.inserted.count)
            try objects.inserted.forEachUnretained {
                try Self.collectInsertion(of: $0, changes, into: &target, &restored, &unwrittenEnds)
            }
            batches[place].batch = target
        } else {
            for object in objects.inserted {
                let place = place(for: object)
                try Self.collectInsertion(of: object, changes, into: &batches[place].batch, &restored, &unwrittenEnds)
                batches[place].inserted.append(object)
            }
        }
        for object in objects.updated {
            restored += try changes.restoredDestinations(of: object)
            guard let change = try changes.update(of: object) ?? changes.transientUpdate(of: object) else { continue }
            let place = place(for: object)
            batches[place].batch.updates.append(change)
            batches[place].updated.append(object)
            changes.collectRelationshipChanges(of: object, into: &batches[place].batch)
            changes.collectPlaces(of: object, change.values, into: &batches[place].batch)
            if let values = change.values { unwrittenEnds += try changes.unwrittenEnds(of: object, values) }
        }
        for (object, slot) in restored {
            let place = place(for: object)
            if batches[place].updated.contains(where: { $0 === object }) { continue }
            batches[place].batch.updates.append(changes.row(of: object, touching: [slot]))
            batches[place].updated.append(object)
        }
        for object in objects.deleted {
            let place = place(for: object)
            batches[place].batch.deletes.append(try changes.deletion(of: object))
            batches[place].deleted.append(object)
            unwrittenEnds += try changes.unwrittenEnds(of: object, nil)
        }
        check(unwrittenEnds, changes)
    }

    /// Makes the store check the versions of rows that this save does not write.
    ///
    /// - Parameter unwrittenEnds: Objects to check in addition to those in `conflictChecks`.
    private mutating func check(_ unwrittenEnds: [NSManagedObject], _ changes: RowChanges) {
        // Some objects are not checked. The store number of another context's object may denote
        // another store here. A fault has no values that could be outdated. A row that the
        // resolution of a conflict has found deleted is settled: checking it again would cause an
        // endless conflict.
        let named = context.conflictChecks.filter {
            $0.registry === context.registry && $0.storeNumber >= 0 && $0.committedRow != nil
                && $0.flags.isDisjoint(with: [.rowIsGone, .deletionSaved])
        }
        let objects = named.union(unwrittenEnds)
        if objects.isEmpty { return }
        var written = Set<NSManagedObject>()
        for batch in batches {
            for list in [batch.inserted, batch.updated, batch.deleted] { written.formUnion(list) }
        }
        for object in objects.subtracting(written) {
            let place = place(for: object)
            batches[place].batch.versionChecks.append(changes.row(of: object))
            batches[place].checked.append(object)
        }
    }

    @inline(__always)
    private static func collectInsertion(
        of object: NSManagedObject, _ changes: RowChanges, into batch: inout SaveBatch,
        _ restored: inout [(object: NSManagedObject, slot: Int)], _ unwrittenEnds: inout [NSManagedObject]
    ) throws {
        let takesAPlace = object.extrasReference?.withObject { $0.deletedRow != nil } ?? false
        if takesAPlace { restored += try changes.restoredDestinations(of: object) }
        let change = try changes.insertion(of: object, takesAPlace: takesAPlace)
        batch.inserts.append(change)
        changes.collectRelationshipChanges(of: object, into: &batch)
        changes.collectPlaces(of: object, change.values, into: &batch)
        if let values = change.values { unwrittenEnds += try changes.unwrittenEnds(of: object, values) }
    }

    /// A store and the batch to write to it.
    private struct Target {
        let store: NSPersistentStore
        let rows: any RowSource
        let batch: ObjectBatch
        /// Whether only the store's metadata was changed.
        var isMetadataAlone = false
    }

    /// The error that kept a store from being saved, other than conflicts.
    private struct StoreFailure: Error {
        /// Thrown and caught within one call of the context.
        let target: Unchecked<Target>
        let error: any Error
    }

    /// Saves the batches, one transaction for each store.
    private func save() throws -> WrittenChanges {
        var written = WrittenChanges(objects: objects)
        do {
            try Self.save(try targets()[...], &written)
        } catch let found as StoreConflicts {
            if written.stores.isEmpty { throw found }
            throw incomplete(
                written, failed: found.store, found.batch.value, reason: "it reported conflicts with other writers")
        } catch let failure as StoreFailure {
            if written.stores.isEmpty { throw failure.error }
            throw incomplete(
                written, failed: failure.target.value.store, failure.target.value.batch,
                reason: failure.error.localizedDescription)
        }
        return written
    }

    /// Returns the stores in the order in which they are committed.
    private func targets() throws -> [Target] {
        var targets = try zip(order, batches).map { number, batch -> Target in
            guard let store = context.registry.store(number: number), let rows = context.rows(ofStore: number) else {
                throw CoreDataErrors.storeIsGone(ofChanged: Array(batch.inserted + batch.updated + batch.deleted))
            }
            // Only the context that writes to a store asks whether it is read-only, not a child.
            if store.isReadOnly, context.parentContext == nil {
                throw CoreDataErrors.storeIsReadOnly(
                    [store],
                    "The store \(StoreName.text(type: store.type, url: store.url)) is read-only: its "
                        + "\(batch.batch.inserts.count) inserted, "
                        + "\(batch.batch.updates.count) changed and \(batch.batch.deletes.count) deleted objects "
                        + "cannot be saved."
                )
            }
            var batch = batch
            if rows.needsObjects {
                batch.batch.origin = SaveOrigin(
                    context: context, inserted: Array(batch.inserted), updated: Array(batch.updated),
                    deleted: Array(batch.deleted),
                    checked: Array(batch.checked))
                for object in batch.inserted where object.key > 0 && object.extras?.objectID?.isTemporaryID ?? true {
                    context.adoptPermanentID(object, in: store)
                }
            }
            return Target(store: store, rows: rows, batch: batch)
        }
        targets += metadataTargets()
        if targets.count < 2 || context.parentContext != nil { return targets }
        // Each store is locked while the others are written, so every save locks them in the same
        // order. Stores of the program's own classes come last: the program must not be called
        // while other stores are locked.
        return targets.sorted { first, second in
            if first.rows.needsObjects != second.rows.needsObjects { return second.rows.needsObjects }
            return first.store.identifier ?? "" < second.store.identifier ?? ""
        }
    }

    /// Returns the stores of which only the metadata was changed.
    private func metadataTargets() -> [Target] {
        if context.parentContext != nil { return [] }
        return coordinator.addedStores.compactMap { added in
            if added.store.isReadOnly || order.contains(added.store.number) { return nil }
            guard let rows = context.rows(ofStore: added.store.number), rows.hasChangedMetadata else { return nil }
            return Target(store: added.store, rows: rows, batch: ObjectBatch(), isMetadataAlone: true)
        }
    }

    /// Saves stores so that none is committed before all are written. The commit of each store
    /// waits for those before it, so that a conflict in one leaves all as they are.
    private static func save(_ targets: ArraySlice<Target>, _ written: inout WrittenChanges) throws {
        guard let target = targets.last else { return }
        do {
            if target.isMetadataAlone { return try target.rows.saveMetadata { try save(targets.dropLast(), &written) } }
            let outcome =
                targets.count == 1
                ? try target.rows.save(target.batch.batch)
                : try target.rows.save(target.batch.batch) { try save(targets.dropLast(), &written) }
            written.stores.append((target.store, target.batch, outcome))
        } catch let conflicts as SaveConflicts {
            throw StoreConflicts(store: target.store, batch: Unchecked(target.batch), conflicts: conflicts)
        } catch {
            if error is StoreConflicts || error is StoreFailure { throw error }
            throw StoreFailure(target: Unchecked(target), error: error)
        }
    }

    /// Finishes the saved changes when one store could not be saved; the rest stays pending.
    private func incomplete(
        _ written: WrittenChanges, failed store: NSPersistentStore, _ batch: ObjectBatch, reason: String
    ) -> NSError {
        SaveCompletion(context).finish(written)
        return CoreDataErrors.make(
            .persistentStoreIncompleteSave,
            "The store at \(store.url?.path ?? "?") could not be saved (\(reason)), but \(written.stores.count) "
                + "other store(s) were.",
            recovery: "The changes that were not saved are still pending: resolve the cause and save again.",
            userInfo: [
                NSAffectedStoresErrorKey: [store],
                NSAffectedObjectsErrorKey: Array(batch.inserted + batch.updated + batch.deleted),
            ])
    }
}
