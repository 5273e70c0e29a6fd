import Foundation

/// The pairs of source and destination objects of one entity mapping.
///
/// Pairs are kept as object IDs, so that objects can be released while a migration goes on.
final class InstanceLinks {
    /// Many IDs for each ID. Nearly all have one, which needs no array.
    private struct Table {
        private var first: [NSManagedObjectID: NSManagedObjectID] = [:]
        private var others: [NSManagedObjectID: [NSManagedObjectID]] = [:]

        var isEmpty: Bool { first.isEmpty }

        /// - Returns: Whether the key is new.
        mutating func add(_ value: NSManagedObjectID, to key: NSManagedObjectID) -> Bool {
            if first[key] != nil {
                others[key, default: []].append(value)
                return false
            }
            first[key] = value
            return true
        }

        subscript(key: NSManagedObjectID) -> [NSManagedObjectID] {
            guard let first = first[key] else { return [] }
            return [first] + (others[key] ?? [])
        }
    }

    /// The pairs of the mapping's own entities with equal keys.
    private(set) var equalKeys: EqualKeys?
    private var destinations = Table()
    private var sources = Table()
    /// Pairs of objects that were not written yet, and the places of each source's first and last
    /// one.
    private var pending: [NewPair] = []
    private var places: [ObjectIdentifier: (first: Int, last: Int)] = [:]
    private var otherSources: [NSManagedObjectID] = []
    private var otherDestinations: [NSManagedObjectID] = []
    /// Written objects that were deleted afterwards.
    private var deleted: Set<NSManagedObjectID> = []

    private struct NewPair {
        let source: NSManagedObject
        let destination: NSManagedObject
        /// The place of the source's next pair.
        var next: Int?

        var isThere: Bool { destination.managedObjectContext != nil && !destination.isDeleted }
    }

    /// Those of all pairs, but for copied rows.
    var recordedSources: [NSManagedObjectID] { (equalKeys?.sources ?? []) + otherSources }
    var recordedDestinations: [NSManagedObjectID] { left((equalKeys?.destinations ?? []) + otherDestinations) }

    init(_ equalKeys: EqualKeys? = nil) { self.equalKeys = equalKeys }

    // MARK: New pairs

    func add(_ source: NSManagedObject, _ destination: NSManagedObject) {
        let place = pending.count
        pending.append(NewPair(source: source, destination: destination))
        let former = places.updateValue((place, place), forKey: ObjectIdentifier(source))
        guard let former else { return }
        pending[former.last].next = place
        places[ObjectIdentifier(source)] = (former.first, place)
    }

    private func forEachNewPair(of source: NSManagedObject, _ body: (NewPair) -> Void) {
        var place = places[ObjectIdentifier(source)]?.first
        while let found = place {
            if pending[found].isThere { body(pending[found]) }
            place = pending[found].next
        }
    }

    var newDestinationsWithTemporaryID: [NSManagedObject] {
        pending.filter { $0.isThere && $0.destination.objectID.isTemporaryID }.map(\.destination)
    }

    /// Records the new pairs by their IDs, which must be permanent: the objects can be released.
    func recordNewPairs() {
        for pair in pending where pair.isThere {
            if equalKeys?.add(pair.source, pair.destination) == true { continue }
            let (source, destination) = (pair.source.objectID, pair.destination.objectID)
            if destinations.add(destination, to: source) { otherSources.append(source) }
            if sources.add(source, to: destination) { otherDestinations.append(destination) }
        }
        pending.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
    }

    // MARK: All pairs

    /// Whether the key of a source belongs to a pair, or may belong to one.
    func usesKey(of source: NSManagedObject) -> Bool {
        if equalKeys?.destination(of: source) != nil { return true }
        if !destinations.isEmpty, !destinations[source.objectID].isEmpty { return true }
        var isUsed = false
        forEachNewPair(of: source) { isUsed = isUsed || $0.destination.key == source.key }
        return isUsed
    }

    /// Adds the destinations of a source, those of recorded pairs first.
    func add(
        destinationsOf source: NSManagedObject, in context: NSManagedObjectContext, to found: inout [NSManagedObject]
    ) {
        if let id = equalKeys?.destination(of: source), !deleted.contains(id) { found.append(context.object(with: id)) }
        if !destinations.isEmpty { found += left(destinations[source.objectID]).map(context.object(with:)) }
        forEachNewPair(of: source) { found.append($0.destination) }
    }

    /// Leaves out objects that were written and are deleted now.
    func forget(_ ids: [NSManagedObjectID]) { deleted.formUnion(ids) }

    private func left(_ ids: [NSManagedObjectID]) -> [NSManagedObjectID] {
        deleted.isEmpty ? ids : ids.filter { !deleted.contains($0) }
    }

    func destinations(of source: NSManagedObjectID) -> [NSManagedObjectID] {
        left((equalKeys?.destination(of: source)).map { [$0] + destinations[source] } ?? destinations[source])
    }

    func sources(of destination: NSManagedObjectID) -> [NSManagedObjectID] {
        (equalKeys?.source(of: destination)).map { [$0] + sources[destination] } ?? sources[destination]
    }
}

/// The pairs of objects of a source and a destination entity that have equal keys. They cost a few
/// bytes for each range of keys, and nothing for copied rows.
struct EqualKeys {
    /// An entity in one of the two stores.
    struct End {
        let layout: EntityLayout
        let store: NSPersistentStore

        init?(_ entity: NSEntityDescription?, in opened: StorePlace.Opened) {
            guard let name = entity?.name, let layout = opened.coordinator.modelLayout.layoutByName[name] else {
                return nil
            }
            (self.layout, store) = (layout, opened.store)
        }

        func has(_ id: NSManagedObjectID) -> Bool { id.layout === layout }

        func has(_ object: NSManagedObject) -> Bool { object.layout === layout }

        func id(with key: Int64) -> NSManagedObjectID { NSManagedObjectID(key: key, layout: layout, store: store) }
    }

    let source: End
    let destination: End
    /// The keys of the pairs; nil if the database copied the rows: then all are.
    var keys: IndexSet?

    func destination(of id: NSManagedObjectID) -> NSManagedObjectID? {
        source.has(id) ? id.key.flatMap { has($0) ? destination.id(with: $0) : nil } : nil
    }

    func destination(of object: NSManagedObject) -> NSManagedObjectID? {
        source.has(object) && has(object.key) ? destination.id(with: object.key) : nil
    }

    func source(of id: NSManagedObjectID) -> NSManagedObjectID? {
        destination.has(id) ? id.key.flatMap { has($0) ? source.id(with: $0) : nil } : nil
    }

    var sources: [NSManagedObjectID] { (keys ?? []).map { source.id(with: Int64($0)) } }
    var destinations: [NSManagedObjectID] { (keys ?? []).map { destination.id(with: Int64($0)) } }

    private func has(_ key: Int64) -> Bool { keys?.contains(Int(key)) ?? true }

    /// - Returns: Whether the pair is one of these entities with equal keys.
    mutating func add(_ source: NSManagedObject, _ destination: NSManagedObject) -> Bool {
        guard keys != nil, self.source.has(source), self.destination.has(destination), source.key == destination.key
        else { return false }
        keys?.insert(Int(source.key))
        return true
    }

    /// The same without the pairs that were added.
    var withoutAdded: EqualKeys { EqualKeys(source: source, destination: destination, keys: keys.map { _ in [] }) }
}
