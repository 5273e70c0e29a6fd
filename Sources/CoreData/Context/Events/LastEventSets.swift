/// Sets of changed objects, each with the change count of its list when the set was complete.
struct LastEventSets {
    fileprivate var inserted: (set: Set<NSManagedObject>, changeCount: Int)?
    fileprivate var updated: (set: Set<NSManagedObject>, changeCount: Int)?

    /// Releases sets that no longer match the context's lists. They would keep objects alive.
    mutating func forgetUnlessCurrent(_ insertions: ChangeList, _ updates: ChangeList) {
        if inserted?.changeCount != insertions.changeCount { inserted = nil }
        if updated?.changeCount != updates.changeCount { updated = nil }
    }
}

extension ChangeTracker {
    /// Keeps the sets of a notification, so that a save of exactly these objects need not hash them
    /// again.
    func remember(inserted insertedSet: Set<NSManagedObject>?, updated updatedSet: Set<NSManagedObject>?) {
        if let insertedSet { lastSets.inserted = (insertedSet, inserted.changeCount) }
        if let updatedSet { lastSets.updated = (updatedSet, updated.changeCount) }
    }

    /// The sets of the last event, which are the pending objects if nothing joined or left since,
    /// and all were part of that event.
    func takeLastSets() -> (inserted: Set<NSManagedObject>?, updated: Set<NSManagedObject>?) {
        lastSets.forgetUnlessCurrent(inserted, updated)
        defer { lastSets = LastEventSets() }
        return (lastSets.inserted?.set, lastSets.updated?.set)
    }
}
