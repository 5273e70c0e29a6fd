import Dispatch
import Synchronization

/// A context as its coordinator sees it. Its methods are called on any thread.
protocol CoordinatorClient: AnyObject, Sendable {
    /// Notes that a store was removed, and the new places of its rows.
    func noteRemoval(of store: NSPersistentStore, rows moved: MovedRows?)

    /// Makes the objects of removed stores follow their rows, and releases objects whose rows are
    /// gone.
    func storesWereRemoved()

    /// Merges changes that other programs saved.
    func wasChangedByOthers(_ changed: ChangedStores)

    /// Merges changes that another client saved.
    func takeOver(_ changes: SavedObjectIDs)

    /// Adopts the permanent keys that the client's parent has.
    func parentHasPermanentKeys()
}

/// Stores that other programs changed.
struct ChangedStores: Sendable {
    /// The last transaction of each store's history that was known before the changes;
    /// `Int64.min` if it is not known.
    private var transactions: [ObjectIdentifier: Int64] = [:]

    var isEmpty: Bool { transactions.isEmpty }

    init() {}

    /// - Parameter transaction: The last transaction of the store's history that was known before;
    ///   nil if it is not known.
    init(_ store: NSPersistentStore, after transaction: Int64?) {
        transactions[ObjectIdentifier(store)] = transaction ?? .min
    }

    mutating func add(_ others: ChangedStores) { transactions.merge(others.transactions, uniquingKeysWith: min) }

    /// Returns the given stores that were changed, with the transactions after which they were.
    func among(_ stores: [NSPersistentStore]) -> [(store: NSPersistentStore, transaction: Int64)] {
        stores.compactMap { store in transactions[ObjectIdentifier(store)].map { (store, $0) } }
    }
}

/// Changes besides those of the listed objects.
enum UnnamedChanges: Sendable {
    /// Nothing: objects were saved.
    case none
    /// Objects of these root entities, by layout index: a batch does not report which it has
    /// changed.
    case ofRoots(Set<Int>)
    /// Objects that referred to deleted objects, and objects that delete rules have reached.
    case aroundDeletions
}

/// The IDs of objects that one save changed, in a form that may cross threads.
struct SavedObjectIDs: Sendable {
    var inserted: [NSManagedObjectID] = []
    var updated: [NSManagedObjectID] = []
    var deleted: [NSManagedObjectID] = []
    /// Changes besides those of the listed objects.
    var unnamed = UnnamedChanges.none
    /// The same IDs as rows, by table. Made for large changes.
    ///
    /// A context finds its objects with them without examining each ID.
    private(set) var updatedRows: [RowsOfTable]?
    private(set) var deletedRows: [RowsOfTable]?

    /// Rows of one table of one store.
    struct RowsOfTable: Sendable {
        let store: Int
        let root: Int
        var keys: ContiguousArray<Int64> = []
        /// For each key, the place of its ID in the list of IDs.
        var places: ContiguousArray<Int> = []
    }

    private static let large = 1000

    var count: Int { inserted.count + updated.count + deleted.count }

    var isLarge: Bool { count > Self.large }

    /// Sorts the rows of large changes by table, for contexts on other queues.
    mutating func sortLargeChanges() {
        if updated.count > Self.large { updatedRows = Self.rows(updated) }
        if deleted.count > Self.large { deletedRows = Self.rows(deleted) }
    }

    mutating func add(updated: [NSManagedObjectID], deleted: [NSManagedObjectID]) {
        if updated.isEmpty && deleted.isEmpty { return }
        self.updated += updated
        self.deleted += deleted
        (updatedRows, deletedRows) = (nil, nil)
    }

    /// - Returns: nil if some IDs have no place in a store.
    private static func rows(_ objectIDs: [NSManagedObjectID]) -> [RowsOfTable]? {
        var tables: [RowsOfTable] = []
        var token: StoreToken?
        var store = -1
        var last = -1
        for (place, objectID) in objectIDs.enumerated() {
            guard case .permanent(let own, let root, let key) = objectID.identity else { return nil }
            if own !== token {
                guard let number = own.numberInUse else { return nil }
                (token, store) = (own, number)
            }
            if last < 0 || tables[last].store != store || tables[last].root != root {
                last = tables.firstIndex { $0.store == store && $0.root == root } ?? tables.count
                if last == tables.count { tables.append(RowsOfTable(store: store, root: root)) }
            }
            tables[last].keys.append(key)
            tables[last].places.append(place)
        }
        return tables
    }
}

/// Changes on their way to another queue. Large ones are released on none of the program's queues.
final class HandedChanges: Sendable {
    /// Guards the changes.
    private let changes: Mutex<SavedObjectIDs>
    private let isLarge: Bool

    init(_ changes: SavedObjectIDs) {
        isLarge = changes.isLarge
        self.changes = Mutex(changes)
    }

    var value: SavedObjectIDs { changes.withLock { $0 } }

    /// Called when the value is no longer used.
    func end() {
        guard isLarge else { return }
        DispatchQueue.global(qos: .utility).async { self.changes.withLock { $0 = SavedObjectIDs() } }
    }
}

/// The contexts of one coordinator or of one parent. The list keeps none of them alive.
final class ClientList: Sendable {
    /// Guards the entries. Each returns its context, or nil once that is being deallocated.
    private let entries = Mutex<[ObjectIdentifier: @Sendable () -> (any CoordinatorClient)?]>([:])

    var isEmpty: Bool { entries.withLock { $0.isEmpty } }

    /// - Parameter reference: the client's reference to itself.
    func add<Client: CoordinatorClient>(_ client: Client, _ reference: BackReference<Client>) {
        entries.withLock { $0[ObjectIdentifier(client)] = { reference.object } }
    }

    /// Called by the context's deinit at the latest.
    func remove(_ client: any CoordinatorClient) {
        _ = entries.withLock { $0.removeValue(forKey: ObjectIdentifier(client)) }
    }

    var all: [any CoordinatorClient] { entries.withLock { $0.values.compactMap { $0() } } }
}
