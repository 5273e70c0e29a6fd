// Deletions and delete rules.

extension NSManagedObjectContext {
    /// Marks an object for deletion, for `delete(_:)`.
    func markForDeletion(_ object: NSManagedObject) {
        precondition(
            object.registry === registry,
            "\(object.layout.name) \(object.descriptionOfIdentity) does not belong to this context and cannot be "
                + "deleted by it."
        )
        if object.flags.contains(.checked) { ConcurrencyDebug.check(self, "delete an object") }
        if !object.flags.isDisjoint(with: [.deleted, .discarded, .deletionSaved]) { return }
        if preparedForDeletion.contains(where: { $0 === object }) { return }
        if object.extras?.isRevived != true { continueAsUpdate(object) }
        preparedForDeletion.append(object)
        asStep { object.prepareForDeletion() }
        preparedForDeletion.removeLast()
        changes.delete(object)
    }

    /// Applies the delete rules of deleted objects, and of those that these delete.
    func propagateDeletes() {
        var reach = DeletionReach(self)
        while changes.awaitsPropagation {
            reach.load(changes.unpropagated)
            guard let object = changes.nextToPropagate() else { return }
            object.fireFaultIfNeeded()
            for slot in object.layout.relationshipSlots { applyDeleteRule(of: object, slot: object.layout.slots[slot]) }
        }
    }

    private func applyDeleteRule(of object: NSManagedObject, slot: PropertySlot) {
        guard slot.deletion.reachesDestinations else { return }
        if slot.deletion.deletesDestinations {
            // A destination that was never saved may have left the context already.
            for destination in object.destinations(through: slot) where destination.registry === registry {
                applyRule(of: object, slot, to: destination) { delete(destination) }
                if slot.inverseSlot >= 0, !destination.isDeleted {
                    destination.removeFromInverse(of: slot, object)
                }
            }
        } else if slot.inverseSlot >= 0 {
            for destination in object.destinations(through: slot) { nullify(destination, object, slot) }
        }
        for destination in ledBack(to: object, slot) { nullify(destination, object, slot) }
    }

    /// Ends a destination's relationship to an object that is being deleted.
    private func nullify(_ destination: NSManagedObject, _ object: NSManagedObject, _ slot: PropertySlot) {
        if !destination.flags.isDisjoint(with: .rowIsGone) { lookAgain(for: destination) }
        if destination.isDeleted { return }
        if !slot.inverseIsToMany { readAgain(destination, ifOthersLedItTo: object, slot) }
        applyRule(of: object, slot, to: destination) { destination.removeFromInverse(of: slot, object) }
    }

    /// Applies the delete rules of objects whose insertion is undone to the references that remain.
    ///
    /// Another writer has added these references, or they were set without being registered for
    /// undo. Undo has reverted all others.
    func endWhatLeads(to objects: some Sequence<NSManagedObject>) {
        let objects = objects.filter {
            !$0.flags.isDisjoint(with: [.deleted, .discarded]) && $0.flags.isDisjoint(with: .rowIsGone)
        }
        // Objects whose delete rules were applied are not read as members.
        for object in objects { object.unmarkPropagated() }
        var reach = DeletionReach(self)
        reach.load(objects)
        for object in objects { endWhatLeads(to: object) }
        for object in objects { object.markPropagated() }
    }

    private func endWhatLeads(to object: NSManagedObject) {
        for slot in object.layout.persistentRelationships
        where slot.inverseSlot >= 0 && slot.deletion.reachesDestinations {
            for destination in object.destinations(through: slot)
            where !destination.isDeleted && destination.registry === registry {
                destination.fireFaultIfNeeded()
                if !leads(destination, to: object, slot) { continue }
                if slot.deletion.deletesDestinations { delete(destination) }
                destination.removeFromInverse(of: slot, object)
            }
        }
    }

    /// Whether a destination refers back to an object that is being deleted.
    func leads(_ destination: NSManagedObject, to object: NSManagedObject, _ slot: PropertySlot) -> Bool {
        let inverse = slot.inverseSlot(in: destination.layout)
        if !slot.inverseIsToMany { return destination.toOne(inverse) === object }
        if let state = destination.extras?.toMany(inverse), state.isLoaded || state.added.contains(object) {
            return state.isLoaded ? state.members.contains(object) : true
        }
        // Unread members need no change if the object's row holds the reference, or there is none.
        return slot.kind.isToMany && !object.flags.contains(.discarded) && destination.isMember(object, slot: inverse)
    }

    /// Checks whether another writer has recreated a row, since a relationship has it.
    func lookAgain(for destination: NSManagedObject) {
        changes.takeBackDeletion(of: destination)
        turnIntoFault(destination)
        destination.fireFaultIfNeeded()
        journal?.reread(destination)
    }

    /// Reloads a destination that was read before another writer related it to a deleted object.
    ///
    /// The store has the destination in the object's relationship. References to the deleted object
    /// must be removed, and the change written. A destination with changes is not reloaded. The
    /// save checks the version of its row; after the conflict the delete rule is applied again.
    func readAgain(_ destination: NSManagedObject, ifOthersLedItTo object: NSManagedObject, _ slot: PropertySlot) {
        destination.fireFaultIfNeeded()
        let inverse = slot.inverseSlot(in: destination.layout)
        guard destination.toOne(inverse) !== object, destination.committedRow != nil,
            !destination.flags.contains(.inserted)
        else { return }
        if destination.hasChangesToSave {
            conflictChecks.insert(destination)
            return
        }
        reload(destination)
        // Another writer may have pointed it to another deleted object, whose row is older.
        leaveDeletedDestinations(of: destination)
    }

    /// Restores references to objects that are not deleted after all, and removes references to
    /// those that still are.
    ///
    /// Delete rules had removed the restored references from changed objects.
    ///
    /// Cost: O(changed objects).
    func takeBackNullification(around kept: Set<NSManagedObject>) {
        for object in kept { leaveDeletedDestinations(of: object) }
        let settlement = EndSettlement(self)
        for object in changes.updated.objects {
            for (slot, gained, lost) in UnsavedEnds(of: object).changes
            where gained.isEmpty || object.layout.slots[slot].kind.isToMany {
                let property = object.layout.slots[slot]
                for destination in lost where kept.contains(destination) {
                    let inverse = destination.layout.slots[property.inverseSlot(in: destination.layout)]
                    if inverse.deletion.reachesDestinations { settlement.takeBack(object, destination, inverse) }
                }
            }
        }
    }

    /// Ends to-one relationships to objects that are being deleted.
    private func leaveDeletedDestinations(of object: NSManagedObject) {
        for property in object.layout.persistentRelationships
        where property.kind == .toOne && property.inverseSlot >= 0 {
            guard let destination = object.toOne(property.index), destination.isDeleted else { continue }
            let inverse = destination.layout.slots[property.inverseSlot(in: destination.layout)]
            if inverse.deletion.reachesDestinations { object.removeFromInverse(of: inverse, destination) }
        }
    }

    /// Returns the committed destination of a changed one-to-one relationship, if a refresh has set
    /// its other end back to the object.
    private func ledBack(to object: NSManagedObject, _ slot: PropertySlot) -> ContiguousArray<NSManagedObject> {
        guard object.layout.oneToOneSlots.contains(slot.index), object.differsFromCommitted(slot),
            let former = object.committedDestination(slot.index), former !== object.toOne(slot.index),
            former.flags.isDisjoint(with: .rowIsGone), former.toOne(slot.inverseSlot(in: former.layout)) === object
        else { return [] }
        return [former]
    }
}

/// Reads the rows that the delete rules of many objects need. It runs one statement for each
/// relationship and level of objects, not one for each object.
private struct DeletionReach {
    private let context: NSManagedObjectContext
    /// The number of waiting objects that were examined.
    private var height = 0
    /// The objects whose relationships were read.
    private var known: Set<ObjectIdentifier> = []
    /// Keeps rows in the stores' caches until the faults read them there.
    private var rows: [FetchedRows] = []

    init(_ context: NSManagedObjectContext) { self.context = context }

    /// - Parameter waiting: a stack of deleted objects.
    mutating func load(_ waiting: [NSManagedObject]) {
        height = min(height, waiting.count)
        // A single object is read by itself.
        guard waiting.count > height + 1 else { return }
        var level = waiting[height...].filter {
            $0.flags.contains(.deleted) && $0.flags.isDisjoint(with: [.propagated, .inaccessible])
        }
        height = waiting.count
        do {
            while level.count > 1 { level = try load(level) }
        } catch {
            // Such rows are tried again for each object, and the save throws the error.
        }
    }

    /// - Returns: The objects that the given objects delete.
    private mutating func load(_ level: [NSManagedObject]) throws -> [NSManagedObject] {
        var next: [NSManagedObject] = []
        // An object may wait several times, and several objects may delete it.
        let new = level.filter { known.insert(ObjectIdentifier($0)).inserted }
        let stored = new.filter {
            $0.storeNumber >= 0 && !$0.flags.contains(.inserted) && !$0.layout.relationshipSlots.isEmpty
        }
        for group in Dictionary(grouping: stored, by: { Int($0.storeNumber) << 32 | $0.layout.index }).values
        where group.count > 1 {
            try loadRows(of: group)
            for slot in group[0].layout.persistentRelationships {
                let effects = slot.deletion
                if effects.isDenied || effects.deletesDestinations || effects.nullifies && slot.inverseSlot >= 0 {
                    try context.prefetch([slot.name], of: group)
                }
                guard effects.deletesDestinations else { continue }
                for object in group { next += object.destinations(through: slot) }
            }
        }
        return next.filter { !$0.isDeleted }
    }

    private mutating func loadRows(of group: [NSManagedObject]) throws {
        let layout = group[0].layout
        guard let source = context.rows(ofStore: Int(group[0].storeNumber)) else { return }
        let missing = group.filter { $0.flags.contains(.fault) && source.cachedRow($0.key, of: layout) == nil }.map(
            \.key)
        if missing.count > 1 { rows.append(try source.readRows(missing, of: layout)) }
    }
}
