import Foundation

// Merging changes that other contexts saved.

extension NSManagedObjectContext {
    func mergeSave(_ notification: Notification) {
        let info = notification.userInfo ?? [:]
        let changes = SavedObjectIDs(
            inserted: Self.objectIDs(info[NSInsertedObjectsKey]) + Self.objectIDs(info[NSInsertedObjectIDsKey]),
            updated: Self.objectIDs(info[NSUpdatedObjectsKey]) + Self.objectIDs(info[NSUpdatedObjectIDsKey])
                + Self.objectIDs(info[NSRefreshedObjectsKey]) + Self.objectIDs(info[NSRefreshedObjectIDsKey]),
            deleted: Self.objectIDs(info[NSDeletedObjectsKey]) + Self.objectIDs(info[NSDeletedObjectIDsKey]),
            // A transaction of the history may be newer than the caches, and one of a batch request
            // does not name what its delete rules changed.
            unnamed: notification.object is NSManagedObjectContext ? .none : .aroundDeletions
        ).translated(for: self)
        merge(changes, keepingDeletions: true)
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
                // A batch insertion lists the rows that it changed among those that it inserted.
                let known = changes.inserted.partition { context.registeredObject(for: $0) != nil }
                changes.updated += changes.inserted[known...]
                changes.inserted.removeSubrange(known...)
                context.merge(changes)
            }
        }
    }

    /// Returns the contexts and their ancestors, whose rows they read, ancestors first.
    private static func withParentsFirst(_ contexts: [NSManagedObjectContext]) -> [NSManagedObjectContext] {
        var ordered: [NSManagedObjectContext] = []
        for context in contexts {
            var path = [context]
            while let parent = path.last?.parent { path.append(parent) }
            for context in path.reversed() where !ordered.contains(where: { $0 === context }) {
                ordered.append(context)
            }
        }
        return ordered
    }

    /// Makes rows that were changed behind the caches be read again.
    func forgetCachedRows(_ changes: SavedObjectIDs) {
        for objectID in [changes.inserted, changes.updated, changes.deleted].joined() {
            guard let key = objectID.key, let store = objectID.persistentStore else { continue }
            store.snapshotStore?.forgetCachedRow(key, of: objectID.layout)
        }
    }

    /// - Parameters:
    ///   - keepingDeletions: Whether deleted objects stay until the next save. Otherwise they leave
    ///     the context at once.
    ///   - found: The objects and rows found for the updated rows that are sorted by table; nil if
    ///     none were looked up.
    func merge(_ changes: SavedObjectIDs, keepingDeletions: Bool = false, found: [FoundObjects]? = nil) {
        asOperation { asStep { ContextMerge.run(changes, keepingDeletions: keepingDeletions, found, in: self) } }
    }

    private static func objectIDs(_ value: Any?, _ coordinator: NSPersistentStoreCoordinator? = nil)
        -> [NSManagedObjectID]
    {
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
                "Changes to be merged are arrays or sets of objects, object IDs or their URIs; a value of type "
                    + "\(type(of: other)) is ignored."
            }
            return []
        }
    }

    /// Merges changes that another context saved, on the queue of this context.
    func takeOver(_ changes: SavedObjectIDs) {
        var changes = changes
        changes.sortLargeChanges()
        let handed = HandedChanges(changes)
        let found = sharedRegistry.current.flatMap { registry in
            registry.hasProvisionalKeys ? nil : changes.foundUpdates(in: registry)
        }
        perform {
            self.merge(handed.value, found: found)
            handed.end()
        }
    }

    /// Passes this context's saved changes to its children, and to the contexts with the same
    /// stores or parent. Only contexts that merge automatically get them.
    ///
    /// - Parameter changes: Called only if there are such contexts.
    func tellOthers(_ changes: () -> SavedObjectIDs) {
        let others = (mergingContexts?.all ?? []) + mergingChildren.all
        if !others.contains(where: { $0 !== self }) { return }
        let changes = changes()
        for other in others where other !== self { other.takeOver(changes) }
    }
}
