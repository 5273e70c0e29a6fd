import Foundation

// Undo: one action of the undo manager for each event, made of the changes to its objects.

extension NSManagedObjectContext {
    func undoGroup() {
        processPendingChanges()
        undoManager?.undo()
    }

    func redoGroup() {
        processPendingChanges()
        undoManager?.redo()
    }

    /// Begins or ends keeping the data that undoing changes needs.
    func undoManagerChanged(from former: UndoManager?) {
        if former === undoManager { return }
        if !activity.isProcessingChanges { processPendingChanges() }
        if let former {
            former.removeAllActions(withTarget: self)
            NotificationCenter.default.removeObserver(checkpointObserver as Any)
            checkpointObserver = nil
        }
        registry.tracksFormerValues = undoManager != nil
        guard let undoManager else {
            journal = nil
            return
        }
        let journal = ChangeJournal()
        // Changes made before this are not undone.
        journal.reread(changes.eventObjects)
        self.journal = journal
        checkpointObserver = NotificationCenter.default.addObserver(
            forName: .NSUndoManagerCheckpoint, object: undoManager, queue: nil
        ) { [weak self] _ in
            // The group that ends, or is about to be undone, contains the changes made until now.
            guard let self, self.isOnQueue || self.concurrencyType != .mainQueueConcurrencyType else { return }
            self.processPendingChanges()
        }
    }

    /// Registers the changes of the event that is about to end with the undo manager.
    func registerUndo() {
        guard let journal, let undoManager else { return }
        if undoManager.isUndoRegistrationEnabled {
            readMembers(journal.unreadMembers(of: changes.eventObjects))
            keepReferences(around: changes.eventObjects.filter { $0.flags.contains(.deleted) })
        }
        var changes = journal.record(changes.eventObjects)
        guard !changes.isEmpty, undoManager.isUndoRegistrationEnabled else { return }
        for index in changes.indices where changes[index].wasPresent && !changes[index].isPresent {
            let object = changes[index].object
            changes[index].assignedStore = newObjects.store(of: object)
            changes[index].references = object.makeKeptReferences()
        }
        undoManager.registerUndo(withTarget: self) { context in context.asStep { context.undo(changes) } }
    }

    /// Runs changes that a save makes and an undo does not revert.
    func absorbing<Value>(_ body: () throws -> Value) rethrows -> Value {
        guard let journal else { return try body() }
        return try journal.absorbing(body)
    }

    /// Reads relationships whose former members, or their order, are recorded nowhere else.
    ///
    /// - Parameter owners: objects by the name of the relationship.
    private func readMembers(_ owners: [String: [NSManagedObject]]) {
        for (name, owners) in owners {
            // If it cannot be read, added members count as new, and restored ones come last.
            do { try prefetch([name], of: owners) } catch { continue }
        }
    }

    /// Removes all undo actions: the objects are as they were, or have left the context.
    func forgetUndoneChanges() {
        guard let journal else { return }
        journal.forget()
        undoManager?.removeAllActions(withTarget: self)
    }

    /// Ends the undo group of a block on a private queue.
    func endUndoEvent() { undoManager?.endEvent() }

    // MARK: - Undoing

    /// Takes back the changes of one event, and registers an action that makes them again.
    private func undo(_ undone: [UndoneChange]) {
        let reached = takeReached(by: undone)
        let undone = reached.isEmpty ? undone : undone + reached.map(\.change)
        for change in undone.reversed() { changePresence(change) }
        let returned = undone.filter { $0.wasPresent && !$0.isPresent && isPresent($0.object) }.map(\.object)
        for object in returned { loseReferences(of: object) }
        for change in undone.reversed() where !change.object.flags.contains(.discarded) { restoreValues(change) }
        for object in returned { bringBackReferences(to: object) }
        for (owner, slot, change) in reached { rejoin(change.object, owner, owner.layout.slots[slot]) }
        endWhatLeads(to: undone.lazy.filter { !$0.wasPresent && $0.isPresent }.map(\.object))
        for change in undone.reversed() {
            let object = change.object
            leaveUnchanged(object)
            let event: NSSnapshotEventType =
                change.wasPresent == change.isPresent ? .undoUpdate : change.wasPresent ? .undoDeletion : .undoInsertion
            object.silently { object.awake(fromSnapshotEvents: event) }
        }
        processPendingChanges()
        // Only now: the action that makes the changes again has been registered.
        for change in undone where change.wasPresent {
            let object = change.object
            if object.flags.isDisjoint(with: [.known, .inEvent]), object.hasPendingValues {
                object.dropPendingValues()
            }
        }
    }

    private func changePresence(_ change: UndoneChange) {
        let object = change.object
        if change.wasPresent == change.isPresent { return }
        if !change.wasPresent {
            guard object.registry === registry, object.flags.isDisjoint(with: [.deleted, .discarded, .deletionSaved])
            else { return }
            // An object that turns out to be gone when its fault fires is not deleted again.
            object.fireFaultIfNeeded()
            guard object.flags.isDisjoint(with: .rowIsGone) else { return }
            if object.extras?.isRevived != true { continueAsUpdate(object) }
            // Reads the members now: the store no longer has them when the object comes back.
            for slot in object.layout.relationshipSlots where object.layout.slots[slot].kind.isToMany {
                _ = object.toManyMembers(slot)
            }
            // An undone insertion leaves nothing; a repeated deletion is pending unless saved.
            let isPending = undoManager?.isRedoing == true && object.extras?.deletedRow == nil
            changes.delete(object, propagating: false, keepsNew: isPending)
        } else if object.flags.contains(.deletionSaved) {
            guard object.registry === registry else { return }
            revive(object)
        } else if object.registry === registry, object.flags.contains(.deleted), !object.flags.contains(.discarded) {
            let wasChanged = object.hasChangesToSave
            if wasChanged { changes.undelete(object) } else { changes.takeBackDeletion(of: object) }
            changes.noteUndoneDeletion(of: object)
        } else if isPresent(object) {
            // A refresh took back the deletion without an undo action: a redo repeats it.
            changes.noteDeletionTakenBack(of: object)
        } else if object.registry == nil || object.registry === registry {
            insertAgain(object)
            if let store = change.assignedStore, registry.store(number: store.number) === store {
                newObjects.assign(object, to: store)
            }
        }
    }

    /// Whether an undeleted object is new in this context, or registered for its row.
    func isPresent(_ object: NSManagedObject) -> Bool {
        guard object.registry === registry, object.flags.isDisjoint(with: [.deleted, .discarded, .deletionSaved]) else {
            return false
        }
        return object.flags.contains(.inserted)
            || object.storeNumber >= 0
                && registry.object(store: Int(object.storeNumber), root: object.layout.rootIndex, key: object.key)
                    === object
    }

    /// Makes an object whose deletion was saved a new one, to be saved again under its former key.
    func revive(_ object: NSManagedObject) {
        let objectID = object.objectID
        if objectID.isTemporaryID || object.committedRow == nil {
            // The object is new again under the temporary ID by which the tree knows it, or under
            // the key of a row that it has never read.
            object.makeExtras().objectID = objectID
            if objectID.isTemporaryID { registry.noteTemporaryID(objectID, of: object) }
        }
        object.takeBackReferences()
        let values = (0..<object.layout.storedCount).map { slot -> PropertyValue in
            if object.layout.slots[slot].kind == .toOne {
                return formerDestination(of: object, slot).map(PropertyValue.object) ?? .null
            }
            return object.currentValue(slot)
        }
        changes.revive(object, values: values)
        registry.register(object)
        for (slot, state) in object.extras?.allToMany ?? [] where !object.layout.slots[slot].isTransient {
            state.becomeNew(with: state.members.objects)
        }
    }

    /// The former destination of a deleted object's relationship; nil if its row is gone.
    private func formerDestination(of object: NSManagedObject, _ slot: Int) -> NSManagedObject? {
        if let destination = object.toOne(slot) { return destination }
        guard let reference = object.currentValue(slot).reference, let layouts = modelLayout?.layouts,
            layouts.indices.contains(reference.layoutIndex), let source = rows(near: object)
        else { return nil }
        let layout = layouts[reference.layoutIndex]
        do {
            if try source.readRows([reference.key], of: layout).rows.isEmpty { return nil }
        } catch {
            readFailure = error
        }
        return fault(for: reference, of: layout, store: Int(object.storeNumber))
    }

    private func restoreValues(_ change: UndoneChange) {
        let object = change.object
        if object.flags.contains(.deletionSaved) || change.values.isEmpty && change.toMany.isEmpty { return }
        object.prepareForChange()
        for (slot, value) in change.values {
            object.extras?.setDecoded(slot, nil)
            var value = value
            if let destination = value.destination, isNoMore(destination) {
                noteLost(.init(owner: object, slot: slot), to: destination)
                value = .null
            }
            object.store(value, slot: slot)
            object.noteChange(slot)
        }
        for members in change.toMany {
            for member in members.gained { object.removeMember(member, slot: members.slot) }
            for member in members.lost {
                if isNoMore(member) {
                    noteLost(.init(owner: object, slot: members.slot, order: members.order), to: member)
                } else {
                    object.addMember(member, slot: members.slot, isKnownToBeNew: false)
                }
            }
            if let order = members.order { object.restoreOrder(order, slot: members.slot) }
            object.noteChange(members.slot)
        }
    }

    /// Makes an object unchanged that has nothing left to save.
    private func leaveUnchanged(_ object: NSManagedObject) {
        guard object.flags.contains(.updated), let pending = object.pending, !object.hasPersistentChanges,
            object.extras?.allToMany.contains(where: { $0.state.hasChanges }) != true
        else { return }
        // Values that were set without being tracked stay, and are saved with the object.
        for slot in 0..<object.layout.storedCount where pending.has(slot) {
            if object.differsFromCommitted(object.layout.slots[slot]) { return }
        }
        changes.takeBackUndoneChanges(of: object)
    }
}

extension NSManagedObject {
    /// Puts the members of an ordered relationship into an order; others stay, at the end.
    final func restoreOrder(_ order: some Sequence<NSManagedObject>, slot: Int) {
        reorder(to: toManyMembers(slot).objects.ordered(as: order), slot: slot)
    }
}
