import Foundation

/// Creates the row changes for a store from the changes of objects.
struct RowChanges {
    private let context: NSManagedObjectContext

    init(_ context: NSManagedObjectContext) { self.context = context }

    func insertion(of object: NSManagedObject, takesAPlace: Bool) throws -> RowChange {
        object.fireFaultIfNeeded()
        let layout = object.layout
        // Retained: value transformers of the program run during the call.
        let pending = object.withPending { $0 }
        if layout.hasDefaults {
            for slot in 0..<layout.storedCount where !pending.has(slot) { pending.set(slot, layout.defaultValue(slot)) }
        }
        try fillIn(pending, object)
        var change = RowChange(layout: layout, key: object.key, base: nil, values: pending)
        if takesAPlace, let deletedRow = object.extras?.deletedRow {
            change.insertedVersion = Self.version(after: deletedRow)
        }
        return change
    }

    /// Returns the version of a row that replaces a deleted one.
    ///
    /// Other contexts may still hold any version that the deleted row had, and must not mistake the
    /// new row for theirs. The last of these versions is unknown, so the new one is far from all of
    /// them, and from the versions of other rows that replaced this one.
    private static func version(after row: Snapshot) -> Int64 {
        let (version, overflow) = row.version.addingReportingOverflow(Int64.random(in: 1 << 10..<1 << 24))
        return overflow ? 2 : version
    }

    /// Returns the destinations that an object has again after a conflict, with the slot of the
    /// inverse.
    ///
    /// The resolution of the conflict wrote the object's former values over those of another
    /// writer. The destinations gain a member, as if it had been added to them, so that a context
    /// that deletes them meanwhile has a conflict. A reference to a destination that is gone, or
    /// that belongs to another object, becomes nil.
    func restoredDestinations(of object: NSManagedObject) throws -> [(object: NSManagedObject, slot: Int)] {
        guard let pending = object.pending else { return [] }
        var restored: [(object: NSManagedObject, slot: Int)] = []
        for slot in object.layout.relationshipSlots where slot < object.layout.storedCount && pending.has(slot) {
            // A value that the program set is an object, not a reference.
            guard let reference = pending.value(slot).reference,
                let layout = context.modelLayout?.layouts[reference.layoutIndex],
                let store = context.registry.store(number: Int(object.storeNumber))
            else { continue }
            let destination = context.object(with: NSManagedObjectID(key: reference.key, layout: layout, store: store))
            if destination.flags.contains(.inserted) { continue }
            guard !destination.isDeleted, let current = try context.freshSnapshot(of: destination) else {
                pending.set(slot, .null)
                continue
            }
            let property = object.layout.slots[slot]
            guard property.inverseSlot >= 0 else { continue }
            let inverse = property.inverseSlot(in: current.layout)
            if !property.inverseIsToMany {
                // Both ends have a column, and only one of them belongs to this object.
                if destination.differsFromCommitted(destination.layout.slots[inverse]) {
                    if destination.toOne(inverse) !== object { pending.set(slot, .null) }
                    continue
                }
                let leadsBack =
                    !current.isNull(inverse)
                    && context.registry.currentKey(current.reference(inverse).key) == object.key
                if !leadsBack {
                    if destination.flags.isDisjoint(with: .known), !destination.flags.contains(.fault) {
                        context.adoptCommitted(current, destination)
                    }
                    pending.set(slot, .null)
                    continue
                }
            }
            if !destination.flags.contains(.updated) {
                destination.fireFaultIfNeeded()
                context.adoptCommitted(current, destination)
            }
            restored.append((destination, inverse))
        }
        return restored
    }

    /// Returns the row of an object without changed values: to be deleted or checked, or to get a
    /// new version.
    ///
    /// - Parameter relationships: The slots of its changed to-many relationships.
    func row(of object: NSManagedObject, touching relationships: [Int] = []) -> RowChange {
        RowChange(
            layout: object.layout, key: object.key, base: object.committedRow.map(Snapshot.init(retaining:)),
            values: nil,
            touchesVersionOnly: !relationships.isEmpty, changedToMany: relationships)
    }

    func deletion(of object: NSManagedObject) throws -> RowChange {
        let row = row(of: object)
        guard !object.layout.preservedSlots.isEmpty, let pending = object.pending else { return row }
        let values = RowValues.make(slotCount: pending.slotCount)
        for slot in object.layout.preservedSlots where pending.has(slot) {
            values[slot] = try pending.value(slot).stored(object.layout.slots[slot])
        }
        return RowChange(layout: row.layout, key: row.key, base: row.base, values: values)
    }

    /// Returns the change of an object; nil if no persistent value differs from the store.
    func update(of object: NSManagedObject) throws -> RowChange? {
        let layout = object.layout
        let base = object.committedRow.map(Snapshot.init(retaining:))
        let hasToMany = object.extrasReference?.withObject { $0.hasToMany } ?? false
        let changed =
            hasToMany
            ? object.extras?.allToMany.filter { $0.state.hasChanges && !layout.slots[$0.slot].isTransient } : nil
        let changedToMany = changed?.map(\.slot) ?? []
        if let pending = object.pending {
            let values = try changedValues(pending, object)
            if !values.mask.isEmpty {
                return RowChange(
                    layout: layout, key: object.key, base: base, values: values, changedToMany: changedToMany)
            }
        }
        return changedToMany.isEmpty ? nil : row(of: object, touching: changedToMany)
    }

    /// Returns the change of an object with transient changes only, for a parent context.
    func transientUpdate(of object: NSManagedObject) -> RowChange? {
        guard context.parentContext != nil, object.extras != nil, let tracked = object.pending?.tracked else {
            return nil
        }
        let slots = object.layout.slots
        let isChanged = (object.layout.storedCount..<slots.count).contains {
            slots[$0].isTransient && tracked.contains($0)
        }
        return isChanged ? row(of: object) : nil
    }

    /// Replaces destinations and transformable values by what a store writes.
    private func fillIn(_ pending: PendingValues, _ object: NSManagedObject) throws {
        try pending.forEachObject { slot, value in
            if let destination = value.destination { try checkSaved(destination, from: object, slot) }
            pending.store(slot, try value.stored(object.layout.slots[slot]))
        }
    }

    /// Returns the pending values that differ from the committed ones; the same object if all do.
    private func changedValues(_ pending: PendingValues, _ object: NSManagedObject) throws -> RowValues {
        try fillIn(pending, object)
        let layout = object.layout
        var copy: RowValues?
        for slot in 0..<layout.storedCount where pending.has(slot) {
            if let integer = pending.integer(slot), let row = object.committedRow, layout.slots[slot].kind.isInteger {
                if Int64(bitPattern: row[slot]) != integer || layout.isNull(row, slot) { continue }
            }
            if object.equals(pending.value(slot), .stored(object.committedValue(slot)), layout.slots[slot]) {
                if copy == nil { copy = pending.copy() }
                copy?.clear(slot)
            }
        }
        return copy ?? pending
    }

    /// Checks that a to-one destination will be a row of the same store at the end of this save.
    @inline(__always)
    private func checkSaved(_ destination: NSManagedObject, from object: NSManagedObject, _ slot: Int) throws {
        if destination.storeNumber == object.storeNumber, object.storeNumber >= 0 {
            if destination.flags.isDisjoint(with: [.deleted, .deletionSaved]), destination.heldRegistry != nil {
                return
            }
            return try checkThere(destination, from: object, slot)
        }
        throw destination.flags.contains(.discarded)
            ? deleted(destination, of: object, slot) : unsaved(destination, of: object, slot)
    }

    /// Rejects a deleted destination that the program has set. Delete rules have removed the
    /// references that they cover. A deletion by another writer causes a conflict instead.
    @inline(never)
    private func checkThere(_ destination: NSManagedObject, from object: NSManagedObject, _ slot: Int) throws {
        let property = object.layout.slots[slot]
        if !destination.flags.isDisjoint(with: .rowIsGone) || !object.differsFromCommitted(property) { return }
        throw deleted(destination, of: object, slot)
    }

    private func deleted(_ destination: NSManagedObject, of object: NSManagedObject, _ slot: Int) -> NSError {
        let property = object.layout.slots[slot]
        return ValidationErrors.make(
            .managedObjectValidation, object, property, destination,
            "\(object.layout.name).\(property.name) of \(object.descriptionOfIdentity) leads to "
                + "\(destination.descriptionOfIdentity), which "
                + (destination.flags.contains(.deleted) ? "is to be deleted." : "was deleted."),
            form: ValidationText.gone(property.name),
            recovery:
                "Set the relationship to nil or to another \(destination.layout.name), or take the deletion back "
                + "with insert(_:)."
        )
    }

    private func unsaved(_ destination: NSManagedObject, of object: NSManagedObject, _ slot: Int) -> NSError {
        let place = "\(object.layout.name).\(object.layout.slots[slot].name)"
        if destination.storeNumber >= 0, object.storeNumber >= 0 {
            return CoreDataErrors.make(
                .managedObjectExternalRelationship,
                "\(place) of \(object.descriptionOfIdentity) leads to \(destination.descriptionOfIdentity), which is "
                    + "in another store.",
                recovery:
                    "Relationships cannot cross stores: use a fetched property, or assign both objects to one store.",
                userInfo: [NSAffectedObjectsErrorKey: [object, destination]])
        }
        return CoreDataErrors.make(
            .managedObjectReferentialIntegrity,
            "\(place) of \(object.descriptionOfIdentity) leads to a \(destination.layout.name) that is not part of "
                + "the context and was never saved.",
            recovery: "Insert the destination into the context, or set the relationship to nil.",
            userInfo: [NSAffectedObjectsErrorKey: [object]])
    }

    func collectRelationshipChanges(of object: NSManagedObject, into batch: inout SaveBatch) {
        let hasToMany = object.extrasReference?.withObject { $0.hasToMany } ?? false
        guard hasToMany, let extras = object.extras else { return }
        let layout = object.layout
        for (slot, state) in extras.allToMany where state.hasChanges {
            let property = layout.slots[slot]
            if property.isTransient { continue }
            let isOrdered = property.kind == .orderedToMany
            if property.inverseIsToOne, !isOrdered { continue }
            var change = RelationshipChange(layout: layout, slot: slot, ownerKey: object.key)
            if state.wantedOrder != nil { _ = object.toManyMembers(slot) }
            if isOrdered, state.orderChanged, state.isLoaded {
                change.order = state.members.objects.filter { !$0.isDeleted && $0.storeNumber >= 0 }.map(reference)
            }
            if property.inverseIsToOne || property.isWritingSide(in: layout) {
                change.added = state.added.objects.filter { !$0.isDeleted && $0.storeNumber >= 0 }.map(reference)
                change.removed = state.removed.objects.filter { $0.storeNumber >= 0 }.map(reference)
            }
            if change.order != nil || !change.added.isEmpty || !change.removed.isEmpty {
                batch.relationshipChanges.append(change)
            }
        }
    }

    /// Returns the other ends of a row's changed one-to-one relationships whose own rows are not
    /// written.
    ///
    /// Both ends have a column. If a row is not written because the context's copy has the right
    /// value already, that copy may be outdated: the save checks its version.
    ///
    /// - Parameter values: The written values of the row; nil for a deletion, which ends all its
    ///   relationships.
    /// - Throws: The error of reading an end's row.
    func unwrittenEnds(of object: NSManagedObject, _ values: RowValues?) throws -> [NSManagedObject] {
        var ends: [NSManagedObject] = []
        for slot in object.layout.oneToOneSlots where values?.has(slot) ?? true {
            let property = object.layout.slots[slot]
            func look(at end: NSManagedObject?) throws {
                guard let end, end !== object, end.storeNumber == object.storeNumber, end.registry === context.registry,
                    end.flags.isDisjoint(with: [.inserted, .deleted, .deletionSaved, .discarded]),
                    !end.differsFromCommitted(end.layout.slots[property.inverseSlot(in: end.layout)]),
                    // A missing row refers to nothing.
                    try context.load(end)
                else { return }
                ends.append(end)
            }
            if values != nil { try look(at: object.toOne(slot)) }
            try look(at: object.committedDestination(slot))
        }
        return ends
    }

    /// Appends a row to the ordered relationships of new owners that do not list it, so that no key
    /// is written without a position.
    ///
    /// An owner does not list it after a merge policy has reverted the owner, or after the owner
    /// was recreated.
    ///
    /// - Parameter values: The written values of the row.
    func collectPlaces(of object: NSManagedObject, _ values: RowValues?, into batch: inout SaveBatch) {
        guard let values else { return }
        for slot in object.layout.placedSlots where values.has(slot) {
            guard let destination = object.toOne(slot) else { continue }
            let inverse = object.layout.slots[slot].inverseSlot(in: destination.layout)
            if let state = destination.extras?.toMany(inverse),
                state.added.contains(object) || state.orderChanged && state.isLoaded && state.members.contains(object)
            {
                continue
            }
            var change = RelationshipChange(layout: destination.layout, slot: inverse, ownerKey: destination.key)
            change.added = [reference(object)]
            batch.relationshipChanges.append(change)
        }
    }

    private func reference(_ object: NSManagedObject) -> RowReference {
        RowReference(key: object.key, layoutIndex: object.layout.index)
    }
}
