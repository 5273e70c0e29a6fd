/// What is pending in a context, and what changed in it since pending changes were last processed.
///
/// Each object is in one of three lists at most, and its flags say in which: both change together, here. The lists keep their
/// objects alive. Objects that came from elsewhere (by merging or refreshing) are part of the event only.
///
/// It knows neither its context nor stores, and is used on the context's queue.
final class ChangeTracker {
    /// Objects to be inserted by the next save, in order.
    @exclusivity(unchecked) private(set) var inserted = ChangeList()
    /// Changed objects of the stores.
    @exclusivity(unchecked) private(set) var updated = ChangeList()
    /// Objects to be deleted by the next save, and new ones that were deleted, which leave the context with it.
    @exclusivity(unchecked) private(set) var deleted = ChangeList()
    /// Objects deleted since the delete rules were last applied.
    @exclusivity(unchecked) private(set) var unpropagated: [NSManagedObject] = []
    /// Whether objects may have lost members that lead to them by unsaved changes of their own, as their changes were taken back.
    private(set) var hasTakenBackMembers = false
    /// Objects that have left the context and still hold what they were related to.
    private(set) var departed: ContiguousArray<NSManagedObject> = []
    @exclusivity(unchecked) private var event = ContextEvent()
    private var lastSets = LastEventSets()
    /// Objects that have changed again since the event that observers are being told of; nil while nobody is told of one.
    private var toldStates: [ObjectIdentifier: ToldState]?
    /// Called before the first object joins an event.
    var eventBegins: () -> Void = {}

    var hasChanges: Bool { inserted.count + updated.count + deleted.count > 0 }

    /// Whether a save would write anything: nothing of new objects that were deleted, nor of what others have deleted, or is not there.
    var hasChangesToWrite: Bool {
        inserted.count + updated.count > 0 || deleted.objects.contains { $0.flags.isDisjoint(with: .unwritten) }
    }

    /// Whether observers are being told of an event.
    var isTelling: Bool { toldStates != nil }

    /// Whether anything has happened that was not processed.
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

    /// Forgets objects that are no longer the context's, whose flags the caller changes.
    ///
    /// - Parameter isGone: says so of objects of the event.
    func remove(_ objects: [NSManagedObject], where isGone: (NSManagedObject) -> Bool) {
        for object in objects { remove(object) }
        unpropagated.removeAll(where: isGone)
        event.removeAll(where: isGone)
        lastSets = LastEventSets()
    }

    /// Takes an object out of the list it is in.
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
    /// A new object of the context.
    @inline(__always)
    func insert(_ object: NSManagedObject, in registry: ObjectRegistry) {
        object.beginInsertion(in: registry)
        inserted.append(object)
        if event.objects.isEmpty { eventBegins() }
        event.objects.append(object)
    }

    /// An object changed for the first time in this event, or for the first time since its save.
    func change(_ object: NSManagedObject) {
        if object.flags.isDisjoint(with: .known) {
            join(object)
            object.markUpdated()
            updated.append(object)
        } else if !object.flags.contains(.discarded) {
            // What becomes of an object that is about to leave concerns nobody.
            join(object)
        }
    }

    /// An object is to be deleted. A new one is pending as well until the next save, which writes nothing of it.
    ///
    /// - Parameters:
    ///   - propagating: whether its delete rules are applied when pending changes are processed.
    ///   - keepsNew: false for a new object that is to leave the context then, for its insertion is taken back.
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

    /// A deleted object is inserted again.
    func undelete(_ object: NSManagedObject) {
        keepFormerState(of: object)
        deleted.remove(object)
        object.undelete()
        change(object)
    }

    /// A new object that was deleted in the present event is to be inserted again.
    func takeBackDiscarding(of object: NSManagedObject) {
        deleted.remove(object)
        object.takeBackDiscarding()
        inserted.append(object)
    }

    /// A new object that was deleted is not kept any longer.
    func endDiscarding(of object: NSManagedObject) { deleted.remove(object) }

    /// A new object leaves the context.
    func depart(_ object: NSManagedObject) {
        object.leaveContext()
        departed.append(object)
    }

    /// Forgets the objects that have left the context.
    func takeDeparted() -> ContiguousArray<NSManagedObject> {
        defer { departed = [] }
        return departed
    }

    /// A deletion is taken back, and the object is as it was.
    func takeBackDeletion(of object: NSManagedObject) {
        keepFormerState(of: object)
        deleted.remove(object)
        object.unmarkDeleted()
    }

    /// An object whose deletion was saved is to be saved as a new row in the place of its former one.
    func revive(_ object: NSManagedObject, values: [PropertyValue]) {
        object.becomeNewInPlaceOfDeletedRow(values)
        inserted.append(object)
        if event.objects.isEmpty { eventBegins() }
        event.objects.append(object)
    }

    /// Undoing has left an object as it is in its store: it is part of the event, but has nothing to be saved.
    func takeBackUndoneChanges(of object: NSManagedObject) {
        updated.remove(object)
        object.unmarkUpdated()
        event.refreshed.append(object)
    }

    /// Changes of an object are taken back or saved. Its values are left to the caller.
    func takeBackChanges(of object: NSManagedObject) {
        if !hasTakenBackMembers, object.extras?.allToMany.contains(where: { !$0.state.added.isEmpty }) == true {
            hasTakenBackMembers = true
        }
        updated.remove(object)
        object.unmarkUpdated()
    }

    /// A fault has no row, and counts as deleted. Nothing is to be written if it never had a store.
    func deleteInaccessible(_ object: NSManagedObject) {
        let isListed = object.flags.contains(.deleted)
        object.becomeInaccessible(isDeleted: true)
        if object.storeNumber >= 0, !isListed { deleted.append(object) }
    }

    /// Others deleted the row of an object: it counts as deleted until the next save, which writes nothing for it.
    func markDeletedElsewhere(_ object: NSManagedObject) {
        if object.flags.contains(.updated) { updated.remove(object) }
        if !object.flags.contains(.deleted) { deleted.append(object) }
        object.markDeletedElsewhere()
    }

    /// The deletion of an object was saved, here or by another writer: it leaves the context.
    func endDeletion(of object: NSManagedObject) {
        updated.remove(object)
        deleted.remove(object)
        object.endDeletion()
        departed.append(object)
    }

    /// A changed object whose row was deleted is to be saved as a new row.
    func becomeNew(_ object: NSManagedObject, values: [PropertyValue]) {
        updated.remove(object)
        object.becomeNewInPlaceOfDeletedRow(values)
        inserted.append(object)
    }

    /// A new object is to be saved as a change of a row that is there.
    func becomeChanged(_ object: NSManagedObject, in row: RowPointer) {
        inserted.remove(object)
        object.becomeChanged(in: row)
        updated.append(object)
    }

    /// A new object leaves the context without having been saved, when pending changes are processed.
    func discard(_ object: NSManagedObject) {
        inserted.remove(object)
        object.discardInsertion()
        join(object)
    }

    /// Takes back all changes. The values of what was changed or deleted are left to the caller.
    ///
    /// - Returns: the objects that were changed or deleted, in this order; also new ones that were deleted, which leave the context.
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
            // Where the row is gone, or never was, there is nothing to come back to.
            if object.flags.isDisjoint(with: [.deletedElsewhere, .discarded]) { object.forgetChanges() }
        }
        return stored
    }

    /// New objects were saved: all at once, or some of them.
    func endInsertion(of objects: ContiguousArray<NSManagedObject>) { inserted.remove(objects) }

    /// Changed objects were saved.
    func endUpdate(of objects: ContiguousArray<NSManagedObject>) {
        updated.remove(objects)
        if updated.count == 0 { hasTakenBackMembers = false }
    }
}

// MARK: - Delete rules

extension ChangeTracker {
    /// The next deleted object whose delete rules are to be applied; nil when there is none.
    func nextToPropagate() -> NSManagedObject? {
        while let object = unpropagated.popLast() {
            // The resolution of a conflict may have taken the deletion back since.
            if object.flags.contains(.propagated) || !object.flags.contains(.deleted) { continue }
            object.markPropagated()
            if !object.flags.contains(.inaccessible) { return object }
        }
        return nil
    }

    /// Has the delete rules of a deleted object applied again.
    func propagateAgain(_ object: NSManagedObject) {
        guard object.isDeleted, object.flags.isDisjoint(with: .rowIsGone) else { return }
        object.unmarkPropagated()
        unpropagated.append(object)
    }

    /// Whether delete rules are to be applied.
    var awaitsPropagation: Bool { !unpropagated.isEmpty }
}

// MARK: - Events

extension ChangeTracker {
    /// The inserted, changed and deleted objects of the event, in the order of their first change.
    var eventObjects: ContiguousArray<NSManagedObject> { event.objects }

    /// The deletion of an object was undone: it is there again.
    func noteUndoneDeletion(of object: NSManagedObject) {
        join(object)
        event.mergedInsertions.insert(object)
    }

    /// The deletion of an object is undone that was taken back before, without being registered: it counts as deleted until now.
    func noteDeletionTakenBack(of object: NSManagedObject) {
        object.withPending { $0.former = FormerState(ofDeleted: object) }
        noteUndoneDeletion(of: object)
    }

    /// An object's values were read again, at the program's wish.
    func noteRefreshed(_ object: NSManagedObject) {
        if event.refreshed.isEmpty { eventBegins() }
        event.refreshed.append(object)
    }

    /// An object's values were read again while others' changes were taken over, or rolled back.
    func noteReread(_ object: NSManagedObject) { event.refreshed.append(object) }

    func noteReread(_ objects: ContiguousArray<NSManagedObject>) {
        // Without a reference to each of them.
        if event.refreshed.isEmpty { event.refreshed = objects } else { event.refreshed += objects }
    }

    /// Objects read as nil from now on.
    func noteInvalidated(_ objects: [NSManagedObject]) { event.invalidated.formUnion(objects) }

    /// Others inserted an object.
    func noteMergedInsertion(of object: NSManagedObject) { event.mergedInsertions.insert(object) }

    /// Others deleted an object, or it gave way to what they did.
    func noteMergedDeletion(of object: NSManagedObject) { event.mergedDeletions.insert(object) }

    /// Others changed a row that is in no complete object here: no notification tells, but what follows a fetch has to know.
    func noteUnseenUpdate(of objectID: NSManagedObjectID) { event.unseenUpdates.append(objectID) }

    /// Ends the event, and begins another one.
    ///
    /// - Parameter keepingProperties: whether what changed in each object is kept, for those who follow.
    /// - Returns: what changed; nil when nothing did.
    func endEvent(keepingProperties: Bool) -> EventChanges? {
        if event.isEmpty { return nil }
        let ended = event
        event = ContextEvent()
        lastSets.forgetUnlessCurrent(inserted, updated)
        return EventChanges(ended, keepingProperties: keepingProperties)
    }

    /// Remembers an object that is about to change, and to join the event with that, as it is. One without unsaved values is what its store
    /// has.
    func keepFormerState(of object: NSManagedObject) {
        if !object.needsFormerState { return }
        if isTelling, let pending = object.pending, !pending.eventMask.isEmpty {
            toldStates?[ObjectIdentifier(object)] = ToldState(object: object, former: pending.former, properties: pending.eventMask)
            pending.endEvent()
        }
        // Without changes only what was set without being tracked may be there, which only undo keeps apart.
        let isKept = object.hasChanges || object.registry?.tracksFormerValues == true
        object.withPending { $0.former = isKept ? FormerState(of: object) : nil }
    }

    func toldState(of object: NSManagedObject) -> ToldState? { toldStates?[ObjectIdentifier(object)] }

    /// Tells observers of an event. Whoever is told may end another one, of which others are told then, before those that remain hear of the first.
    func tell(_ body: () -> Void) {
        let outer = toldStates
        toldStates = [:]
        defer { toldStates = outer }
        body()
    }

    /// Remembers the sets of a notification, so that a save of just these objects need not hash them again.
    func remember(inserted insertedSet: Set<NSManagedObject>?, updated updatedSet: Set<NSManagedObject>?) {
        if let insertedSet { lastSets.inserted = (insertedSet, inserted.changeCount) }
        if let updatedSet { lastSets.updated = (updatedSet, updated.changeCount) }
    }

    /// The sets of the last event, which are the pending objects if nothing joined or left since, and all were part of that event.
    func takeLastSets() -> (inserted: Set<NSManagedObject>?, updated: Set<NSManagedObject>?) {
        lastSets.forgetUnlessCurrent(inserted, updated)
        defer { lastSets = LastEventSets() }
        return (lastSets.inserted?.set, lastSets.updated?.set)
    }
}

/// Sets of changed objects with the change count of the list they were complete for.
private struct LastEventSets {
    var inserted: (set: Set<NSManagedObject>, changeCount: Int)?
    var updated: (set: Set<NSManagedObject>, changeCount: Int)?

    /// Lets go of sets that are not those of the context's lists any more, and would keep objects alive.
    mutating func forgetUnlessCurrent(_ insertions: ChangeList, _ updates: ChangeList) {
        if inserted?.changeCount != insertions.changeCount { inserted = nil }
        if updated?.changeCount != updates.changeCount { updated = nil }
    }
}
