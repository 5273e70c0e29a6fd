import Foundation
import Synchronization

/// A lock that costs a few instructions to acquire and release when no other thread holds it.
final class UnfairLock: Sendable {
    private let mutex = Mutex<Void>(())
    @inline(__always) func lock() { mutex._unsafeLock() }
    @inline(__always) func unlock() { mutex._unsafeUnlock() }
    func withLock<Value>(_ body: () -> Value) -> Value {
        lock()
        defer { unlock() }
        return body()
    }
}

/// The objects of one context, by store, table and primary key: at most one object per row.
///
/// The map does not keep objects alive; an object leaves it in its `deinit`, under the map's
/// lock, whatever thread releases it last. Looking an object up costs a lock and about
/// one memory access.
///
/// Objects made by a fetch wait in a list until the first look-up in their table. Most are never
/// looked up, and an object that is released before leaves the list in constant time.
class IdentityMap {
    // The lock guards `state`. `adoptedKeyCount` is atomic.

    /// A table in a box, so that a dictionary can hold it.
    final class TableBox {
        // Unchecked exclusivity: the map's lock guards it.
        @exclusivity(unchecked) var table = Table(capacity: 32)
    }

    private struct State {
        /// Indexed by store number, then by the layout index of the root entity.
        var tables: [[TableBox?]] = [] {
            didSet { recent = nil }
        }
        /// The table that was used last, which is most often the next one too. Owned by `tables`.
        private var recent: (store: Int, root: Int, box: Unretained<TableBox>)?
        /// By store number: the tokens of stores, for objects that outlive their context.
        var storeTokens: [Int: StoreToken] = [:]

        mutating func box(store: Int, root: Int) -> TableBox {
            while tables.count <= store { tables.append([]) }
            while tables[store].count <= root { tables[store].append(nil) }
            if let box = tables[store][root] { return box }
            let box = TableBox()
            tables[store][root] = box
            return box
        }

        func existingBox(store: Int, root: Int) -> TableBox? {
            guard store >= 0, store < tables.count, root < tables[store].count else { return nil }
            return tables[store][root]
        }

        /// Removes an object from its table.
        /// - Returns: whether it was there.
        mutating func remove(_ object: NSManagedObject) -> Bool {
            let store = Int(object.storeNumber)
            let root = object.accessorTable.owner.withObject { $0.rootIndex }
            if let recent, recent.store == store, recent.root == root {
                return recent.box.withObject { $0.table.remove(object) }
            }
            if let box = existingBox(store: store, root: root) {
                recent = (store, root, Unretained(box))
                return box.table.remove(object)
            }
            return false
        }
    }

    /// Guards the tables.
    private let lock = UnfairLock()
    // Unchecked exclusivity: the lock guards it, and is not recursive.
    @exclusivity(unchecked) private var state = State()
    /// The temporary identities of this context and of the other contexts of its tree.
    final let identities: TemporaryIdentities
    /// Whether rows come from a parent context, where some have provisional, negative keys.
    final let hasProvisionalKeys: Bool
    /// The permanent keys adopted here. Grows on the context's queue; read on any.
    private let adoptedKeyCount: Atomic<Int>
    let modelLayout: ModelLayout?
    /// The identity of the model of `modelLayout`, for comparison without counting references.
    final let modelIdentity: ObjectIdentifier?
    /// The serial number of the coordinator that numbers the stores; 0 if there is none.
    final let coordinatorSerial: Int
    /// Whether the objects belong to the main queue.
    let isOnMainQueue: Bool

    /// - Parameter parent: the registry of the parent context.
    init(modelLayout: ModelLayout?, coordinatorSerial: Int = 0, isOnMainQueue: Bool = false, parent: IdentityMap? = nil)
    {
        self.coordinatorSerial = coordinatorSerial
        self.isOnMainQueue = isOnMainQueue
        self.modelLayout = modelLayout
        modelIdentity = modelLayout.map(ObjectIdentifier.init)
        identities = parent?.identities ?? TemporaryIdentities()
        hasProvisionalKeys = parent != nil
        adoptedKeyCount = Atomic(parent?.permanentKeyCount ?? 0)
    }

    /// The store with a number; nil once it was removed. The context's registry overrides it.
    func store(number: Int) -> NSPersistentStore? { nil }

    // MARK: - Tables

    /// The remembered token of a store.
    final func knownToken(ofStore number: Int) -> StoreToken? {
        lock.withLock { state.storeTokens[number] }
    }

    /// Keeps the token for the IDs of a removed store's objects.
    final func remember(_ token: StoreToken, ofStore number: Int) {
        lock.withLock { state.storeTokens[number] = token }
    }

    // MARK: - Provisional keys

    /// How many of the tree's permanent keys this context uses to register objects.
    final var permanentKeyCount: Int {
        hasProvisionalKeys ? adoptedKeyCount.load(ordering: .acquiring) : identities.count
    }

    /// Registers objects by their permanent keys from now on.
    ///
    /// - Parameter count: how many of the tree's permanent keys the parent has adopted.
    final func adoptPermanentKeys(_ count: Int) {
        let known = permanentKeyCount
        guard hasProvisionalKeys, count > known else { return }
        for permanent in identities.permanentKeys(known..<count) {
            guard let object = provisionalObject(permanent) else { continue }
            // It was replaced by a row with the same unique values, which has an object.
            if self.object(store: permanent.store, root: permanent.root, key: permanent.key) != nil { continue }
            forget(object)
            object.takePermanentKey(permanent.key, store: permanent.store)
            register(object)
        }
        adoptedKeyCount.store(count, ordering: .releasing)
    }

    /// The object still registered by its provisional key, in any store.
    private final func provisionalObject(_ permanent: TemporaryIdentities.PermanentKey) -> NSManagedObject? {
        lock.lock()
        defer { lock.unlock() }
        for store in state.tables.indices {
            if let entry = state.existingBox(store: store, root: permanent.root)?.table.find(-permanent.serial),
                let object = entry.retained
            {
                return object
            }
        }
        return nil
    }

    /// The registered object with a temporary ID of the tree, if it was saved to the parent.
    final func object(withSerial serial: Int64, root: Int) -> NSManagedObject? {
        if let permanent = identities.permanentKey(ofSerial: serial),
            let object = object(store: permanent.store, root: root, key: permanent.key)
        {
            return object
        }
        guard hasProvisionalKeys else { return nil }
        return provisionalObject(TemporaryIdentities.PermanentKey(serial: serial, root: root, store: -1, key: 0))
    }

    /// The permanent key that has replaced a provisional one here, or the given key.
    final func currentKey(_ key: Int64) -> Int64 {
        guard key < 0, hasProvisionalKeys else { return key }
        return identities.permanentKey(ofSerial: 0 &- key, amongFirst: permanentKeyCount)?.key ?? key
    }

    /// The registered object of a row, by its key or its former provisional key.
    final func object(store: Int, root: Int, key: Int64) -> NSManagedObject? {
        if key < 0, hasProvisionalKeys,
            let permanent = identities.permanentKey(ofSerial: 0 &- key, amongFirst: permanentKeyCount)
        {
            return object(store: permanent.store, root: root, key: permanent.key)
        }
        lock.lock()
        defer { lock.unlock() }
        guard let entry = state.existingBox(store: store, root: root)?.table.find(key) else { return nil }
        // In its deinit, an object waits for the lock in `forget`, and cannot be revived.
        return entry.retained
    }

    /// Moves all registered objects of a table from the waiting list to the entries, as the first
    /// look-up would. It moves some thousand at a time, so that a concurrent reader waits for these
    /// only.
    final func prepareLookUps(store: Int, root: Int) {
        while withTable(store: store, root: root, { $0.takeInWaiting(atMost: 4096) }) {}
    }

    /// The registered objects of rows of one table, with the positions of their keys in the
    /// collection that `keys` is a slice of.
    ///
    /// - Returns: also the number of registrations in that table so far.
    final func objects(
        store: Int, root: Int, keys: ArraySlice<Int64>
    ) -> (objects: ContiguousArray<NSManagedObject>, places: ContiguousArray<Int>, registrationCount: Int) {
        var objects: ContiguousArray<NSManagedObject> = []
        var places: ContiguousArray<Int> = []
        return withTable(store: store, root: root) { table in
            if table.count > 0 {
                for place in keys.indices {
                    guard let entry = table.find(keys[place]), let object = entry.retained else { continue }
                    objects.append(object)
                    places.append(place)
                }
            }
            return (objects, places, table.registrationCount)
        }
    }

    /// Registers an object that has a store and a key.
    final func register(_ object: NSManagedObject) {
        lock.lock()
        defer { lock.unlock() }
        state.box(store: Int(object.storeNumber), root: object.layout.rootIndex).table
            .insert(Unretained(object), key: object.key)
    }

    /// Removes an object that stays alive, for example one whose deletion was saved.
    final func unregister(_ object: NSManagedObject) { forget(object) }

    /// Called in the object's deinit.
    final func forget(_ object: NSManagedObject) {
        // In a damaged store the key may be anything, also 0.
        guard object.storeNumber >= 0 else { return }
        lock.lock()
        let wasRegistered = state.remove(object)
        lock.unlock()
        guard wasRegistered, tellsStoresOfUse.load(ordering: .relaxed) else { return }
        tellStore(endOfUse: [(object.key, object.layout)], object.storeNumber)
    }

    // MARK: - Stores that observe which objects are used

    /// Whether a store was notified of the use of any object.
    private let tellsStoresOfUse = Atomic<Bool>(false)

    /// Notifies an incremental store that the context uses objects from now on.
    final func tellStore(use objects: some Sequence<NSManagedObject>, _ store: NSPersistentStore?) {
        guard let store, store.observesUse else { return }
        tellsStoresOfUse.store(true, ordering: .relaxed)
        // No store knows a row with a provisional key.
        let ids = objects.compactMap {
            $0.key > 0 ? NSManagedObjectID(key: $0.key, layout: $0.layout, store: store) : nil
        }
        if !ids.isEmpty { store.useBegan(of: ids) }
    }

    private func tellStore(endOfUse rows: [(key: Int64, layout: EntityLayout)], _ number: Int16) {
        guard let store = store(number: Int(number)), store.observesUse else { return }
        store.useEnded(
            of: rows.filter { $0.key > 0 }.map { NSManagedObjectID(key: $0.key, layout: $0.layout, store: store) })
    }

    /// Gives the block exclusive access to one table, for many look-ups and insertions at once.
    @inline(__always)
    final func withTable<Result>(store: Int, root: Int, _ body: (inout Table) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state.box(store: store, root: root).table)
    }

    /// The number of registered objects that have a row.
    final var objectCount: Int {
        lock.withLock { state.tables.joined().reduce(0) { $0 + ($1?.table.count ?? 0) } }
    }

    /// All registered objects that have a row.
    final func allObjects() -> [NSManagedObject] {
        lock.lock()
        defer { lock.unlock() }
        var result: [NSManagedObject] = []
        for boxes in state.tables {
            for case let box? in boxes where box.table.count > 0 { box.table.appendObjects(to: &result) }
        }
        return result
    }

    /// Forgets all objects, which are no longer in use.
    ///
    /// - Parameter tokens: the store tokens that the IDs of the remaining objects need.
    final func removeAll(remembering tokens: [Int: StoreToken]) {
        if tellsStoresOfUse.load(ordering: .relaxed) {
            for (number, objects) in Dictionary(grouping: allObjects(), by: \.storeNumber) {
                tellStore(endOfUse: objects.map { ($0.key, $0.layout) }, number)
            }
        }
        lock.lock()
        state.storeTokens.merge(tokens) { _, new in new }
        for case let box? in state.tables.joined() { box.table.forgetPlaces() }
        state.tables = []
        lock.unlock()
    }
}
