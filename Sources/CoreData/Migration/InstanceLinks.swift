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

    private var destinations = Table()
    private var sources = Table()
    private var pending: [(source: NSManagedObject, destination: NSManagedObject)] = []
    /// In the order of their first pairs.
    private(set) var allSources: [NSManagedObjectID] = []
    private(set) var allDestinations: [NSManagedObjectID] = []

    func add(_ source: NSManagedObject, _ destination: NSManagedObject) {
        pending.append((source, destination))
    }

    /// Gives the destinations of new pairs permanent IDs. Look-ups are complete afterwards.
    func settle() throws {
        if pending.isEmpty { return }
        let pairs = pending.filter { $0.destination.managedObjectContext != nil }
        pending.removeAll(keepingCapacity: true)
        let unnamed = pairs.map(\.destination).filter { $0.objectID.isTemporaryID && !$0.isDeleted }
        try unnamed.first?.managedObjectContext?.obtainPermanentIDs(for: unnamed)
        for (source, destination) in pairs {
            let (source, destination) = (source.objectID, destination.objectID)
            if destinations.add(destination, to: source) { allSources.append(source) }
            if sources.add(source, to: destination) { allDestinations.append(destination) }
        }
    }

    func destinations(of source: NSManagedObjectID) -> [NSManagedObjectID] { destinations[source] }

    func sources(of destination: NSManagedObjectID) -> [NSManagedObjectID] { sources[destination] }
}
