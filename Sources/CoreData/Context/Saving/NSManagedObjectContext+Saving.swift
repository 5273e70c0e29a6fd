import Foundation

// Saving: hooks, validation, keys, one transaction per store, snapshots, hooks, notifications.

extension NSManagedObjectContext {
    private static let maximumWillSaveRounds = 1000
    private static let maximumConflictRounds = 16

    func saveChanges() throws {
        try asSave { coordinator in
            NotificationCenter.default.post(name: Self.willSaveObjectsNotification, object: self, userInfo: nil)
            processPendingChanges()
            let drawnIn = try completeInverses(of: pendingObjects())
            try callWillSave()
            let objects = pendingObjects()
            try validate(objects)
            checkEnds(isComplete: true)
            return try unpinned { try write(objects, coordinator, drawnIn: drawnIn) }
        }
    }

    /// Runs the steps that write changes between those that every save begins and ends with.
    private func asSave(_ write: (NSPersistentStoreCoordinator) throws -> WrittenChanges) throws {
        guard activity.beginSaving() else { throw CoreDataErrors.recursiveSave(nameInMessages) }
        defer {
            activity.endSaving()
            releaseDeparted()
        }
        let start = Instruments.now
        let coordinator = try requireCoordinator("save")
        try throwReadFailure()
        processPendingChanges()
        let written = try write(coordinator)
        SaveCompletion(self).finish(written)
        Instruments.record(
            .save(ExecutedSave(written.objects, of: self, nanoseconds: Instruments.duration(since: start))))
    }

    /// Throws the error that an accessor could not throw: later changes may depend on it.
    private func throwReadFailure() throws {
        guard let failure = readFailure else { return }
        readFailure = nil
        throw failure
    }

    /// Writes exactly the changes that a request names, without validation.
    func write(_ request: NSSaveChangesRequest) throws {
        try asSave { coordinator in try writeChanges(of: request, coordinator) }
    }

    private func writeChanges(of request: NSSaveChangesRequest, _ coordinator: NSPersistentStoreCoordinator) throws
        -> WrittenChanges
    {
        func named(_ objects: Set<NSManagedObject>?, among list: ChangeList) -> ContiguousArray<NSManagedObject> {
            guard let objects, !objects.isEmpty else { return [] }
            return list.objects.filter { objects.contains($0) }
        }
        var completed: ContiguousArray<NSManagedObject> = []
        // A new object may become the object of a row with its unique values.
        let updates = (request.updatedObjects ?? []).union(request.insertedObjects ?? [])
        func objects(_ settled: ContiguousArray<NSManagedObject> = []) throws -> SavedObjects {
            var objects = SavedObjects(
                inserted: named(request.insertedObjects, among: changes.inserted),
                updated: named(updates, among: changes.updated).filter { $0.flags.isDisjoint(with: .rowIsGone) },
                deletions: named(request.deletedObjects, among: changes.deleted))
            completed += try completeInverses(of: objects) + settled
            objects.updated += completed.filter { $0.flags.contains(.updated) && !objects.updated.contains($0) }
            objects.updated += otherHalves(of: objects)
            return objects
        }
        conflictChecks.formUnion(request.lockedObjects ?? [])
        let written = try objects()
        return try unpinned { try write(written, coordinator, drawnIn: completed, remaining: objects) }
    }

    /// Returns the other ends of changed one-to-one relationships: both are saved, or none.
    private func otherHalves(of objects: SavedObjects) -> ContiguousArray<NSManagedObject> {
        var waiting = objects.inserted + objects.updated
        var known = Set(waiting)
        var found: ContiguousArray<NSManagedObject> = []
        while let object = waiting.popLast() {
            for (slot, gained, lost) in UnsavedEnds(of: object).changes {
                let property = object.layout.slots[slot]
                if property.kind.isToMany || property.inverseIsToMany { continue }
                for half in gained + lost where half.flags.contains(.updated) && known.insert(half).inserted {
                    found.append(half)
                    waiting.append(half)
                }
            }
        }
        return found
    }

    /// All pending changes.
    private func pendingObjects() -> SavedObjects {
        SavedObjects(
            inserted: changes.inserted.objects, updated: changes.updated.objects, deletions: changes.deleted.objects)
    }

    private func callWillSave() throws {
        var round = 0
        while true {
            var called = false
            for list in [changes.inserted.objects, changes.updated.objects, changes.deleted.objects] {
                list.forEachUnretained { object in
                    // A save writes nothing for a deleted new object.
                    guard object.flags.intersection([.changedInSave, .discarded]) == .changedInSave else { return }
                    object.unmarkChangedInSave()
                    guard object.accessorTable.hooks.contains(.willSave) else { return }
                    called = true
                    object.willSave()
                }
            }
            if !called { return }
            processPendingChanges()
            var changed: ContiguousArray<NSManagedObject> = []
            if try completeOneSided(pendingObjects(), &changed) { absorbing { processPendingChanges() } }
            round += 1
            if round > Self.maximumWillSaveRounds {
                let culprit = (changes.inserted.objects + changes.updated.objects + changes.deleted.objects)
                    .first { $0.flags.intersection([.changedInSave, .discarded]) == .changedInSave }
                throw CoreDataErrors.endlessWillSave(culprit)
            }
        }
    }

    private func validate(_ objects: SavedObjects) throws {
        var errors: [any Error] = []
        func collect(_ body: () throws -> Void) {
            do { try body() } catch { errors += ValidationErrors.flattened(error) }
        }
        registry.isValidatingSave = true
        defer { registry.isValidatingSave = false }
        for object in objects.deleted { collect { try object.validateForDelete() } }
        objects.inserted.forEachUnretained { object in
            if object.accessorTable.hooks.contains(.validation) { collect { try object.validateForInsert() } }
        }
        objects.updated.forEachUnretained { object in
            if object.accessorTable.hooks.contains(.validation) { collect { try object.validateForUpdate() } }
        }
        // After a failed save the hooks must be called again.
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

    /// - Parameters:
    ///   - drawnIn: The objects that are saved only as destinations of other changed objects.
    ///   - remaining: Returns the objects to write after a merge policy has changed the pending
    ///     changes, given the objects that have a change because of that; nil to write all of them.
    private func write(
        _ initial: SavedObjects, _ coordinator: NSPersistentStoreCoordinator, drawnIn: ContiguousArray<NSManagedObject>,
        remaining: ((ContiguousArray<NSManagedObject>) throws -> SavedObjects)? = nil
    ) throws -> WrittenChanges {
        var objects = initial
        var past: PastConflicts?
        var rounds = 0
        var isWritten = false
        defer { if !isWritten { giveUpKeys() } }
        while true {
            do {
                var attempt = SaveAttempt(objects, coordinator, self)
                let written = try attempt.run()
                isWritten = true
                return written
            } catch let conflicts as StoreConflicts {
                rounds += 1
                Instruments.record(
                    .conflicts(
                        context: name, count: conflicts.conflicts.rows.count + conflicts.conflicts.violations.count))
                if rounds > Self.maximumConflictRounds {
                    markUnsaved(objects)
                    throw CoreDataErrors.make(
                        .managedObjectMerge,
                        "The save met conflicts again and again: other writers changed the same rows \(rounds) times "
                            + "meanwhile."
                    )
                }
                let settled: ContiguousArray<NSManagedObject>
                do {
                    let conflictsBefore = past ?? PastConflicts(drawnIn: drawnIn)
                    past = conflictsBefore
                    settled = try absorbing {
                        try ConflictResolution(conflicts, after: conflictsBefore, in: self).resolve()
                    }
                    conflictsBefore.drawnIn.formUnion(settled)
                    if remaining == nil {
                        conflictsBefore.drawnIn.formUnion(try completeInverses(of: pendingObjects()))
                    }
                    checkEnds()
                    // The resolution may have changed objects that were not to be saved before.
                    try callWillSave()
                } catch {
                    markUnsaved(objects)
                    throw error
                }
                objects = try remaining?(settled) ?? pendingObjects()
                try validate(objects)
            } catch {
                markUnsaved(objects)
                throw error
            }
        }
    }
}

extension ExecutedSave {
    fileprivate init(_ objects: SavedObjects, of context: NSManagedObjectContext, nanoseconds: Int64) {
        self.init(
            context: context.name, inserted: objects.inserted.count, updated: objects.updated.count,
            deleted: objects.deleted.count, held: context.registry.objectCount, nanoseconds: nanoseconds)
    }
}
