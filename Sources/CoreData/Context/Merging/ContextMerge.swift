import Foundation

/// Merges changes that other contexts have saved into a context, in one turn.
final class ContextMerge {
    private let context: NSManagedObjectContext
    private let changes: SavedObjectIDs
    private let newest: NewestRows
    /// Whether an observer may be notified of the merge.
    private let tellsMerge: Bool
    /// Whether a listener needs rows that the context has not read.
    private let tellsUnread: Bool
    private let journal: ChangeJournal?
    /// The objects whose values were read again.
    private var refreshedIDs: [NSManagedObjectID] = []
    private var deleted: [NSManagedObject] = []
    /// The relationship changes of the objects that got newer rows.
    private var unsettled: [UnsavedEnds] = []

    private init(_ changes: SavedObjectIDs, in context: NSManagedObjectContext, tellsMerge: Bool) {
        self.context = context
        self.changes = changes
        self.tellsMerge = tellsMerge
        tellsUnread = context.listeners.hearOfUnreadRows
        journal = context.journal
        newest = NewestRows(of: context)
    }

    /// - Parameters:
    ///   - keepingDeletions: Whether deleted objects stay until the next save. Otherwise they leave
    ///     the context at once.
    ///   - found: The objects and rows found for the updated rows that are sorted by table; nil if
    ///     none were looked up.
    static func run(
        _ changes: SavedObjectIDs, keepingDeletions: Bool, _ found: [FoundObjects]?, in context: NSManagedObjectContext
    ) {
        if context.journal != nil { context.processPendingChanges() }
        // Undo in this context does not revert changes of other contexts.
        context.absorbing { merge(changes, keepingDeletions: keepingDeletions, found, in: context) }
    }

    private static func merge(
        _ changes: SavedObjectIDs, keepingDeletions: Bool, _ found: [FoundObjects]?, in context: NSManagedObjectContext
    ) {
        context.advanceGeneration()
        context.takenOverCount += 1
        let others = context.otherChanges(than: changes)
        defer { withExtendedLifetime(others) {} }
        let count = changes.count + others.updated.count + others.deleted.count
        Instruments.record(.merge(context: context.name, count: count))
        let merge = ContextMerge(
            changes, in: context, tellsMerge: ContextNotification.didMerge.isWanted(forObjects: count))
        merge.takeInsertions()
        merge.takeUpdates(found)
        merge.takeUpdates(others.updated)
        merge.takeDeletions()
        merge.takeDeletions(others.deleted)
        merge.settleEnds()
        merge.newest.releaseReplacedPages()
        context.processPendingChanges()
        if !keepingDeletions { merge.endDeletions() }
        var all = changes
        all.add(updated: others.updated, deleted: others.deleted)
        for child in context.mergingChildren.all { child.takeOver(all) }
        merge.tell(all)
        context.releaseDeparted()
    }

    // MARK: Insertions

    private func takeInsertions() {
        // Objects that are neither reported nor retained would be released at once.
        guard
            tellsUnread || context.retainsRegisteredObjects
                || ContextNotification.didChange.isWanted(forObjects: changes.inserted.count)
        else { return }
        for objectID in context.registry.withoutOwnInsertions(changes.inserted)
        where objectID.persistentStore != nil || objectID.serial(in: context.registry.identities) != nil {
            let object = context.object(with: objectID)
            if object.hasChanges { continue }
            context.changes.noteMergedInsertion(of: object)
        }
    }

    // MARK: Updates

    private func takeUpdates(_ found: [FoundObjects]?) {
        guard let tables = changes.updatedRows, !tellsUnread, context.parentContext == nil else {
            return takeUpdates(changes.updated)
        }
        for (number, rows) in tables.enumerated() {
            if let found = found?[number], found.isComplete(rows, in: context.registry) {
                takeUpdates(rows, found)
            } else if let first = rows.places.first {
                let cache = context.rows(ofStore: rows.store)?.rowCache(of: changes.updated[first].layout)
                takeUpdates(rows, FoundObjects(rows, in: context.registry, cache))
            }
        }
    }

    private func takeUpdates(_ objectIDs: [NSManagedObjectID]) {
        for objectID in objectIDs {
            // A new object meets the conflict with the current row in its own save.
            if let object = context.registeredObject(for: objectID), !object.flags.contains(.inserted),
                newest.withRow(of: object, { takeUpdate(objectID, object, $0) })
            {
                context.changes.noteReread(object)
            } else if tellsUnread {
                context.changes.noteUnseenUpdate(of: objectID)
            }
        }
    }

    private func takeUpdates(_ rows: SavedObjectIDs.RowsOfTable, _ found: FoundObjects) {
        var reread: ContiguousArray<NSManagedObject> = []
        /// The number of objects examined while all of them were read again.
        var count = 0
        newest.forEachRow(of: found) { place, row in
            let object = found.objects[place]
            let isReread =
                !object.flags.contains(.inserted)
                && takeUpdate(changes.updated[rows.places[found.places[place]]], object, row)
            if isReread, count == place {
                count += 1
            } else if isReread {
                reread.append(object)
            }
        }
        context.changes.noteReread(count == found.objects.count ? found.objects : found.objects[..<count] + reread)
    }

    /// Gives an updated object its newest row. Returns whether its values were read again.
    private func takeUpdate(
        _ objectID: @autoclosure () -> NSManagedObjectID, _ object: NSManagedObject, _ row: RowPointer?
    ) -> Bool {
        let wasLoaded = !object.flags.contains(.fault)
        newest.keepReplacedPage(of: object)
        take(row, object)
        journal?.reread(object)
        if wasLoaded, tellsMerge { refreshedIDs.append(objectID()) }
        return wasLoaded
    }

    /// Gives an object the newest committed row under its pending changes. Relationships are read
    /// again when needed.
    ///
    /// - Parameter row: Nil if the row is not known.
    private func take(_ row: RowPointer?, _ object: NSManagedObject) {
        if object.hasChanges { unsettled.append(UnsavedEnds(of: object)) }
        if object.flags.contains(.fault) {
            object.forgetRowAndPage()
        } else if let row {
            context.forgetUnchanged(object)
            context.adoptCommitted(row, object)
        } else if object.hasChanges {
            context.reload(object)
        } else {
            context.turnIntoFault(object)
        }
    }

    /// Makes both ends agree of relationships that this context and another one have changed.
    private func settleEnds() {
        var settlement = EndSettlement(context)
        for ends in unsettled { settlement.settle(ends, .merging) }
        unsettled = []
        context.checkEnds()
    }

    // MARK: Deletions

    private func takeDeletions() {
        guard let tables = changes.deletedRows, context.parentContext == nil else {
            return takeDeletions(changes.deleted)
        }
        for rows in tables {
            context.registry.objects(store: rows.store, root: rows.root, keys: rows.keys[...]).objects.forEach(
                takeDeletion)
        }
    }

    private func takeDeletions(_ objectIDs: [NSManagedObjectID]) {
        objectIDs.compactMap(context.registeredObject(for:)).forEach(takeDeletion)
    }

    private func takeDeletion(_ object: NSManagedObject) {
        if object.flags.contains(.inserted) { return }
        if object.flags.contains(.updated) { context.leaveNewRelationships(of: object) }
        // Observers of the deletion find the object in the context.
        context.changes.markDeletedElsewhere(object)
        context.changes.noteMergedDeletion(of: object)
        deleted.append(object)
    }

    /// Removes the objects from the context that are still deleted, after observers were notified.
    private func endDeletions() {
        let gone = deleted.filter { $0.registry === context.registry && $0.flags.contains(.deletedElsewhere) }
        for object in gone { context.endDeletion(of: object) }
        context.endReferences(to: gone)
    }

    // MARK: Notifying

    /// - Parameter changes: The merged changes, including those found in addition.
    private func tell(_ changes: SavedObjectIDs) {
        if tellsMerge {
            NotificationCenter.default.post(
                name: ContextNotification.didMerge.name, object: context,
                userInfo: [
                    NSInsertedObjectIDsKey: Set(changes.inserted), NSUpdatedObjectIDsKey: Set(changes.updated),
                    NSDeletedObjectIDsKey: Set(changes.deleted), NSRefreshedObjectIDsKey: Set(refreshedIDs),
                    NSManagedObjectContext.NotificationKey.sourceContext.rawValue: context,
                ])
        }
        context.tellListenersAfterEvent { [context] in $0.contextDidMerge(context) }
    }
}
