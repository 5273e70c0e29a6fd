import Synchronization

/// Whether a context is reading the rows of its objects again.
///
/// Reads run one at a time, so that an earlier read is also merged earlier. One more read follows
/// for all notifications that arrive meanwhile.
final class RereadingTurn: Sendable {
    private struct State {
        var isReading = false
        var changed = ChangedStores()
    }

    private let state = Mutex(State())

    /// Notes that a store was changed.
    ///
    /// - Returns: Whether the caller must read.
    func begin(_ store: NSPersistentStore, after transaction: Int64?) -> Bool {
        state.withLock { state in
            state.changed.add(store, after: transaction)
            defer { state.isReading = true }
            return !state.isReading
        }
    }

    /// Returns what is to be read; nil when the turn is over.
    func next() -> ChangedStores? {
        state.withLock { state in
            state.isReading = !state.changed.isEmpty
            defer { state.changed = ChangedStores() }
            return state.isReading ? state.changed : nil
        }
    }
}

/// Stores that other programs changed.
struct ChangedStores: Sendable {
    /// The last transaction of each store's history that was known before the changes;
    /// `Int64.min` if it is not known.
    private var transactions: [ObjectIdentifier: Int64] = [:]

    var isEmpty: Bool { transactions.isEmpty }

    mutating func add(_ store: NSPersistentStore, after transaction: Int64?) {
        let key = ObjectIdentifier(store)
        transactions[key] = min(transactions[key] ?? .max, transaction ?? .min)
    }

    /// Returns the given stores that were changed, with the transactions after which they were.
    func among(_ stores: [NSPersistentStore]) -> [(store: NSPersistentStore, transaction: Int64)] {
        stores.compactMap { store in transactions[ObjectIdentifier(store)].map { (store, $0) } }
    }
}
