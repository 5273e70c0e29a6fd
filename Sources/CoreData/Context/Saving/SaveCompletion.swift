import Foundation

/// Updates the objects of a save and the context after the write, and notifies observers.
struct SaveCompletion {
    private let context: NSManagedObjectContext

    init(_ context: NSManagedObjectContext) { self.context = context }

    func finish(_ written: WrittenChanges) {
        // Rows are read by address: their pages must live until every object has its own reference.
        defer { withExtendedLifetime(written) {} }
        context.takenOverCount += 1
        let savedSets = context.changes.takeLastSets()
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
                forgetTemporaryID(of: object)
            }
            context.changes.endInsertion(of: batch.inserted)
            register(batch.inserted, store)
            index = 0
            batch.updated.forEachUnretained { object in
                adopt(outcome.updated.rows[index], object)
                index += 1
            }
            context.changes.endUpdate(of: batch.updated)
            for object in batch.deleted {
                context.rows(ofStore: store.number)?.forgetCachedRow(object.key, of: object.layout)
                context.endDeletion(of: object)
            }
        }
        for object in written.objects.inaccessible { context.endDeletion(of: object) }
        if context.parentContext != nil, context.automaticallyMergesChangesFromParent {
            context.registry.noteOwnInsertions(insertedObjects)
        }
        context.endReferences(to: deletedObjects + written.objects.inaccessible + written.objects.discarded)
        for object in written.objects.discarded where object.flags.contains(.discarded) {
            context.endDiscarding(of: object)
        }
        // Objects that were touched without a persistent change are clean again, too.
        for object in written.objects.updated where object.flags.contains(.updated) && !object.hasPersistentChanges {
            let relationships = object.extras?.allToMany ?? []
            if relationships.contains(where: { $0.state.hasChanges && !object.layout.slots[$0.slot].isTransient }) {
                continue
            }
            context.changes.takeBackChanges(of: object)
            object.dropPendingValues()
            for (_, state) in relationships { state.changesWereSaved() }
            updatedObjects.append(object)
        }
        context.newObjects.keepAssignments(of: context.changes.inserted)
        context.conflictChecks.removeAll()
        context.tellChildrenOfKeys()
        callDidSave(written.objects)
        tell(written.historyToken, savedSets, insertedObjects, updatedObjects, deletedObjects)
    }

    private func callDidSave(_ objects: SavedObjects) {
        // Collected before the first call: a `didSave` may change other objects again.
        var saved: ContiguousArray<NSManagedObject> = []
        objects.inserted.forEachUnretained { object in
            if object.accessorTable.hooks.contains(.didSave), !object.flags.contains(.inserted) { saved.append(object) }
        }
        objects.updated.forEachUnretained { object in
            if object.accessorTable.hooks.contains(.didSave), !object.flags.contains(.updated) { saved.append(object) }
        }
        for object in saved { object.didSave() }
        for object in objects.deleted { object.didSave() }
    }

    private func forgetTemporaryID(of object: NSManagedObject) {
        guard let objectID = object.extrasReference?.withObject({ $0.objectID }), objectID.isTemporaryID
        else { return }
        context.newObjects.forget(objectID)
        object.extras?.objectID = nil
        context.noteKey(of: object, inPlaceOf: objectID)
    }

    /// Makes the saved row the object's committed row, and ends its pending changes.
    private func adopt(_ row: RowPointer, _ object: NSManagedObject) {
        keepObjects(of: object)
        object.adoptSavedRow(row)
        object.extrasReference?.withObject { extras in
            let tookAPlace = extras.deletedRow != nil
            (extras.deletedRow, extras.isRevived) = (nil, false)
            guard extras.hasToMany else { return }
            for (slot, state) in extras.allToMany {
                state.changesWereSaved()
                // Members of the deleted row may refer to this one again: read from the store.
                if tookAPlace, !object.layout.slots[slot].isTransient { extras.setToMany(slot, nil) }
            }
        }
    }

    /// Keeps destinations reachable without a look-up, and the identity of transformable values.
    private func keepObjects(of object: NSManagedObject) {
        object.pendingReference?.withObject { pending in
            pending.forEachObject { slot, value in
                switch value {
                case .object(let destination): object.withExtras { $0.setToOne(slot, destination) }
                case .custom(let custom): object.withExtras { $0.setDecoded(slot, custom.value) }
                case .stored: break
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
            context.registry.withTable(store: store.number, root: root) { table in
                table.reserve(table.count + end - start)
                objects.forEachUnretained(in: start..<end) { table.insert(Unretained($0), key: $0.key) }
            }
            start = end
        }
        context.noteUse(of: objects, store: store.number)
        if context.retainsRegisteredObjects { context.retained.formUnion(objects) }
    }

    private static func identifiers(of objects: ContiguousArray<NSManagedObject>) -> Set<NSManagedObjectID> {
        var set = Set<NSManagedObjectID>(minimumCapacity: objects.count + objects.count / 2)
        var token: StoreToken?
        var number: Int16 = -1
        objects.forEachUnretained { object in
            if let known = object.extrasReference?.withObject({ $0.objectID }) {
                set.insert(known)
                return
            }
            if object.storeNumber != number {
                number = object.storeNumber
                token = object.registry?.store(number: Int(number))?.token
            }
            if object.key < 0 {
                set.insert(object.objectID)
                return
            }
            guard let token else { return }
            set.insert(NSManagedObjectID(key: object.key, layout: object.layout, token: token))
        }
        return set
    }

    /// Returns the common entries of both notifications of a save.
    private func commonUserInfo(_ token: NSPersistentHistoryToken?) -> [AnyHashable: Any] {
        var userInfo = [AnyHashable: Any](minimumCapacity: 6)
        userInfo[NSManagedObjectContext.NotificationKey.sourceContext.rawValue] = context
        if let generation = context.queryGenerationToken {
            userInfo[NSManagedObjectContextQueryGenerationKey] = generation
        }
        userInfo[Self.historyTokenKey] = token
        return userInfo
    }

    /// The key of the history token in both notifications, for which Core Data has no constant.
    private static let historyTokenKey = "newChangeToken"

    /// Makes other contexts merge the saved changes, and notifies observers and listeners.
    private func tell(
        _ token: @autoclosure () -> NSPersistentHistoryToken?,
        _ savedSets: (inserted: Set<NSManagedObject>?, updated: Set<NSManagedObject>?),
        _ insertedObjects: ContiguousArray<NSManagedObject>, _ updatedObjects: ContiguousArray<NSManagedObject>,
        _ deletedObjects: ContiguousArray<NSManagedObject>
    ) {
        // First, so that blocks that an observer enqueues find merging contexts up to date.
        context.tellOthers {
            SavedObjectIDs(
                inserted: insertedObjects.map(\.objectID), updated: updatedObjects.map(\.objectID),
                deleted: deletedObjects.map(\.objectID))
        }
        let count = insertedObjects.count + updatedObjects.count + deletedObjects.count
        if ContextNotification.didSave.isWanted(forObjects: count) {
            var userInfo = commonUserInfo(token())
            userInfo[NSInsertedObjectsKey] =
                savedSets.inserted.flatMap { $0.count == insertedObjects.count ? $0 : nil }
                ?? NSManagedObjectContext.set(of: insertedObjects)
            userInfo[NSUpdatedObjectsKey] =
                savedSets.updated.flatMap { $0.count == updatedObjects.count ? $0 : nil }
                ?? NSManagedObjectContext.set(of: updatedObjects)
            userInfo[NSDeletedObjectsKey] = NSManagedObjectContext.set(of: deletedObjects)
            NotificationCenter.default.post(name: ContextNotification.didSave.name, object: context, userInfo: userInfo)
        }
        if ContextNotification.didSaveIDs.isWanted(forObjects: count) {
            var userInfo = commonUserInfo(token())
            userInfo[NSInsertedObjectIDsKey] = Self.identifiers(of: insertedObjects)
            userInfo[NSUpdatedObjectIDsKey] = Self.identifiers(of: updatedObjects)
            userInfo[NSDeletedObjectIDsKey] = Self.identifiers(of: deletedObjects)
            NotificationCenter.default.post(
                name: ContextNotification.didSaveIDs.name, object: context, userInfo: userInfo)
        }
        let savedObjects = [insertedObjects, updatedObjects]
        context.tellListenersAfterEvent { [context] in $0.context(context, didSave: savedObjects) }
    }
}
