/// The rows that a context has read from its stores, for comparison with the stores' current rows.
///
/// The context is read on its queue, and the stores on another, so that reading does not block a
/// main-queue context.
package struct HeldRows: Sendable {
    private struct Row {
        let key: Int64
        let layout: EntityLayout
        let snapshot: Snapshot
    }

    /// A to-many relationship that was read.
    private struct Members {
        let owner: Int64
        let layout: EntityLayout
        let slot: Int
        /// The keys of the members, in order if the relationship is ordered.
        let keys: [Int64]
    }

    /// The rows that were read of one table of one store.
    private struct Group {
        let rows: any RowSource
        let store: NSPersistentStore
        let root: EntityLayout
        var held: [Row] = []
        var members: [Members] = []
        /// Faults: only the existence of their rows is known.
        var unread: [(key: Int64, layout: EntityLayout)] = []
    }

    private var groups: [Group] = []

    /// The differences between the stores and the rows that a context holds.
    package struct Differences: Sendable {
        fileprivate(set) var changes = SavedObjectIDs()
        /// Keeps the rows in the stores' caches, where the context finds them.
        fileprivate var rows: [FetchedRows] = []

        package var isEmpty: Bool { changes.updated.isEmpty && changes.deleted.isEmpty }
    }

    /// The part of an object that is compared.
    enum Part {
        case nothing
        /// Whether its row exists.
        case existence
        /// The members of its to-many relationships that were read.
        case members
        /// Whether its row exists and, if its values are known, has the same values.
        case row
    }

    /// - Parameter part: Returns the part of an object of the context that is compared.
    fileprivate init(of context: NSManagedObjectContext, _ part: (NSManagedObject) -> Part) {
        var places: [Int: [Int: Int]] = [:]
        for object in context.registry.allObjects() {
            guard object.storeNumber >= 0, object.key > 0, object.flags.isDisjoint(with: [.inserted, .deletionSaved])
            else { continue }
            let part = part(object)
            if part == .nothing { continue }
            let number = Int(object.storeNumber)
            let layout = object.layout
            let place: Int
            if let known = places[number]?[layout.rootIndex] {
                place = known
            } else if let store = context.registry.store(number: number), let rows = context.rows(ofStore: number) {
                place = groups.count
                places[number, default: [:]][layout.rootIndex] = place
                groups.append(Group(rows: rows, store: store, root: layout.model.layouts[layout.rootIndex]))
            } else {
                continue
            }
            guard part != .existence, let row = object.committedRow else {
                groups[place].unread.append((object.key, layout))
                continue
            }
            if part == .row {
                groups[place].held.append(Row(key: object.key, layout: layout, snapshot: Snapshot(retaining: row)))
            }
            for (slot, state) in object.extras?.allToMany ?? [] where state.isLoaded && !layout.slots[slot].isTransient
            {
                groups[place].members.append(
                    Members(owner: object.key, layout: layout, slot: slot, keys: state.committedMembers.map(\.key)))
            }
        }
    }

    /// The IDs of the objects whose rows are held.
    var objectIDs: [NSManagedObjectID] {
        groups.flatMap { group in
            group.held.map { NSManagedObjectID(key: $0.key, layout: $0.layout, store: group.store) }
        }
    }

    /// The number of rows that one statement reads.
    private static let chunk = 1000

    /// Reads the rows again and compares them. O(number of held rows), with one statement for each
    /// thousand rows.
    ///
    /// - Throws: Errors of the stores.
    package func differences() throws -> Differences {
        var result = Differences()
        for group in groups { try compare(group, into: &result) }
        return result
    }

    private func compare(_ group: Group, into result: inout Differences) throws {
        var changed: Set<Int64> = []
        for start in stride(from: 0, to: group.held.count, by: Self.chunk) {
            try compare(
                group.held[start..<min(start + Self.chunk, group.held.count)], of: group, &changed, into: &result)
        }
        try compareMembers(of: group, &changed, into: &result)
        for start in stride(from: 0, to: group.unread.count, by: Self.chunk) {
            let unread = group.unread[start..<min(start + Self.chunk, group.unread.count)]
            let read = try group.rows.readRows(unread.map(\.key), of: group.root)
            let present = Set(read.rows.map(\.rowKey))
            withExtendedLifetime(read) {}
            for (key, layout) in unread where !present.contains(key) {
                result.changes.deleted.append(NSManagedObjectID(key: key, layout: layout, store: group.store))
            }
        }
    }

    private func compare(
        _ held: ArraySlice<Row>, of group: Group, _ changed: inout Set<Int64>, into result: inout Differences
    ) throws {
        let read = try group.rows.readRows(held.map(\.key), of: group.root)
        defer { withExtendedLifetime(read) {} }
        var current: [Int64: Snapshot] = [:]
        for row in read.rows { current[row.rowKey] = Snapshot(retaining: row) }
        var isSame = true
        for row in held {
            guard let now = current[row.key] else {
                result.changes.deleted.append(NSManagedObjectID(key: row.key, layout: row.layout, store: group.store))
                changed.insert(row.key)
                continue
            }
            if now.version == row.snapshot.version, now.hasSameValues(as: row.snapshot) { continue }
            isSame = false
            changed.insert(row.key)
            result.changes.updated.append(NSManagedObjectID(key: row.key, layout: row.layout, store: group.store))
        }
        if !isSame { result.rows.append(read) }
    }

    private func compareMembers(of group: Group, _ changed: inout Set<Int64>, into result: inout Differences) throws {
        struct Relationship: Hashable {
            let layout: Int
            let slot: Int
        }
        let unchanged = group.members.filter { !changed.contains($0.owner) }
        for (relationship, members) in Dictionary(
            grouping: unchanged, by: { Relationship(layout: $0.layout.index, slot: $0.slot) })
        {
            let layout = members[0].layout
            let slot = layout.slots[relationship.slot]
            for start in stride(from: 0, to: members.count, by: Self.chunk) {
                let part = members[start..<min(start + Self.chunk, members.count)]
                let read = try group.rows.relatedRows(toAll: part.map(\.owner), through: slot, of: layout)
                var current: [Int64: [Int64]] = [:]
                for (owner, row) in zip(read.ownerKeys, read.rows.rows) {
                    current[owner, default: []].append(row.rowKey)
                }
                withExtendedLifetime(read) {}
                for member in part {
                    let now = current[member.owner] ?? []
                    let isSame = slot.kind == .orderedToMany ? now == member.keys : Set(now) == Set(member.keys)
                    if isSame || !changed.insert(member.owner).inserted { continue }
                    result.changes.updated.append(
                        NSManagedObjectID(key: member.owner, layout: layout, store: group.store))
                }
            }
        }
    }
}

extension NSManagedObjectContext {
    /// The rows that the context has read from its stores. On its queue.
    package final var heldRows: HeldRows { HeldRows(of: self) { $0.committedRow == nil ? .nothing : .row } }

    /// Returns the rows that the context has read for some of its objects. On its queue.
    final func heldRows(_ part: (NSManagedObject) -> HeldRows.Part) -> HeldRows { HeldRows(of: self, part) }

    /// Merges the differences; listeners look for new rows. On the context's queue.
    package final func takeOver(_ differences: HeldRows.Differences) {
        var changes = differences.changes
        if !listeners.isEmpty {
            var inserted: Set<NSManagedObjectID> = []
            var updated = Set(changes.updated)
            tellListeners { listener in
                let moved = listener.objectsOutOfPlace(in: self)
                inserted.formUnion(moved.missing)
                updated.formUnion(moved.misplaced)
            }
            // A held object may belong to a result now that it has changed.
            changes.inserted = Array(inserted.subtracting(updated))
            changes.updated = Array(updated.subtracting(changes.deleted))
        }
        if changes.inserted.isEmpty, changes.updated.isEmpty, changes.deleted.isEmpty { return }
        merge(changes)
        withExtendedLifetime(differences) {}
    }
}
