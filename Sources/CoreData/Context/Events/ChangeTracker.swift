/// The pending changes of a context, and its changes since pending changes were last processed.
///
/// Each object is in one of three lists at most, and its flags say in which one. This type changes
/// both together. The lists keep their objects alive. Objects that changed by merging or refreshing
/// are part of the event only.
///
/// It knows neither its context nor stores, and is used on the context's queue.
final class ChangeTracker {
    // Unchecked exclusivity: a tracker is confined to its context's queue, and nothing that runs
    // during a change of a list uses the tracker.

    /// Objects to be inserted by the next save, in order.
    @exclusivity(unchecked) private(set) var inserted = ChangeList()
    /// Changed objects that the stores have.
    @exclusivity(unchecked) private(set) var updated = ChangeList()
    /// Objects that the next save deletes, and deleted new objects, which leave the context with
    /// that save.
    @exclusivity(unchecked) private(set) var deleted = ChangeList()
    /// Objects deleted since the delete rules were last applied.
    @exclusivity(unchecked) private(set) var unpropagated: [NSManagedObject] = []
    /// Whether taking changes back may have removed members from objects' to-many relationships.
    /// The members still refer to the objects by unsaved changes of their own.
    private(set) var hasTakenBackMembers = false
    /// Objects that have left the context and still hold references to related objects.
    private(set) var departed: ContiguousArray<NSManagedObject> = []
    @exclusivity(unchecked) private var event = ContextEvent()
    var lastSets = LastEventSets()
    /// Objects that changed again after the event that is being sent to observers; nil while none
    /// is being sent.
    private var toldStates: [ObjectIdentifier: ToldState]?
    /// Called before the first object joins an event.
    var eventBegins: () -> Void = {}

    var hasChanges: Bool { inserted.count + updated.count + deleted.count > 0 }

    /// Whether a save would write anything. It writes nothing for a deleted new object, nor for a
    /// row that another context has deleted or that does not exist.
    var hasChangesToWrite: Bool {
        inserted.count + updated.count > 0 || deleted.objects.contains { $0.flags.isDisjoint(with: .unwritten) }
    }

    /// Whether observers are being notified of an event.
    var isTelling: Bool { toldStates != nil }

    /// Whether there are changes that were not processed.
    var isInEvent: Bool { !event.isEmpty || !unpropagated.isEmpty }

    /// Whether deletions are pending, propagated or not.
    var hasDeletions: Bool { deleted.count > 0 || !unpropagated.isEmpty }

    /// Forgets everything.
    func removeAll() {
        inserted.removeAll()
        updated.removeAll()
        deleted.removeAll()
        unpropagated.removeAll()
        departed.removeAll()
        event = ContextEvent()
        lastSets = LastEventSets()
    }

    /// Forgets objects that no longer belong to the context. The caller changes their flags.
    ///
    /// - Parameter isGone: Whether an object of the event is one of them.
    func remove(_ objects: [NSManagedObject], where isGone: (NSManagedObject) -> Bool) {
        for object in objects { remove(object) }
        unpropagated.removeAll(where: isGone)
        event.removeAll(where: isGone)
        lastSets = LastEventSets()
    }

    /// Removes an object from the list it is in.
    private func remove(_ object: NSManagedObject) {
        if object.flags.contains(.deleted) {
            deleted.remove(object)
        } else if object.flags.contains(.inserted) {
            inserted.remove(object)
        } else if object.flags.contains(.updated) {
            updated.remove(object)
        }
    }
}

// MARK: - Changes

extension ChangeTracker {
    /// Adds a new object of the context.
    @inline(__always)
    func insert(_ object: NSManagedObject, in registry: ObjectRegistry) {
        object.beginInsertion(in: registry)
        inserted.append(object)
        if event.objects.isEmpty { eventBegins() }
        event.objects.append(object)
    }

    /// Notes that an object changes for the first time in this event, or since its save.
    func change(_ object: NSManagedObject) {
        if object.flags.isDisjoint(with: .known) {
            join(object)
            object.markUpdated()
            updated.append(object)
        } else if !object.flags.contains(.discarded) {
            // Nobody needs to know of changes of an object that is about to leave the context.
            join(object)
        }
    }

    /// Marks an object as deleted. A new object is pending, too, until the next save, which writes
    /// nothing for it.
    ///
    /// - Parameters:
    ///   - propagating: Whether its delete rules are applied when pending changes are processed.
    ///   - keepsNew: False for a new object that leaves the context then, because its insertion is
    ///     taken back.
    func delete(_ object: NSManagedObject, propagating: Bool = true, keepsNew: Bool = true) {
        keepFormerState(of: object)
        if object.flags.contains(.inserted) {
            inserted.remove(object)
            if keepsNew { deleted.append(object) }
        } else {
            if object.flags.contains(.updated) { updated.remove(object) }
            deleted.append(object)
        }
        object.markDeleted()
        join(object)
        if propagating { unpropagated.append(object) } else { object.markPropagated() }
    }

    /// Adds an object to those of the event.
    @inline(__always)
    private func join(_ object: NSManagedObject) {
        if object.flags.contains(.inEvent) { return }
        object.joinEvent()
        if event.objects.isEmpty { eventBegins() }
        event.objects.append(object)
    }

    /// Inserts a deleted object again.
    func undelete(_ object: NSManagedObject) {
        keepFormerState(of: object)
        deleted.remove(object)
        object.undelete()
        change(object)
    }

    /// Inserts a new object again that was deleted in the current event.
    func takeBackDiscarding(of object: NSManagedObject) {
        deleted.remove(object)
        object.takeBackDiscarding()
        inserted.append(object)
    }

    /// Stops keeping a new object that was deleted.
    func endDiscarding(of object: NSManagedObject) { deleted.remove(object) }

    /// Removes a new object from the context.
    func depart(_ object: NSManagedObject) {
        object.leaveContext()
        departed.append(object)
    }

    /// Returns the objects that have left the context, and forgets them.
    func takeDeparted() -> ContiguousArray<NSManagedObject> {
        defer { departed = [] }
        return departed
    }

    /// Takes back a deletion. The object is again as it was before.
    func takeBackDeletion(of object: NSManagedObject) {
        keepFormerState(of: object)
        deleted.remove(object)
        object.unmarkDeleted()
    }

    /// Marks an object whose deletion was saved for insertion: a new row replaces its former one.
    func revive(_ object: NSManagedObject, values: [PropertyValue]) {
        let isInEvent = object.flags.contains(.inEvent)
        object.becomeNewInPlaceOfDeletedRow(values)
        inserted.append(object)
        if isInEvent { return }
        if event.objects.isEmpty { eventBegins() }
        event.objects.append(object)
    }

    /// Undoing has left an object as it is in its store: it is part of the event, but has nothing
    /// to be saved.
    func takeBackUndoneChanges(of object: NSManagedObject) {
        updated.remove(object)
        object.unmarkUpdated()
        event.refreshed.append(object)
    }

    /// Removes the pending changes of an object, which were taken back or saved. The caller sets
    /// its values.
    func takeBackChanges(of object: NSManagedObject) {
        if !hasTakenBackMembers, object.extras?.allToMany.contains(where: { !$0.state.added.isEmpty }) == true {
            hasTakenBackMembers = true
        }
        updated.remove(object)
        object.unmarkUpdated()
    }

    /// Marks a fault without a row as deleted. The next save has nothing to write if it never had a
    /// store.
    func deleteInaccessible(_ object: NSManagedObject) {
        let isListed = object.flags.contains(.deleted)
        object.becomeInaccessible(isDeleted: true)
        if object.storeNumber >= 0, !isListed { deleted.append(object) }
    }

    /// Marks an object whose row was deleted elsewhere. It counts as deleted until the next save,
    /// which writes nothing for it.
    func markDeletedElsewhere(_ object: NSManagedObject) {
        if object.flags.contains(.updated) { updated.remove(object) }
        if !object.flags.contains(.deleted) { deleted.append(object) }
        object.markDeletedElsewhere()
    }

    /// Removes an object from the context after another writer or this context saved its deletion.
    func endDeletion(of object: NSManagedObject) {
        updated.remove(object)
        deleted.remove(object)
        object.endDeletion()
        departed.append(object)
    }

    /// Marks a changed object whose row was deleted for insertion as a new row.
    func becomeNew(_ object: NSManagedObject, values: [PropertyValue]) {
        updated.remove(object)
        object.becomeNewInPlaceOfDeletedRow(values)
        inserted.append(object)
    }

    /// Marks a new object to be saved as a change of an existing row.
    func becomeChanged(_ object: NSManagedObject, in row: RowPointer) {
        inserted.remove(object)
        object.becomeChanged(in: row)
        updated.append(object)
    }

    /// Takes back the insertion of a new object. It leaves the context when pending changes are
    /// processed.
    func discard(_ object: NSManagedObject) {
        inserted.remove(object)
        object.discardInsertion()
        join(object)
    }

    /// Takes back all changes. The caller restores the values of changed and deleted objects.
    ///
    /// - Returns: The changed objects, then the deleted ones. These include deleted new objects,
    ///   which leave the context.
    func rollBack() -> ContiguousArray<NSManagedObject> {
        let new = inserted.objects
        let stored = updated.objects + deleted.objects
        inserted.removeAll()
        updated.removeAll()
        deleted.removeAll()
        unpropagated.removeAll()
        for object in new {
            object.listIndex = -1
            if !object.flags.contains(.inEvent) { event.objects.append(object) }
            object.leaveEvent()
            object.joinEvent()
            object.discardInsertion()
        }
        for object in stored {
            object.listIndex = -1
            // Nothing can be restored if the row was deleted or never existed.
            if object.flags.isDisjoint(with: [.deletedElsewhere, .discarded]) { object.forgetChanges() }
        }
        return stored
    }

    /// Notes that new objects were saved: all at once, or some of them.
    func endInsertion(of objects: ContiguousArray<NSManagedObject>) { inserted.remove(objects) }

    /// Notes that changed objects were saved.
    func endUpdate(of objects: ContiguousArray<NSManagedObject>) {
        updated.remove(objects)
        if updated.count == 0 { hasTakenBackMembers = false }
    }
}

// MARK: - Delete rules

extension ChangeTracker {
    /// Returns the next deleted object whose delete rules must be applied; nil when there is none.
    func nextToPropagate() -> NSManagedObject? {
        while let object = unpropagated.popLast() {
            // The resolution of a conflict may have taken the deletion back in the meantime.
            if object.flags.contains(.propagated) || !object.flags.contains(.deleted) { continue }
            object.markPropagated()
            if !object.flags.contains(.inaccessible) { return object }
        }
        return nil
    }

    /// Schedules the delete rules of a deleted object to be applied again.
    func propagateAgain(_ object: NSManagedObject) {
        guard object.isDeleted, object.flags.isDisjoint(with: .rowIsGone) else { return }
        object.unmarkPropagated()
        unpropagated.append(object)
    }

    /// Whether delete rules must be applied.
    var awaitsPropagation: Bool { !unpropagated.isEmpty }
}

// MARK: - Events

extension ChangeTracker {
    /// The inserted, changed and deleted objects of the event, in the order of their first change.
    var eventObjects: ContiguousArray<NSManagedObject> { event.objects }

    /// Notes that the deletion of an object was undone. The object counts as inserted in the event.
    func noteUndoneDeletion(of object: NSManagedObject) {
        join(object)
        event.mergedInsertions.insert(object)
    }

    /// The deletion of an object is undone that was taken back before, without being registered: it
    /// counts as deleted until now.
    func noteDeletionTakenBack(of object: NSManagedObject) {
        object.withPending { $0.former = FormerState(ofDeleted: object) }
        noteUndoneDeletion(of: object)
    }

    /// Notes that the program refreshed an object: its values were read again.
    func noteRefreshed(_ object: NSManagedObject) {
        if event.refreshed.isEmpty { eventBegins() }
        event.refreshed.append(object)
    }

    /// Notes that an object's values were read again during a merge or a rollback.
    func noteReread(_ object: NSManagedObject) { event.refreshed.append(object) }

    func noteReread(_ objects: ContiguousArray<NSManagedObject>) {
        // Does not retain each of them.
        if event.refreshed.isEmpty { event.refreshed = objects } else { event.refreshed += objects }
    }

    /// Notes objects whose properties read as nil from now on.
    func noteInvalidated(_ objects: [NSManagedObject]) { event.invalidated.formUnion(objects) }

    /// Notes that another context inserted an object.
    func noteMergedInsertion(of object: NSManagedObject) { event.mergedInsertions.insert(object) }

    /// Notes that another context deleted an object, or that an object was given up because of its
    /// changes.
    func noteMergedDeletion(of object: NSManagedObject) { event.mergedDeletions.insert(object) }

    /// Others changed a row that is in no complete object here: no notification tells, but what
    /// follows a fetch has to know.
    func noteUnseenUpdate(of objectID: NSManagedObjectID) { event.unseenUpdates.append(objectID) }

    /// Ends the event, and begins another one.
    ///
    /// - Parameter keepingProperties: Whether to keep the changed properties of each object, for
    ///   listeners.
    /// - Returns: The changes of the event; nil without changes.
    func endEvent(keepingProperties: Bool) -> EventChanges? {
        if event.isEmpty { return nil }
        let ended = event
        event = ContextEvent()
        lastSets.forgetUnlessCurrent(inserted, updated)
        return EventChanges(ended, keepingProperties: keepingProperties)
    }

    /// Keeps the state of an object that is about to change and so to join the event. The state of
    /// an object without unsaved values is its stored state.
    func keepFormerState(of object: NSManagedObject) {
        if !object.needsFormerState { return }
        if isTelling, let pending = object.pending, !pending.eventMask.isEmpty {
            toldStates?[ObjectIdentifier(object)] = ToldState(
                object: object, former: pending.former, properties: pending.eventMask)
            pending.endEvent()
        }
        // An object without changes can only hold values that were set untracked, which matter to
        // undo alone.
        let isKept = object.hasChanges || object.registry?.tracksFormerValues == true
        object.withPending { $0.former = isKept ? FormerState(of: object) : nil }
    }

    func toldState(of object: NSManagedObject) -> ToldState? { toldStates?[ObjectIdentifier(object)] }

    /// Tells observers of an event. Whoever is told may end another one, of which others are told
    /// then, before those that remain hear of the first.
    func tell(_ body: () -> Void) {
        let outer = toldStates
        toldStates = [:]
        defer { toldStates = outer }
        body()
    }
}
