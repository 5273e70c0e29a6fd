// Loading the relationships of many objects at once.

extension NSManagedObjectContext {
    /// Loads the relationships of a key path for many objects, one fetch for each step.
    ///
    /// - Parameter objects: Each of them once: a store may return the members of an owner as often
    ///   as it is asked for them.
    func prefetch(_ path: ArraySlice<String>, of objects: [NSManagedObject]) throws {
        guard let name = path.first else { return }
        var destinations: [NSManagedObject] = []
        let groups = Dictionary(grouping: objects.filter { $0.storeNumber >= 0 && !$0.flags.contains(.inserted) }) {
            Int($0.storeNumber) << 32 | $0.layout.index
        }
        for group in groups.values {
            let layout = group[0].layout
            guard let index = layout.slotByName[name], layout.slots[index].relationship != nil else {
                throw CoreDataErrors.noRelationshipToPrefetch(name, of: layout.name)
            }
            let store = Int(group[0].storeNumber)
            guard let rows = rows(ofStore: store) else { continue }
            let slot = layout.slots[index]
            if slot.kind == .toOne {
                destinations += try prefetchToOne(slot, group, store, rows)
            } else if slot.kind.isToMany {
                let faults = group.filter { !($0.extras?.toMany(index)?.isLoaded ?? false) }
                let related = try rows.relatedRows(toAll: faults.map(\.key), through: slot, of: layout)
                let members = loadMembers(related, of: faults, slot: index, store: store)
                if path.count > 1 { for list in members { destinations += list } }
            }
        }
        if path.count == 1 || destinations.isEmpty { return }
        // Several objects may lead to one.
        var known: Set<ObjectIdentifier> = []
        try prefetch(path.dropFirst(), of: destinations.filter { known.insert(ObjectIdentifier($0)).inserted })
    }

    /// Gives many objects the members of a relationship that were fetched for all of them at once.
    ///
    /// - Returns: The members of each object.
    @discardableResult
    func loadMembers(
        _ related: RelatedRows, of owners: [NSManagedObject], slot: Int, store: Int
    ) -> [ContiguousArray<NSManagedObject>] {
        let count = related.rows.rows.count
        let members = UnsafeMutableBufferPointer<NSManagedObject>.allocate(capacity: count)
        defer { members.deallocate() }
        initialize(members, withObjectsOf: related.rows, store: store, asFaults: true)
        let lists = MembersOfOwners(owners, related.ownerKeys).lists(moving: members)
        let mayBeDeleted = hasUnsavedDeletions
        for (place, owner) in owners.enumerated() {
            owner.mergeLoaded(lists[place], into: slot, owner.toManyState(slot), mayBeDeleted: mayBeDeleted)
        }
        return lists
    }

    func prefetchToOne(
        _ slot: PropertySlot, _ objects: [NSManagedObject], _ store: Int, _ source: any RowSource
    ) throws -> [NSManagedObject] {
        let destination = objects[0].layout.model.layouts[slot.destinationIndex]
        var keys: Set<Int64> = []
        for object in objects {
            guard let row = object.committedRow else { continue }
            if !object.layout.isNull(row, slot.index) { keys.insert(Int64(bitPattern: row[slot.index])) }
        }
        var held: [NSManagedObject] = []
        var missing: [Int64] = []
        for key in keys {
            if let object = registry.object(store: store, root: destination.rootIndex, key: key) {
                held.append(object)
                if !object.flags.contains(.fault) || object.committedRow != nil { continue }
            }
            if let cached = source.cachedRow(key, of: destination) {
                var rows = FetchedRows()
                rows.rows = [cached.row]
                rows.pages = [cached.page]
                held += self.objects(of: rows, store: store, asFaults: true)
            } else {
                missing.append(key)
            }
        }
        if !missing.isEmpty {
            held += self.objects(of: try source.readRows(missing, of: destination), store: store, asFaults: true)
        }
        for object in objects where object.extras?.toOne(slot.index) == nil {
            // It hides the committed one, which must not return after the pending one is saved.
            if object.pending?.has(slot.index) ?? false { continue }
            guard let row = object.committedRow, !object.layout.isNull(row, slot.index) else { continue }
            if let target = registry.object(
                store: store, root: destination.rootIndex, key: Int64(bitPattern: row[slot.index]))
            {
                object.makeExtras().setToOne(slot.index, target)
            }
        }
        return held
    }
}

/// Distributes objects to their owners.
private struct MembersOfOwners {
    /// The index of each object's owner; -1 for an object without one.
    private var places: ContiguousArray<Int> = []
    /// The number of objects of each owner.
    private var counts: [Int]

    /// - Parameter ownerKeys: The owner's key of each object.
    init(_ owners: [NSManagedObject], _ ownerKeys: ContiguousArray<Int64>) {
        counts = Array(repeating: 0, count: owners.count)
        places.reserveCapacity(ownerKeys.count)
        var placeOfKey: [Int64: Int] = [:]
        placeOfKey.reserveCapacity(owners.count)
        for (place, owner) in owners.enumerated() { placeOfKey[owner.key] = place }
        // Objects of one owner are usually adjacent.
        var last: (key: Int64, place: Int)?
        for key in ownerKeys {
            if key != last?.key { last = (key, placeOfKey[key] ?? -1) }
            guard let place = last?.place else { continue }
            places.append(place)
            if place >= 0 { counts[place] += 1 }
        }
    }

    /// Moves the objects to their owners' lists, in order. Objects without an owner are released.
    func lists(moving objects: UnsafeMutableBufferPointer<NSManagedObject>) -> [ContiguousArray<NSManagedObject>] {
        var starts: [Int] = []
        starts.reserveCapacity(counts.count)
        var total = 0
        for count in counts {
            starts.append(total)
            total += count
        }
        let sorted = UnsafeMutableBufferPointer<NSManagedObject>.allocate(capacity: total)
        defer { sorted.deallocate() }
        var next = starts
        for index in objects.indices {
            let place = places[index]
            if place < 0 {
                objects.deinitializeElement(at: index)
            } else {
                sorted.initializeElement(at: next[place], to: objects.moveElement(from: index))
                next[place] += 1
            }
        }
        return counts.indices.map { place in
            let own = UnsafeMutableBufferPointer(rebasing: sorted[starts[place]..<starts[place] + counts[place]])
            return ContiguousArray(unsafeUninitializedCapacity: own.count) { buffer, count in
                count = buffer.moveInitialize(fromContentsOf: own)
            }
        }
    }
}
