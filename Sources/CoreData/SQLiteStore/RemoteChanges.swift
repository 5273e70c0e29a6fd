import Foundation
import Synchronization

/// The stores of this process that post `NSPersistentStoreRemoteChange`.
///
/// They post it when any store of the process saves to the same file.
final class RemoteChanges: Sendable {
    static let shared = RemoteChanges()

    private struct Entry {
        weak var store: SQLiteStore?
        let identity: ObjectIdentifier
        let path: String
    }

    /// Guards the entries.
    private let entries = Mutex<[Entry]>([])
    /// Whether there are entries, so that a save without observers costs nothing.
    private let isObserved = Atomic<Bool>(false)
    /// The queue that posts notifications, outside the save.
    ///
    /// An observer may wait for the context that is saving.
    private let queue = DispatchQueue(label: "OpenCoreData.NSPersistentStoreRemoteChange", qos: .utility)

    func add(_ store: SQLiteStore) {
        guard let path = Self.path(store) else { return }
        entries.withLock { $0.append(Entry(store: store, identity: ObjectIdentifier(store), path: path)) }
        isObserved.store(true, ordering: .relaxed)
    }

    func remove(_ store: SQLiteStore) {
        guard isObserved.load(ordering: .relaxed) else { return }
        let identity = ObjectIdentifier(store)
        entries.withLock { $0.removeAll { $0.identity == identity || $0.store == nil } }
    }

    /// Called after a store has written its file.
    ///
    /// - Parameter transaction: the number of the transaction in the history; nil where it was not
    ///   recorded.
    func storeDidWrite(_ store: SQLiteStore, _ transaction: Int64?) {
        guard isObserved.load(ordering: .relaxed), let path = Self.path(store) else { return }
        let observers = entries.withLock { entries in entries.filter { $0.path == path }.compactMap(\.store) }
        for observer in observers {
            guard let coordinator = observer.persistentStoreCoordinator, let url = observer.url else { continue }
            let uuid = observer.identifier ?? ""
            let token = transaction.map { NSPersistentHistoryToken($0, of: observer) }
            queue.async {
                var userInfo: [String: Any] = [NSStoreUUIDKey: uuid, NSPersistentStoreURLKey: url]
                userInfo[NSPersistentHistoryTokenKey] = token
                NotificationCenter.default.post(
                    name: .NSPersistentStoreRemoteChange, object: coordinator, userInfo: userInfo)
            }
        }
    }

    private static func path(_ store: SQLiteStore) -> String? {
        store.url.flatMap { url in
            if SQLiteStore.isSharedMemory(url) { return url.path }
            return SQLiteStore.isInMemory(url) ? nil : url.resolvingSymlinksInPath().standardizedFileURL.path
        }
    }
}
