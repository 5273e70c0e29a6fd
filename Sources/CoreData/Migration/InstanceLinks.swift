import Foundation

/// The pairs of source and destination objects of one entity mapping.
///
/// Pairs are kept as object IDs, so that objects can be released while a migration goes on.
final class InstanceLinks {
    /// Many IDs for each ID. Nearly all have one, which needs no array.
    private struct Table {
        private var first: [NSManagedObjectID: NSManagedObjectID] = [:]
        private var others: [NSManagedObjectID: [NSManagedObjectID]] = [:]

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
    private var pending: [(source: NSManagedObject, destination: NSManagedObject)] = []
    private var otherSources: [NSManagedObjectID] = []
    private var otherDestinations: [NSManagedObjectID] = []

    /// Those of all pairs, but for copied rows.
    var recordedSources: [NSManagedObjectID] { (equalKeys?.sources ?? []) + otherSources }
    var recordedDestinations: [NSManagedObjectID] { (equalKeys?.destinations ?? []) + otherDestinations }

    init(_ equalKeys: EqualKeys? = nil) { self.equalKeys = equalKeys }

    func add(_ source: NSManagedObject, _ destination: NSManagedObject) {
        pending.append((source, destination))
    }

    /// Gives the destinations of new pairs permanent IDs. Look-ups are complete afterwards.
    ///
    /// - Parameter key: Returns the key for a destination; nil for a new one.
    func settle(_ key: (NSManagedObject, NSManagedObject) -> Int64?) throws {
        if pending.isEmpty { return }
        let pairs = pending.filter { $0.destination.managedObjectContext != nil }
        pending.removeAll(keepingCapacity: true)
        let unnamed = pairs.filter { $0.destination.objectID.isTemporaryID && !$0.destination.isDeleted }
        var first: Set<NSManagedObjectID> = []
        for (source, destination) in unnamed where first.insert(source.objectID).inserted {
            if let key = key(source, destination), let store = destination.managedObjectContext?.onlyStoreNumber {
                destination.take(key: key, store: store)
            }
        }
        try unnamed.first?.destination.managedObjectContext?.obtainPermanentIDs(for: unnamed.map(\.destination))
        for (source, destination) in pairs {
            let (source, destination) = (source.objectID, destination.objectID)
            if equalKeys?.add(source, destination) == true { continue }
            if destinations.add(destination, to: source) { otherSources.append(source) }
            if sources.add(source, to: destination) { otherDestinations.append(destination) }
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

        func id(with key: Int64) -> NSManagedObjectID { NSManagedObjectID(key: key, layout: layout, store: store) }
    }

    let source: End
    let destination: End
    /// The keys of the pairs; nil if the database copied the rows: then all are.
    var keys: IndexSet?

    func destination(of id: NSManagedObjectID) -> NSManagedObjectID? {
        source.has(id) ? id.key.flatMap { has($0) ? destination.id(with: $0) : nil } : nil
    }

    func source(of id: NSManagedObjectID) -> NSManagedObjectID? {
        destination.has(id) ? id.key.flatMap { has($0) ? source.id(with: $0) : nil } : nil
    }

    var sources: [NSManagedObjectID] { (keys ?? []).map { source.id(with: Int64($0)) } }
    var destinations: [NSManagedObjectID] { (keys ?? []).map { destination.id(with: Int64($0)) } }

    private func has(_ key: Int64) -> Bool { keys?.contains(Int(key)) ?? true }

    /// - Returns: Whether the pair is one of these entities with equal keys.
    mutating func add(_ source: NSManagedObjectID, _ destination: NSManagedObjectID) -> Bool {
        guard keys != nil, self.source.has(source), self.destination.has(destination), let key = source.key,
            key == destination.key
        else { return false }
        keys?.insert(Int(key))
        return true
    }

    /// The same without the pairs that were added.
    var withoutAdded: EqualKeys { EqualKeys(source: source, destination: destination, keys: keys.map { _ in [] }) }
}

extension NSManagedObjectContext {
    /// The number of the store of a context that has one only.
    fileprivate var onlyStoreNumber: Int? { persistentStoreCoordinator?.persistentStores.first?.number }
}
