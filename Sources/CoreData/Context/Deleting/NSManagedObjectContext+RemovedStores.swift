import Foundation

// Handles a context's objects when their store is removed from the coordinator.

/// A store that was removed, and the new places of its rows.
struct RemovedStore: Sendable {
    let number: Int
    let moved: MovedRows?
}

extension NSManagedObjectContext: CoordinatorClient {
    func noteRemoval(of store: NSPersistentStore, rows moved: MovedRows?) {
        guard let registry = sharedRegistry.current else { return }
        registry.remember(store.token, ofStore: store.number)
        registry.noteRemoval(RemovedStore(number: store.number, moved: moved))
    }

    /// Follows the removal at once on the context's queue, otherwise when the queue is free.
    func storesWereRemoved() {
        // The current registry: the context may work on another coordinator when the block runs.
        guard let registry = sharedRegistry.current else { return }
        if isOnQueue {
            followRemovedStores()
        } else {
            // The block only compares it.
            let registry = Unchecked(registry)
            gate.async { [reference] in
                guard let self = reference.object, self.registry === registry.value else { return }
                CurrentContext.run(in: self) { _ = self.followRemovedStores() }
            }
        }
    }

    /// Moves the objects of removed stores with their rows, and releases the others. Called on the
    /// context's queue.
    ///
    /// - Returns: Whether the context had not yet processed the removal of a store.
    @discardableResult
    func followRemovedStores() -> Bool {
        let removed = registry.takeRemovedStores()
        if removed.isEmpty { return false }
        if let parentContext, removed.contains(where: { $0.moved != nil }) {
            // A child reads the rows of its parent.
            _ = parentContext.run(neededBy: self) { parentContext.followRemovedStores() }
        }
        for store in removed { follow(store) }
        processPendingChanges()
        return true
    }

    private func follow(_ removed: RemovedStore) {
        let objects = registry.allObjects().filter { Int($0.storeNumber) == removed.number }
        for object in objects { registry.unregister(object) }
        parentRows[removed.number] = nil
        recentBatches.remove(ofStore: removed.number)
        invalidateObjects(removed.moved.map { move(objects, $0) } ?? objects)
    }

    private func invalidateObjects(_ objects: [NSManagedObject]) {
        let gone = Set(objects)
        changes.remove(objects) { gone.contains($0) }
        conflictChecks.subtract(gone)
        retained.subtract(gone)
        for object in objects {
            if object.registry === registry { registry.unregister(object) }
            invalidate(object)
        }
        changes.noteInvalidated(objects)
    }
}

// MARK: - Rows that moved to another store

extension NSManagedObjectContext {
    /// Gives objects the keys that their rows have in another store.
    ///
    /// - Returns: The objects that have no row there.
    private func move(_ objects: [NSManagedObject], _ moved: MovedRows) -> [NSManagedObject] {
        advanceGeneration()
        registry.identities.follow(moved)
        newObjects.reassign(from: moved.former, to: moved.store)
        var left: [NSManagedObject] = []
        var new: [NSManagedObject] = []
        var inPlace: [NSManagedObject] = []
        for object in objects {
            if object.flags.contains(.inserted) {
                // It has no row: its key was only reserved.
                object.giveUpKey()
                if let extras = object.extras {
                    (extras.objectID, extras.deletedRow, extras.isRevived) = (nil, nil, false)
                }
                new.append(object)
            } else if let key = moved.key(of: object.key, root: object.layout.rootIndex) {
                if object.flags.contains(.fault) { object.forgetRowAndPage() }
                object.takePermanentKey(key, store: moved.store.number)
                if object.extras?.objectID?.isTemporaryID == false { object.extras?.objectID = nil }
                registry.register(object)
                inPlace.append(object)
            } else {
                left.append(object)
            }
        }
        for object in objects { replaceReferences(of: object, moved) }
        noteUse(of: inPlace, store: moved.store.number)
        // They get permanent IDs now, or the next attempt to save assigns some.
        try? obtainKeys(for: new)
        return left + takeRows(of: inPlace, moved)
    }

    private func replaceReferences(of object: NSManagedObject, _ moved: MovedRows) {
        guard let pending = object.pending else { return }
        for values in [pending, pending.former?.pending] {
            values?.replaceReferences { moved.reference($0, in: object.layout.model) }
        }
    }

    /// Reads the rows of loaded objects from their new places. Changes by other contexts since then
    /// are merged.
    ///
    /// - Returns: The objects whose rows are missing.
    private func takeRows(of objects: [NSManagedObject], _ moved: MovedRows) -> [NSManagedObject] {
        let loaded = objects.filter { !$0.flags.contains(.fault) && $0.committedRow != nil }
        var left: [NSManagedObject] = []
        for (_, objects) in Dictionary(grouping: loaded, by: \.layout.index) {
            let layout = objects[0].layout
            let read: FetchedRows
            do {
                read = try rows(ofStore: moved.store.number)?.readRows(objects.map(\.key), of: layout) ?? FetchedRows()
            } catch {
                // The objects then read as nil, and the next save throws the error.
                readFailure = error
                read = FetchedRows()
            }
            // Rows are read by address: pages must live until each object has its own reference.
            defer { withExtendedLifetime(read) {} }
            let rows = Dictionary(
                read.rows.map { (registry.currentKey($0.rowKey), $0) }, uniquingKeysWith: { first, _ in first })
            for object in objects {
                guard let row = rows[object.key] else {
                    left.append(object)
                    continue
                }
                take(row, object, moved)
            }
        }
        return left
    }

    private func take(_ row: RowPointer, _ object: NSManagedObject, _ moved: MovedRows) {
        let former = object.committedRow.map(Snapshot.init(retaining:))
        let isSame = former?.hasSameValues(as: Snapshot(retaining: row), comparesDerived: false) { former, now in
            moved.reference(former, in: object.layout.model)?.key == now.key
        }
        if isSame == true { return object.replaceCommittedRow(by: row) }
        forgetUnchanged(object)
        adoptCommitted(row, object)
        journal?.reread(object)
        changes.noteReread(object)
    }
}
