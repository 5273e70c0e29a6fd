/// The changes of a context since pending changes were last processed.
struct ContextEvent {
    /// Inserted, changed and deleted objects, in the order of their first change.
    var objects: ContiguousArray<NSManagedObject> = []
    /// Refreshed objects. An object may be in the list more than once.
    var refreshed: ContiguousArray<NSManagedObject> = []
    var invalidated: Set<NSManagedObject> = []
    /// Insertions and deletions that a merge brought in.
    var mergedInsertions: Set<NSManagedObject> = []
    var mergedDeletions: Set<NSManagedObject> = []
    /// Unread rows that other contexts changed. Collected only if a listener needs them.
    var unseenUpdates: [NSManagedObjectID] = []

    var isEmpty: Bool {
        objects.isEmpty && refreshed.isEmpty && invalidated.isEmpty && mergedInsertions.isEmpty
            && mergedDeletions.isEmpty
            && unseenUpdates.isEmpty
    }

    mutating func removeAll(where isGone: (NSManagedObject) -> Bool) {
        objects.removeAll(where: isGone)
        refreshed.removeAll(where: isGone)
        mergedInsertions = mergedInsertions.filter { !isGone($0) }
        mergedDeletions = mergedDeletions.filter { !isGone($0) }
    }
}

/// The changed properties of one object in an event that ends.
struct ChangedProperties {
    /// The properties that were set.
    let touched: SlotMask
    /// The set properties whose value differs from the one before the event.
    let altered: SlotMask

    /// Returns nil if no property was set.
    init?(of object: NSManagedObject) {
        guard let pending = object.pending, !pending.eventMask.isEmpty else { return nil }
        touched = pending.eventMask
        var altered = touched
        touched.forEach(below: object.layout.slots.count) { index in
            let slot = object.layout.slots[index]
            if slot.kind.isToMany || slot.kind == .fetched || slot.composite != nil { return }
            if object.hasFormerValue(slot, pending.former) { altered.remove(index) }
        }
        self.altered = altered
    }
}

/// The changes of an ended event, by kind. Its objects no longer belong to any event.
struct EventChanges {
    let inserted: ContiguousArray<NSManagedObject>
    /// Whether all insertions are pending here: merged ones must not be kept alive.
    let insertionsArePending: Bool
    let updated: ContiguousArray<NSManagedObject>
    /// Whether all updates change stored rows: a new object of an earlier event has none.
    let updatesArePending: Bool
    let deleted: ContiguousArray<NSManagedObject>
    let refreshed: RereadObjects
    let invalidated: Set<NSManagedObject>
    /// All objects whose values were read again, including those that count as updated.
    let reread: RereadObjects
    /// Rows that other contexts changed and no complete object of this context holds.
    let unseenUpdates: [NSManagedObjectID]
    /// New objects that were deleted or given up. They leave now or with the next save.
    let discarded: [NSManagedObject]
    /// All objects of the event.
    private let objects: ContiguousArray<NSManagedObject>
    /// For a listener: the changed properties, which a save by the first one would end.
    private let changedProperties: [ObjectIdentifier: ChangedProperties]

    var count: Int { inserted.count + updated.count + deleted.count + refreshed.count + invalidated.count }

    init(_ event: ContextEvent, keepingProperties: Bool) {
        objects = event.objects
        changedProperties = keepingProperties ? Self.changedProperties(of: event.objects) : [:]
        invalidated = event.invalidated
        reread = RereadObjects(event.refreshed)
        unseenUpdates = event.unseenUpdates
        insertionsArePending = event.mergedInsertions.isEmpty
        var newCount = 0
        objects.forEachUnretained { object in
            if object.flags.isNew { newCount += 1 }
        }
        if newCount == objects.count, event.mergedInsertions.isEmpty {
            // The event has insertions only: its list is the list of inserted objects.
            objects.forEachUnretained { $0.leaveEvent() }
            inserted = objects
            updated = []
            updatesArePending = true
            deleted = ContiguousArray(event.mergedDeletions)
            refreshed = reread
            discarded = []
            return
        }
        var inserted = ContiguousArray(event.mergedInsertions)
        var updated: ContiguousArray<NSManagedObject> = []
        var deleted = ContiguousArray(event.mergedDeletions)
        var discarded: [NSManagedObject] = []
        var updatesArePending = true
        for object in objects {
            let flags = object.flags
            object.leaveEvent()
            if flags.contains(.discarded) {
                // An object that was inserted in the same event counts as deleted only.
                discarded.append(object)
                deleted.append(object)
            } else if flags.contains(.deleted) {
                deleted.append(object)
            } else if flags.contains(.insertedInEvent) {
                inserted.append(object)
            } else if event.mergedInsertions.contains(object) {
                // Its deletion was undone: it counts as inserted.
            } else if flags.contains(.inserted) || flags.contains(.updated) {
                updated.append(object)
                if flags.contains(.inserted) { updatesArePending = false }
            }
        }
        self.inserted = inserted
        self.updated = updated
        self.updatesArePending = updatesArePending
        self.deleted = deleted
        refreshed = reread.without(updated)
        self.discarded = discarded
    }

    private static func changedProperties(of objects: ContiguousArray<NSManagedObject>) -> [ObjectIdentifier:
        ChangedProperties]
    {
        var properties: [ObjectIdentifier: ChangedProperties] = [:]
        for object in objects {
            if let changed = ChangedProperties(of: object) { properties[ObjectIdentifier(object)] = changed }
        }
        return properties
    }

    /// Returns the properties of an object that changed in the event; nil if none did. They are
    /// known only if something followed the context when the event ended.
    func changedProperties(of object: NSManagedObject) -> ChangedProperties? {
        changedProperties[ObjectIdentifier(object)]
    }

    /// Forgets the changed properties and former states of the objects that have not changed since.
    func finish() {
        objects.forEachUnretained { object in
            if object.flags.contains(.inEvent) { return }
            object.pendingReference?.withObject { $0.endEvent() }
        }
    }
}
