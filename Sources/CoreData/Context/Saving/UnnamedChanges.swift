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
        var gonePlaces: Set<RowPlace> = []
        while !gone.isEmpty {
            let leading = LeadingSlots(to: gone)
            let leads = registry.allObjects().contains { leading.contain(slotsOf: $0.layout) }
            if !leads { return }
            let places = Set(gone.compactMap(RowPlace.init))
            gonePlaces.formUnion(places)
            let objects = gone.compactMap { registeredObject(for: $0) }
            let held = withExtendedLifetime(objects) {
                let identities = Set(objects.map(ObjectIdentifier.init))
                return heldRows { gonePlaces.contains(RowPlace($0)) ? .nothing : leading.part(of: $0, to: places, identities) }
            }
            guard let found = compare(held, &others) else { return }
            gone = found.deleted
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
struct RowPlace: Hashable {
    let store: Int
    let root: Int
    let key: Int64

    init(_ object: NSManagedObject) {
        store = Int(object.storeNumber)
        root = object.layout.rootIndex
        key = object.key
    }

    /// Nil for the ID of an object that has no row, or whose store was removed.
    init?(_ objectID: NSManagedObjectID) {
        guard case .permanent(let token, let root, let key) = objectID.identity, let store = token.store?.number else { return nil }
        self.store = store
        self.root = root
        self.key = key
    }

    init(store: Int, root: Int, key: Int64) {
        self.store = store
        self.root = root
        self.key = key
    }
}

/// The relationships by which entities lead to some tables.
private final class LeadingSlots {
    private let roots: Set<Int>
    /// By layout index.
    private var known: [Int: [PropertySlot]] = [:]

    init(to objectIDs: [NSManagedObjectID]) {
        roots = objectIDs.reduce(into: []) { roots, objectID in
            if case .permanent(_, let root, _) = objectID.identity { roots.insert(root) }
        }
    }

    /// Whether an entity leads to the tables.
    func contain(slotsOf layout: EntityLayout) -> Bool { !slots(of: layout).isEmpty }

    private func slots(of layout: EntityLayout) -> [PropertySlot] {
        if let slots = known[layout.index] { return slots }
        let slots = layout.relationshipSlots.map { layout.slots[$0] }.filter { slot in
            !slot.isTransient && slot.destinationIndex >= 0 && roots.contains(layout.model.layouts[slot.destinationIndex].rootIndex)
        }
        known[layout.index] = slots
        return slots
    }

    /// What of an object has to be compared, as it leads to rows that are gone.
    ///
    /// - Parameter objects: those of the rows that are gone.
    func part(of object: NSManagedObject, to places: Set<RowPlace>, _ objects: Set<ObjectIdentifier>) -> HeldRows.Part {
        let layout = object.layout
        let slots = slots(of: layout)
        if slots.isEmpty { return .nothing }
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
        let leads = slots.contains { slot in
            if slot.kind == .toOne {
                if row.isNull(slot.index) { return false }
                let reference = row.reference(slot.index)
                let root = layout.model.layouts[reference.layoutIndex].rootIndex
                return places.contains(RowPlace(store: Int(object.storeNumber), root: root, key: reference.key))
            }
            guard let state = object.extras?.toMany(slot.index), state.isLoaded else { return false }
            return state.members.objects.contains { objects.contains(ObjectIdentifier($0)) }
                || state.removed.objects.contains { objects.contains(ObjectIdentifier($0)) }
        }
        return leads ? .row : .nothing
    }
}
