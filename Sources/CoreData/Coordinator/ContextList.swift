import Synchronization

/// The contexts of one coordinator. It keeps none of them alive.
final class ContextList: Sendable {
    private struct Entry {
        weak var context: NSManagedObjectContext?
    }

    /// Guards the entries.
    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    func add(_ context: NSManagedObjectContext) {
        entries.withLock { $0[ObjectIdentifier(context)] = Entry(context: context) }
    }

    /// Called by the context's deinit at the latest.
    func remove(_ context: NSManagedObjectContext) {
        _ = entries.withLock { $0.removeValue(forKey: ObjectIdentifier(context)) }
    }

    var all: [NSManagedObjectContext] { entries.withLock { $0.values.compactMap(\.context) } }
}
