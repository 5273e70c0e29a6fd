import Foundation

// Reading objects again, turning them into faults, and rolling back.

extension NSManagedObjectContext {
    func forgetAll() {
        let objects = registeredObjects
        let objectIDs =
            ContextNotification.didChange.isWanted(forObjects: objects.count) ? objects.map(\.objectID) : nil
        releaseObjects()
        advanceGeneration()
        guard let objectIDs else { return }
        NotificationCenter.default.post(
            name: ContextNotification.didChange.name, object: self, userInfo: [NSInvalidatedAllObjectsKey: objectIDs])
    }

    func readAgain(_ object: NSManagedObject, mergeChanges: Bool) {
        guard object.registry === registry else { return }
        if journal != nil { processPendingChanges() }
        asStep { readRowAgain(object, mergeChanges: mergeChanges) }
        propagateToReread()
        checkEnds()
    }

    /// Ends relationships to objects being deleted that a refresh has restored. Undo cannot revert
    /// that.
    private func propagateToReread() {
        if journal != nil, changes.awaitsPropagation { absorbing { processPendingChanges() } }
    }

    private func readRowAgain(_ object: NSManagedObject, mergeChanges: Bool) {
        if object.flags.contains(.discarded) {
            // It leaves the context in any case, and has no row.
            if !mergeChanges, !object.flags.contains(.deleted) { turnIntoFault(object) }
            return
        }
        // An object whose deletion was saved and undone has no row to read.
        if !mergeChanges || object.extras?.isRevived != true { continueAsUpdate(object) }
        if object.flags.contains(.inserted), !mergeChanges {
            // It has no row to restore: without its changes nothing is left of it.
            discard(object)
            if journal != nil { absorbing { processPendingChanges() } }
            turnIntoFault(object)
            return
        }
        defer { journal?.reread(object) }
        if object.flags.contains(.inserted) { return }
        let ends = UnsavedEnds(of: object)
        if mergeChanges, object.flags.contains(.updated) || object.flags.contains(.deleted), reload(object) {
            var settlement = EndSettlement(self)
            settlement.settle(ends, .change)
            object.awake(fromSnapshotEvents: .refresh)
        } else if mergeChanges, object.flags.isDisjoint(with: [.fault, .updated, .deleted]),
            object.extras?.transient != nil
        {
            // Transient values survive, so the row is read again at once.
            reload(object)
        } else {
            discardChanges(of: object)
        }
        changes.noteRefreshed(object)
    }

    /// Turns an object into a fault that is neither changed nor deleted.
    private func discardChanges(of object: NSManagedObject) {
        let ends = UnsavedEnds(of: object)
        defer { EndSettlement(self).takeBack(ends) }
        if object.flags.contains(.updated) {
            if object.hasNewRelationships, !reload(object) { leaveNewRelationships(of: object) }
            // Its discarded changes may have ended relationships to deleted objects. Apply the
            // delete rules again, also to relationships that another writer has set since the row
            // was read. Otherwise the row keeps foreign keys to missing rows.
            if changes.deleted.count > 0 {
                let row = (try? freshSnapshot(of: object)) ?? object.committedRow.map(Snapshot.init(retaining:))
                if let row { propagateDeletionsAgain(around: object) { .stored(row.value($0)) } }
            }
            changes.takeBackChanges(of: object)
        }
        if object.flags.contains(.deleted) { changes.takeBackDeletion(of: object) }
        turnIntoFault(object)
    }

    func readAllAgain() {
        if journal != nil { processPendingChanges() }
        defer { journal?.reread(changes.eventObjects) }
        asStep {
            var unsettled: [UnsavedEnds] = []
            for object in registry.allObjects() {
                // A new object with a permanent ID has no row to read again.
                if object.flags.contains(.inserted) { continue }
                if object.flags.isDisjoint(with: [.updated, .deleted]) {
                    turnIntoFault(object)
                    changes.noteRefreshed(object)
                } else if object.flags.contains(.updated) {
                    let ends = UnsavedEnds(of: object)
                    if reload(object) { unsettled.append(ends) } else { discardChanges(of: object) }
                    changes.noteRefreshed(object)
                } else if object.flags.contains(.inaccessible) {
                    // Its row was missing when it was last read, and may exist again.
                    changes.takeBackDeletion(of: object)
                    turnIntoFault(object)
                }
            }
            var settlement = EndSettlement(self)
            for ends in unsettled { settlement.settle(ends, .change) }
        }
        propagateToReread()
        checkEnds()
    }

    /// Drops an object's values and relationships. The next access reads the row cache, then the
    /// store.
    ///
    /// The object keeps its page: the row cache holds a row as long as an object of the row lives,
    /// fault or not.
    func turnIntoFault(_ object: NSManagedObject) {
        if object.flags.contains(.fault) {
            object.forgetRow()
            return
        }
        object.willTurnIntoFault()
        object.becomeFaultAgain()
        object.didTurnIntoFault()
    }

    /// Reads an object's row from the store again and keeps its pending changes. What cannot be
    /// read stays as it is.
    ///
    /// - Returns: false when others deleted the row, and nobody told this context so.
    @discardableResult
    func reload(_ object: NSManagedObject) -> Bool {
        do {
            if let current = try freshSnapshot(of: object) {
                forgetUnchanged(object)
                adoptCommitted(current, object)
                return true
            }
            let storeIsThere = registry.store(number: Int(object.storeNumber)) != nil
            return !storeIsThere || !object.flags.isDisjoint(with: .rowIsGone)
        } catch {
            // The next save throws the error, as for a fault that cannot be read.
            readFailure = error
            return true
        }
    }

    func adoptCommitted(_ current: Snapshot, _ object: NSManagedObject) {
        withExtendedLifetime(current) { adoptCommitted(current.row, object) }
    }

    /// Replaces an object's committed row. Pending changes stay. Relationships without changes are
    /// read again when needed.
    ///
    /// - Parameter current: A row whose page the caller keeps alive during the call.
    func adoptCommitted(_ current: RowPointer, _ object: NSManagedObject) {
        object.replaceCommittedRow(by: current)
        object.extras?.forgetDecoded()
        object.extras?.forgetDestinations()
        for (slot, state) in object.extras?.allToMany ?? [] where !state.hasChanges {
            object.extras?.setToMany(slot, nil)
        }
        for (_, state) in object.extras?.allToMany ?? [] where state.hasChanges { state.forgetMembers() }
        if changes.deleted.count > 0 { propagateDeletionsAgain(around: object, object.currentValue) }
    }

    /// Applies delete rules again around an object whose relationships another writer has changed.
    ///
    /// The row may refer to a deleted object now, or a deleted object to other rows: no reference
    /// to a deleted object may remain.
    ///
    /// - Parameter value: Returns the value of a slot.
    private func propagateDeletionsAgain(around object: NSManagedObject, _ value: (Int) -> PropertyValue) {
        changes.propagateAgain(object)
        for slot in object.layout.relationshipSlots where slot < object.layout.storedCount {
            guard object.layout.slots[slot].kind == .toOne, let reference = value(slot).reference else { continue }
            if let destination = registered(reference, near: object) { changes.propagateAgain(destination) }
        }
    }

    /// Releases all objects and breaks the reference cycles among them.
    func releaseObjects() {
        var objects = ContiguousArray(registry.allObjects())
        objects += changes.inserted.objects + changes.discarded
        objects.forEachUnretained { invalidate($0) }
        for object in changes.departed { object.giveUpReferences() }
        changes.removeAll()
        newObjects = NewObjectTable()
        conflictChecks.removeAll()
        retained.removeAll()
        recentBatches = RecentBatches()
        listeners.dropHeldMessages()
        siblingFaults = SiblingFaults()
        readFailure = nil
        takenOverCount += 1
        forgetUndoneChanges()
        registry.removeAll()
        tellListeners { $0.contextForgotObjects(self) }
    }

    func rollBack() {
        readFailure = nil
        // Undo must forget the pending changes, not register them.
        let journal = journal
        self.journal = nil
        asStep {
            for object in changes.rollBack() {
                if object.flags.contains(.discarded) {
                    endDiscarding(of: object)
                    continue
                }
                if object.flags.contains(.deletedElsewhere) {
                    endDeletion(of: object)
                    continue
                }
                restoreCommittedValues(object)
                changes.noteReread(object)
            }
        }
        newObjects.forgetAssignments()
        conflictChecks.removeAll()
        processPendingChanges()
        self.journal = journal
        forgetUndoneChanges()
    }

    /// Takes back an object's unsaved values.
    func restoreCommittedValues(_ object: NSManagedObject) {
        if object.pendingReference == nil, object.extrasReference == nil { return }
        if let extras = object.extras {
            extras.forgetDecoded()
            extras.forgetDestinations()
            extras.oneSided = nil
            restoreCommittedMembers(extras)
        }
        object.dropPendingValues()
        object.awake(fromSnapshotEvents: .rollback)
    }

    private func restoreCommittedMembers(_ extras: ObjectExtras) {
        for (slot, state) in extras.allToMany where state.hasChanges {
            if !state.isLoaded {
                extras.setToMany(slot, nil)
                continue
            }
            state.members.replaceAll(state.committedMembers)
            state.added.removeAll()
            state.removed.removeAll()
            state.committedOrder = nil
            state.orderChanged = false
        }
    }
}
