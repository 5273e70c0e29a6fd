// Changes that nobody names: what batches have done to rows besides those that their results tell of.

/// Objects of a context that have changed besides those that are named.
struct OtherChanges {
    fileprivate(set) var updated: [NSManagedObjectID] = []
    fileprivate(set) var deleted: [NSManagedObjectID] = []
    /// Keep rows that were read in the stores' caches, where the context finds them.
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
    /// The objects that have changed besides those that are named: what the context has read of rows that may be concerned is compared
    /// with what is in the stores. Has named rows read anew.
    ///
    /// Cost: a look at each object of the entities that may be concerned, and a statement for a thousand of those that are.
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

    /// Adds what led to objects that were deleted: relationships that delete rules have nullified, and objects that they have deleted.
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

    /// - Returns: nil where a store cannot be read: then what is held is read anew by whoever asks for it, who meets the error.
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

/// The place of a row among the stores of a coordinator.
private struct RowPlace: Hashable {
    let store: Int
    let root: Int
    let key: Int64
}

extension RowPlace {
    init(_ object: NSManagedObject) { self.init(store: Int(object.storeNumber), root: object.layout.rootIndex, key: object.key) }

    /// Nil for the ID of an object that has no row, or whose store was removed.
    init?(_ objectID: NSManagedObjectID) {
        guard case .permanent(let token, let root, let key) = objectID.identity, let store = token.store?.number else { return nil }
        self.init(store: store, root: root, key: key)
    }
}

/// Rows that are gone, and what leads to them. They are sorted when the first object is met that may lead to one: a context that holds
/// none does not pay for many deletions.
private final class Deletions {
    private let objectIDs: [NSManagedObjectID]
    private let context: NSManagedObjectContext
    /// Rows that were found to be gone before.
    private let earlier: Set<RowPlace>
    private let roots: Set<Int>
    /// The relationships of an entity that lead to those tables, by layout index.
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
        let slots = layout.relationshipSlots.map { layout.slots[$0] }.filter { slot in
            !slot.isTransient && slot.destinationIndex >= 0 && roots.contains(layout.model.layouts[slot.destinationIndex].rootIndex)
        }
        leading[layout.index] = slots
        return slots
    }

    /// What of an object has to be compared, as it leads to rows that are gone.
    func part(of object: NSManagedObject) -> HeldRows.Part {
        let layout = object.layout
        let slots = slots(of: layout)
        if slots.isEmpty { return .nothing }
        let place = RowPlace(object)
        if places.contains(place) || earlier.contains(place) { return .nothing }
        guard let row = object.committedRow.map(Snapshot.init(retaining:)) else {
            // What leads on from it is not known: it may have been reached by a delete rule.
            let isReached = slots.contains { slot in
                let destination = layout.model.layouts[slot.destinationIndex]
                return slot.inverseSlot >= 0 && destination.slots[slot.inverseSlot].deleteRule == .cascadeDeleteRule
            }
            return isReached ? .existence : .nothing
        }
        // What is derived from rows that are gone may have changed.
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
        return [state.members, state.removed].contains { $0.objects.contains { addresses.contains(ObjectIdentifier($0)) } }
    }
}
