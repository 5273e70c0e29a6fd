import Foundation
import Synchronization

/// The stores of this process that post `NSPersistentStoreRemoteChange`.
///
/// They post it after their own saves and those of others to the same place.
final class RemoteChanges: Sendable {
    static let shared = RemoteChanges()

    private struct Entry {
        weak var store: NSPersistentStore?
        let identity: ObjectIdentifier
        let place: String
    }

    /// Guards the entries.
    private let entries = Mutex<[Entry]>([])
    /// Whether there are entries, so that a save without observers costs nothing.
    private let isObserved = Atomic<Bool>(false)
    /// The queue that posts notifications, outside the save.
    ///
    /// An observer may wait for the context that is saving.
    private let queue = DispatchQueue(label: "OpenCoreData.NSPersistentStoreRemoteChange", qos: .utility)

    func add(_ store: NSPersistentStore) {
        guard let place = store.sharedPlace else { return }
        entries.withLock { $0.append(Entry(store: store, identity: ObjectIdentifier(store), place: place)) }
        isObserved.store(true, ordering: .relaxed)
    }

    func remove(_ store: NSPersistentStore) {
        guard isObserved.load(ordering: .relaxed) else { return }
        let identity = ObjectIdentifier(store)
        entries.withLock { $0.removeAll { $0.identity == identity || $0.store == nil } }
    }

    /// Called after a store has committed changes.
    ///
    /// - Parameter transaction: the number of the transaction in the history; nil where it was not
    ///   recorded.
    func storeDidWrite(_ store: NSPersistentStore, _ transaction: Int64?) {
        guard isObserved.load(ordering: .relaxed) else { return }
        let known = entries.withLock { $0.first { $0.store === store }?.place }
        guard let place = known ?? store.sharedPlace else { return }
        let observers = entries.withLock { entries in entries.filter { $0.place == place }.compactMap(\.store) }
        for observer in observers {
            if observer === store { post(store, transaction) } else { observer.othersMayHaveChanged() }
        }
    }

    /// Posts the notification about a change of a store.
    ///
    /// - Parameter transaction: the number of the last transaction in the history; nil where none
    ///   was recorded.
    func post(_ store: NSPersistentStore, _ transaction: Int64?) {
        guard let coordinator = store.persistentStoreCoordinator, let url = store.url else { return }
        let uuid = store.identifier ?? ""
        let token = transaction.map { NSPersistentHistoryToken($0, of: store) }
        queue.async {
            var userInfo: [String: Any] = [NSStoreUUIDKey: uuid, NSPersistentStoreURLKey: url]
            userInfo[NSPersistentHistoryTokenKey] = token
            NotificationCenter.default.post(
                name: .NSPersistentStoreRemoteChange, object: coordinator, userInfo: userInfo)
        }
    }
}
