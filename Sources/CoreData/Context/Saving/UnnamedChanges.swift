// Changes that no result lists: a batch request may change more rows than its result contains.

/// A context's objects that have changed, but are not in the given list of changes.
struct OtherChanges {
    fileprivate(set) var updated: [NSManagedObjectID] = []
    fileprivate(set) var deleted: [NSManagedObjectID] = []
    /// Keeps the rows in the stores' caches, where the context finds them.
    private var differences: [HeldRows.Differences] = []

    fileprivate mutating func add(_ differences: HeldRows.Differences) {
        updated += differences.changes.updated
        deleted += differences.changes.deleted
        self.differences.append(differences)
    }

    fileprivate mutating func remove(named changes: SavedObjectIDs) {
        if updated.isEmpty && deleted.isEmpty { return }
        var others = Set(updated)
        for objectID in changes.updated { others.remove(objectID) }
        if others.count < updated.count { updated = Array(others) }
        others = Set(deleted)
        for objectID in changes.deleted { others.remove(objectID) }
        if others.count < deleted.count { deleted = Array(others) }
    }
}

extension NSManagedObjectContext {
    /// Finds objects that have changed but are not in the given changes. Makes the listed rows be
    /// read again.
    ///
    /// Compares the rows that the context has read, and that may be affected, with the stores'
    /// current rows.
    ///
    /// Cost: a look at each object of the entities that may be affected, and a statement for each
    /// thousand affected objects.
    func otherChanges(than changes: SavedObjectIDs) -> OtherChanges {
        var others = OtherChanges()
        switch changes.unnamed {
        case .none: return others
        case .ofRoots(let roots):
            forgetCachedRows(changes)
            if roots.isEmpty { return others }
            let held = heldRows { object in
                guard roots.contains(object.layout.rootIndex) else { return .nothing }
                if object.committedRow != nil { return .row }
                forgetCachedRow(of: object)
                return .nothing
            }
            _ = compare(held, &others)
        case .aroundDeletions:
            forgetCachedRows(changes)
            findWhatLed(to: changes.deleted, &others)
        }
        others.remove(named: changes)
        return others
    }

    /// Adds the objects that referred to deleted ones, which delete rules have reached.
    private func findWhatLed(to deleted: [NSManagedObjectID], _ others: inout OtherChanges) {
        var gone = deleted
        var earlier: Set<RowPlace> = []
        while !gone.isEmpty {
            let deletions = Deletions(gone, in: self, after: earlier)
            guard let found = compare(heldRows(deletions.part), &others) else { return }
            gone = found.deleted
            if !gone.isEmpty { earlier = deletions.allPlaces }
        }
    }

    /// - Returns: Nil if a store cannot be read. The held rows are then read again when they are
    ///   next used, and the error occurs there.
    private func compare(_ held: HeldRows, _ others: inout OtherChanges) -> SavedObjectIDs? {
        do {
            let differences = try held.differences()
            others.add(differences)
            return differences.changes
        } catch {
            let objectIDs = held.objectIDs
            others.updated += objectIDs
            forgetCachedRows(SavedObjectIDs(updated: objectIDs))
            return nil
        }
    }

    private func forgetCachedRow(of object: NSManagedObject) {
        rows(ofStore: Int(object.storeNumber))?.forgetCachedRow(object.key, of: object.layout)
    }
}

/// A row's store, table and key within a coordinator.
private struct RowPlace: Hashable {
    let store: Int
    let root: Int
    let key: Int64
}

extension RowPlace {
    init(_ object: NSManagedObject) {
        self.init(store: Int(object.storeNumber), root: object.layout.rootIndex, key: object.key)
    }

    /// Nil for the ID of an object that has no row, or whose store was removed.
    init?(_ objectID: NSManagedObjectID) {
        guard case .permanent(let token, let root, let key) = objectID.identity, let store = token.store?.number else {
            return nil
        }
        self.init(store: store, root: root, key: key)
    }
}

/// Deleted rows, and the relationships that refer to them.
///
/// The rows are put into sets when the first object is found that may refer to one: a context
/// without such objects does not pay for many deletions.
private final class Deletions {
    private let objectIDs: [NSManagedObjectID]
    private let context: NSManagedObjectContext
    /// Rows that earlier rounds have found deleted.
    private let earlier: Set<RowPlace>
    private let roots: Set<Int>
    /// The relationships of an entity that refer to those tables, by layout index.
    private var leading: [Int: [PropertySlot]] = [:]
    private lazy var places = Set(objectIDs.compactMap(RowPlace.init))
    private lazy var objects = objectIDs.compactMap { context.registeredObject(for: $0) }
    private lazy var addresses = Set(objects.map(ObjectIdentifier.init))

    init(_ objectIDs: [NSManagedObjectID], in context: NSManagedObjectContext, after earlier: Set<RowPlace>) {
        self.objectIDs = objectIDs
        self.context = context
        self.earlier = earlier
        roots = objectIDs.reduce(into: []) { roots, objectID in
            if case .permanent(_, let root, _) = objectID.identity { roots.insert(root) }
        }
    }

    var allPlaces: Set<RowPlace> { earlier.union(places) }

    private func slots(of layout: EntityLayout) -> [PropertySlot] {
        if let slots = leading[layout.index] { return slots }
        let slots = layout.persistentRelationships.filter { slot in
            slot.destinationIndex >= 0 && roots.contains(layout.model.layouts[slot.destinationIndex].rootIndex)
        }
        leading[layout.index] = slots
        return slots
    }

    /// Returns the part of an object to compare because it refers to deleted rows.
    func part(of object: NSManagedObject) -> HeldRows.Part {
        let layout = object.layout
        let slots = slots(of: layout)
        if slots.isEmpty { return .nothing }
        let place = RowPlace(object)
        if places.contains(place) || earlier.contains(place) { return .nothing }
        guard let row = object.committedRow.map(Snapshot.init(retaining:)) else {
            // The references of an unread object are unknown: a delete rule may have deleted it.
            let isReached = slots.contains { slot in
                let destination = layout.model.layouts[slot.destinationIndex]
                return slot.inverseSlot >= 0 && destination.slots[slot.inverseSlot].deletion.deletesDestinations
            }
            return isReached ? .existence : .nothing
        }
        // Values derived from deleted rows may have changed.
        if layout.slots.contains(where: \.isDerived) { return .row }
        return slots.contains { leads(object, row, $0) } ? .row : .nothing
    }

    private func leads(_ object: NSManagedObject, _ row: Snapshot, _ slot: PropertySlot) -> Bool {
        if slot.kind == .toOne {
            if row.isNull(slot.index) { return false }
            let reference = row.reference(slot.index)
            let root = object.layout.model.layouts[reference.layoutIndex].rootIndex
            return places.contains(RowPlace(store: Int(object.storeNumber), root: root, key: reference.key))
        }
        guard let state = object.extras?.toMany(slot.index), state.isLoaded else { return false }
        return [state.members, state.removed].contains {
            $0.objects.contains { addresses.contains(ObjectIdentifier($0)) }
        }
    }
}
