import Synchronization

/// A context, as its coordinator knows it.
protocol CoordinatorClient: AnyObject, Sendable {
    /// Lets go of the objects of a store that was removed.
    func storeWasRemoved(_ store: NSPersistentStore)
}

/// The contexts of one coordinator. It keeps none of them alive.
final class ClientList: Sendable {
    private struct Entry {
        weak var client: (any CoordinatorClient)?
    }

    /// Guards the entries.
    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    func add(_ client: any CoordinatorClient) {
        entries.withLock { $0[ObjectIdentifier(client)] = Entry(client: client) }
    }

    /// Called by the context's deinit at the latest.
    func remove(_ client: any CoordinatorClient) {
        _ = entries.withLock { $0.removeValue(forKey: ObjectIdentifier(client)) }
    }

    var all: [any CoordinatorClient] { entries.withLock { $0.values.compactMap(\.client) } }
}
