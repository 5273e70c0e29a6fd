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
    /// Pairs of objects that were not written yet, and the place of each source's first one.
    private var pending: [(source: NSManagedObject, destination: NSManagedObject)] = []
    private var firstPending: [ObjectIdentifier: Int] = [:]
    private var otherSources: [NSManagedObjectID] = []
    private var otherDestinations: [NSManagedObjectID] = []

    /// Those of all pairs, but for copied rows.
    var recordedSources: [NSManagedObjectID] { (equalKeys?.sources ?? []) + otherSources }
    var recordedDestinations: [NSManagedObjectID] { (equalKeys?.destinations ?? []) + otherDestinations }

    init(_ equalKeys: EqualKeys? = nil) { self.equalKeys = equalKeys }

    func add(_ source: NSManagedObject, _ destination: NSManagedObject) {
        if firstPending[ObjectIdentifier(source)] == nil { firstPending[ObjectIdentifier(source)] = pending.count }
        pending.append((source, destination))
    }

    // MARK: New pairs

    /// Whether a new pair gave a destination the key of its source.
    func hasKeptKey(of source: NSManagedObject) -> Bool {
        guard let first = firstPending[ObjectIdentifier(source)] else { return false }
        return pending[first...].contains { $0.source === source && $0.destination.key == source.key }
    }

    var newDestinationsWithTemporaryID: [NSManagedObject] {
        pending.map(\.destination).filter { Self.isThere($0) && $0.objectID.isTemporaryID }
    }

    /// Gives the first destination of each new pair's source the key of the source.
    func keepKeys(store number: Int, where keepsKey: (NSManagedObject, NSManagedObject) -> Bool) {
        var first: Set<ObjectIdentifier> = []
        for (source, destination) in pending where destination.key == 0 && Self.isThere(destination) {
            if first.insert(ObjectIdentifier(source)).inserted, keepsKey(source, destination) {
                destination.take(key: source.key, store: number)
            }
        }
    }

    /// Records the new pairs by their IDs, which must be permanent: the objects can be released.
    func recordNewPairs() {
        for (source, destination) in pending where Self.isThere(destination) {
            if equalKeys?.add(source, destination) == true { continue }
            let (source, destination) = (source.objectID, destination.objectID)
            if destinations.add(destination, to: source) { otherSources.append(source) }
            if sources.add(source, to: destination) { otherDestinations.append(destination) }
        }
        pending.removeAll(keepingCapacity: true)
        firstPending.removeAll(keepingCapacity: true)
    }

    private static func isThere(_ object: NSManagedObject) -> Bool {
        object.managedObjectContext != nil && !object.isDeleted
    }

    // MARK: Recorded pairs

    /// Whether a recorded pair has a source.
    func has(_ source: NSManagedObject) -> Bool {
        equalKeys?.destination(of: source) != nil || !destinations.isEmpty && !destinations[source.objectID].isEmpty
    }

    /// Adds the destinations of a source, those of recorded pairs first.
    func add(
        destinationsOf source: NSManagedObject, in context: NSManagedObjectContext, to found: inout [NSManagedObject]
    ) {
        if let id = equalKeys?.destination(of: source) { found.append(context.object(with: id)) }
        if !destinations.isEmpty { found += destinations[source.objectID].map(context.object(with:)) }
        guard let first = firstPending[ObjectIdentifier(source)] else { return }
        for pair in pending[first...] where pair.source === source && Self.isThere(pair.destination) {
            found.append(pair.destination)
        }
    }

    func destinations(of source: NSManagedObjectID) -> [NSManagedObjectID] {
        (equalKeys?.destination(of: source)).map { [$0] + destinations[source] } ?? destinations[source]
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
