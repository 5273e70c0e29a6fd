/// What changed in a context since pending changes were last processed.
struct ContextEvent {
    /// Inserted, changed and deleted objects, in the order of their first change.
    var objects: ContiguousArray<NSManagedObject> = []
    /// An object may be among them more than once.
    var refreshed: ContiguousArray<NSManagedObject> = []
    var invalidated: Set<NSManagedObject> = []
    /// Insertions and deletions that came from elsewhere by merging.
    var mergedInsertions: Set<NSManagedObject> = []
    var mergedDeletions: Set<NSManagedObject> = []
    /// Rows that others changed and that are in no complete object of the context; collected where something listens.
    var unseenUpdates: [NSManagedObjectID] = []

    var isEmpty: Bool {
        objects.isEmpty && refreshed.isEmpty && invalidated.isEmpty && mergedInsertions.isEmpty && mergedDeletions.isEmpty
            && unseenUpdates.isEmpty
    }

    mutating func removeAll(where isGone: (NSManagedObject) -> Bool) {
        objects.removeAll(where: isGone)
        refreshed.removeAll(where: isGone)
        mergedInsertions = mergedInsertions.filter { !isGone($0) }
        mergedDeletions = mergedDeletions.filter { !isGone($0) }
    }
}

/// What changed in one object in an event that ends.
struct ChangedProperties {
    /// The properties that were set.
    let touched: SlotMask
    /// Those of them that have another value than before the event.
    let altered: SlotMask

    /// Nil where nothing was set.
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

/// The changes of an event that has ended, by kind. Its objects are part of no event any more.
struct EventChanges {
    let inserted: ContiguousArray<NSManagedObject>
    /// Whether all insertions are pending here: what came from elsewhere is not, and must not be kept alive.
    let insertionsArePending: Bool
    let updated: ContiguousArray<NSManagedObject>
    /// Whether all of them are changed rows: new objects, which were inserted in another event, change as well.
    let updatesArePending: Bool
    let deleted: ContiguousArray<NSManagedObject>
    let refreshed: RereadObjects
    let invalidated: Set<NSManagedObject>
    /// All objects whose values were read again, also those that count as updated.
    let reread: RereadObjects
    /// Rows that others changed and that are in no complete object of the context.
    let unseenUpdates: [NSManagedObjectID]
    /// New objects that were deleted, or gave way to others: they leave the context, now or with the next save.
    let discarded: [NSManagedObject]
    /// All objects of the event.
    private let objects: ContiguousArray<NSManagedObject>
    /// Which properties changed in the objects, where somebody follows. Whoever is told first may save, which ends the objects' own masks.
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
            // Nothing but insertions: the list of the event is the list of inserted objects.
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
                // Also one that was inserted in the same event: it counts as deleted, and as nothing else.
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

    private static func changedProperties(of objects: ContiguousArray<NSManagedObject>) -> [ObjectIdentifier: ChangedProperties] {
        var properties: [ObjectIdentifier: ChangedProperties] = [:]
        for object in objects {
            if let changed = ChangedProperties(of: object) { properties[ObjectIdentifier(object)] = changed }
        }
        return properties
    }

    /// The properties of an object that changed in the event; nil where none did. Known only where somebody followed when it ended.
    func changedProperties(of object: NSManagedObject) -> ChangedProperties? { changedProperties[ObjectIdentifier(object)] }

    /// Forgets which properties changed in the event, and what the objects were before, in those that have not changed since.
    func finish() {
        objects.forEachUnretained { object in
            if object.flags.contains(.inEvent) { return }
            object.pendingReference?._withUnsafeGuaranteedRef { $0.endEvent() }
        }
    }
}

/// Where pending changes are processed.
enum EventStage: Comparable {
    case outsideSave
    /// A save processes them also where it was called by an observer of an event.
    case inSave
}
