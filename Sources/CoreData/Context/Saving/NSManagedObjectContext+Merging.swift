import Foundation

// Taking over what other contexts saved.

extension NSManagedObjectContext {
    func mergeSave(_ notification: Notification) {
        let info = notification.userInfo ?? [:]
        merge(
            SavedObjectIDs(
                inserted: Self.objectIDs(info[NSInsertedObjectsKey]) + Self.objectIDs(info[NSInsertedObjectIDsKey]),
                updated: Self.objectIDs(info[NSUpdatedObjectsKey]) + Self.objectIDs(info[NSUpdatedObjectIDsKey])
                    + Self.objectIDs(info[NSRefreshedObjectsKey]) + Self.objectIDs(info[NSRefreshedObjectIDsKey]),
                deleted: Self.objectIDs(info[NSDeletedObjectsKey]) + Self.objectIDs(info[NSDeletedObjectIDsKey])
            ).translated(for: self),
            keepingDeletions: true)
    }

    static func mergeRemoteSave(_ changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]) {
        for context in withParentsFirst(contexts) {
            context.performAndWait {
                func ids(_ keys: String...) -> [NSManagedObjectID] {
                    keys.flatMap { objectIDs(changeNotificationData[$0], context.persistentStoreCoordinator) }
                }
                var changes = SavedObjectIDs(
                    inserted: ids(NSInsertedObjectsKey, NSInsertedObjectIDsKey),
                    updated: ids(
                        NSUpdatedObjectsKey, NSUpdatedObjectIDsKey, NSRefreshedObjectsKey, NSRefreshedObjectIDsKey),
                    deleted: ids(NSDeletedObjectsKey, NSDeletedObjectIDsKey), unnamed: .aroundDeletions
                ).translated(for: context)
                // A batch insertion names the rows that it changed among those that it inserted.
                let known = changes.inserted.partition { context.registeredObject(for: $0) != nil }
                changes.updated += changes.inserted[known...]
                changes.inserted.removeSubrange(known...)
                context.merge(changes)
            }
        }
    }

    /// Contexts and those above them, which are where their rows come from.
    private static func withParentsFirst(_ contexts: [NSManagedObjectContext]) -> [NSManagedObjectContext] {
        var ordered: [NSManagedObjectContext] = []
        for context in contexts {
            var path = [context]
            while let parent = path.last?.parent { path.append(parent) }
            for context in path.reversed() where !ordered.contains(where: { $0 === context }) { ordered.append(context) }
        }
        return ordered
    }

    /// Has the rows read anew that were changed behind the caches.
    func forgetCachedRows(_ changes: SavedObjectIDs) {
        for objectID in [changes.inserted, changes.updated, changes.deleted].joined() {
            guard let key = objectID.key, let store = objectID.persistentStore else { continue }
            store.snapshotStore?.forgetCachedRow(key, of: objectID.layout)
        }
    }

    /// - Parameters:
    ///   - keepingDeletions: whether deleted objects stay until the next save, or leave the context at once.
    ///   - found: what was found of the updated rows that are sorted by table; nil where nobody has looked.
    func merge(_ changes: SavedObjectIDs, keepingDeletions: Bool = false, found: [FoundObjects]? = nil) {
        asOperation { asStep { mergeChanges(changes, keepingDeletions: keepingDeletions, found) } }
    }

    private func mergeChanges(_ changes: SavedObjectIDs, keepingDeletions: Bool, _ found: [FoundObjects]?) {
        if journal != nil { processPendingChanges() }
        advanceGeneration()
        takenOverCount += 1
        let others = otherChanges(than: changes)
        defer { withExtendedLifetime(others) {} }
        let tellsMerge = ContextNotification.didMerge.isWanted(forObjects: changes.count + others.updated.count + others.deleted.count)
        var refreshedIDs: [NSManagedObjectID] = []
        let tellsUnread = listeners.hearOfUnreadRows
        // Objects that nobody hears of and nothing keeps would go at once.
        let hasUse = tellsUnread || retainsRegisteredObjects || ContextNotification.didChange.isWanted(forObjects: changes.inserted.count)
        let inserted = hasUse ? changes.inserted : []
        for objectID in inserted where objectID.persistentStore != nil || objectID.serial(in: registry.identities) != nil {
            let object = object(with: objectID)
            if object.hasChanges { continue }
            self.changes.noteMergedInsertion(of: object)
        }
        let journal = journal
        let newest = NewestRows(of: self)
        /// Whether the values of an object were read again.
        func takeUpdate(_ objectID: @autoclosure () -> NSManagedObjectID, _ object: NSManagedObject, _ row: RowPointer?) -> Bool {
            let wasLoaded = !object.flags.contains(.fault)
            newest.keepReplacedPage(of: object)
            take(row, object)
            journal?.reread(object)
            if wasLoaded, tellsMerge { refreshedIDs.append(objectID()) }
            return wasLoaded
        }
        func takeUpdates(_ objectIDs: [NSManagedObjectID]) {
            for objectID in objectIDs {
                // One that is to be saved as a new row meets the row that is there now in its save.
                if let object = registeredObject(for: objectID), !object.flags.contains(.inserted),
                    newest.withRow(of: object, { takeUpdate(objectID, object, $0) })
                {
                    self.changes.noteReread(object)
                } else if tellsUnread {
                    self.changes.noteUnseenUpdate(of: objectID)
                }
            }
        }
        func takeUpdates(_ rows: SavedObjectIDs.RowsOfTable, _ found: FoundObjects) {
            var reread: ContiguousArray<NSManagedObject> = []
            /// How many have been looked at, while all of them were read again.
            var count = 0
            newest.forEachRow(of: found) { place, row in
                let object = found.objects[place]
                let isReread =
                    !object.flags.contains(.inserted) && takeUpdate(changes.updated[rows.places[found.places[place]]], object, row)
                if isReread, count == place {
                    count += 1
                } else if isReread {
                    reread.append(object)
                }
            }
            self.changes.noteReread(count == found.objects.count ? found.objects : found.objects[..<count] + reread)
        }
        if let tables = changes.updatedRows, !tellsUnread, parentContext == nil {
            for (number, rows) in tables.enumerated() {
                if let found = found?[number], found.isComplete(rows, in: registry) {
                    takeUpdates(rows, found)
                } else if let first = rows.places.first {
                    let cache = self.rows(ofStore: rows.store)?.rowCache(of: changes.updated[first].layout)
                    takeUpdates(rows, FoundObjects(rows, in: registry, cache))
                }
            }
        } else {
            takeUpdates(changes.updated)
        }
        takeUpdates(others.updated)
        var deleted: [NSManagedObject] = []
        func takeDeletion(_ object: NSManagedObject) {
            if object.flags.contains(.inserted) { return }
            // Whoever is told of its end finds it in the context.
            self.changes.markDeletedElsewhere(object)
            self.changes.noteMergedDeletion(of: object)
            deleted.append(object)
        }
        if let tables = changes.deletedRows, parentContext == nil {
            for rows in tables { registry.objects(store: rows.store, root: rows.root, keys: rows.keys[...]).objects.forEach(takeDeletion) }
        } else {
            changes.deleted.compactMap(registeredObject(for:)).forEach(takeDeletion)
        }
        others.deleted.compactMap(registeredObject(for:)).forEach(takeDeletion)
        newest.releaseReplacedPages()
        processPendingChanges()
        if !keepingDeletions {
            for object in deleted where object.registry === registry && object.flags.contains(.deletedElsewhere) { endDeletion(of: object) }
        }
        var changes = changes
        changes.add(updated: others.updated, deleted: others.deleted)
        if tellsMerge {
            NotificationCenter.default.post(
                name: ContextNotification.didMerge.name, object: self,
                userInfo: [
                    NSInsertedObjectIDsKey: Set(changes.inserted), NSUpdatedObjectIDsKey: Set(changes.updated),
                    NSDeletedObjectIDsKey: Set(changes.deleted), NSRefreshedObjectIDsKey: Set(refreshedIDs),
                    NotificationKey.sourceContext.rawValue: self,
                ])
        }
        tellListenersAfterEvent { $0.contextDidMerge(self) }
        for child in mergingChildren.all { child.takeOver(changes) }
    }

    /// Gives an object the newest committed row under its pending changes; relationships are read again when needed.
    ///
    /// - Parameter row: nil where it is not known.
    private func take(_ row: RowPointer?, _ object: NSManagedObject) {
        if object.flags.contains(.fault) {
            object.forgetRowAndPage()
        } else if let row {
            forgetUnchanged(object)
            adoptCommitted(row, object)
        } else if object.hasChanges {
            reload(object)
        } else {
            turnIntoFault(object)
        }
    }

    private static func objectIDs(_ value: Any?, _ coordinator: NSPersistentStoreCoordinator? = nil) -> [NSManagedObjectID] {
        func id(_ element: Any) -> NSManagedObjectID? {
            switch element {
            case let object as NSManagedObject: object.objectID
            case let objectID as NSManagedObjectID: objectID
            case let url as URL: coordinator?.managedObjectID(forURIRepresentation: url)
            default: nil
            }
        }
        switch value {
        case let objects as Set<NSManagedObject>: return objects.map(\.objectID)
        case let ids as Set<NSManagedObjectID>: return Array(ids)
        case let urls as Set<URL>: return urls.compactMap(id)
        case let array as [Any]: return array.compactMap(id)
        case let set as NSSet: return set.allObjects.compactMap(id)
        case let set as Set<AnyHashable>: return set.compactMap { id($0.base) }
        case nil: return []
        case let other?:
            Warnings.sayOnce(about: "merged changes of type \(type(of: other))") {
                "Changes to be merged are arrays or sets of objects, object IDs or their URIs; a value of type \(type(of: other)) is ignored."
            }
            return []
        }
    }

    /// Takes over what another context saved, on the queue of this one.
    func takeOver(_ changes: SavedObjectIDs) {
        var changes = changes
        changes.sortLargeChanges()
        let handed = HandedChanges(changes)
        let found = registry.hasProvisionalKeys ? nil : changes.foundUpdates(in: registry)
        perform {
            self.merge(handed.value, found: found)
            handed.end()
        }
    }

    /// Has those contexts take over what this one saved that are to: its children, and those that work on the same stores or parent.
    ///
    /// - Parameter changes: called only if there are any.
    func tellOthers(_ changes: () -> SavedObjectIDs) {
        let others = (mergingContexts?.all ?? []) + mergingChildren.all
        if !others.contains(where: { $0 !== self }) { return }
        let changes = changes()
        for other in others where other !== self { other.takeOver(changes) }
    }
}
