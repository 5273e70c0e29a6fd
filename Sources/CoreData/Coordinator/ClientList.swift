import Synchronization

/// A context, as its coordinator knows it.
protocol CoordinatorClient: AnyObject, Sendable {
    /// Lets go of the objects of a store that was removed.
    func storeWasRemoved(_ store: NSPersistentStore)

    /// Takes over what another client saved. Called on any thread.
    func takeOver(_ changes: SavedObjectIDs)

    /// Takes over the permanent keys that its parent knows. Called on any thread.
    func parentHasPermanentKeys()
}

/// The IDs of objects that one save changed: what may cross threads.
struct SavedObjectIDs: Sendable {
    var inserted: [NSManagedObjectID] = []
    var updated: [NSManagedObjectID] = []
    var deleted: [NSManagedObjectID] = []
    /// Root entities by layout index whose objects are read anew, too: a batch does not say which of them it has changed. Nil for what
    /// objects were saved.
    var rereadRoots: Set<Int>?
}

/// Contexts of one coordinator, or of one parent. It keeps none of them alive.
final class ClientList: Sendable {
    private struct Entry {
        weak var client: (any CoordinatorClient)?
    }

    /// Guards the entries.
    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    var isEmpty: Bool { entries.withLock { $0.isEmpty } }

    func add(_ client: any CoordinatorClient) {
        entries.withLock { $0[ObjectIdentifier(client)] = Entry(client: client) }
    }

    /// Called by the context's deinit at the latest.
    func remove(_ client: any CoordinatorClient) {
        _ = entries.withLock { $0.removeValue(forKey: ObjectIdentifier(client)) }
    }

    var all: [any CoordinatorClient] { entries.withLock { $0.values.compactMap(\.client) } }
}
