import Foundation
import Synchronization

/// A lock that is taken and released in a few instructions when nobody else holds it.
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
/// The registry does not keep objects alive; an object leaves it in its `deinit`, under the registry's lock, whatever
/// thread releases it last. Looking an object up costs a lock and about one memory access.
final class ObjectRegistry: @unchecked Sendable {
    // Sendable: `state` is behind the mutex; `contextReference` is written once when the context goes.

    /// One table's objects: open addressing with the key beside the object, so that probing stays within the table.
    struct Table: ~Copyable {
        struct Entry {
            var key: Int64
            var object: Unmanaged<NSManagedObject>?
        }

        private(set) var entries: UnsafeMutablePointer<Entry>
        private(set) var mask: Int
        private(set) var count = 0

        init(capacity: Int) {
            entries = .allocate(capacity: capacity)
            entries.initialize(repeating: Entry(key: 0, object: nil), count: capacity)
            mask = capacity - 1
        }

        deinit { entries.deallocate() }

        @inline(__always)
        private func start(_ key: Int64) -> Int {
            KeyHash.slot(key) & mask
        }

        @inline(__always)
        func find(_ key: Int64) -> Unmanaged<NSManagedObject>? {
            var index = start(key)
            while let object = entries[index].object {
                if entries[index].key == key { return object }
                index = (index + 1) & mask
            }
            return nil
        }

        @inline(__always)
        mutating func insert(_ object: Unmanaged<NSManagedObject>, key: Int64) {
            if (count + 1) * 3 > (mask + 1) * 2 { reserve(count + 1) }
            var index = start(key)
            while entries[index].object != nil {
                if entries[index].key == key {
                    entries[index].object = object
                    return
                }
                index = (index + 1) & mask
            }
            entries[index] = Entry(key: key, object: object)
            count += 1
        }

        mutating func reserve(_ wanted: Int) {
            var capacity = mask + 1
            while capacity * 2 < wanted * 3 { capacity *= 2 }
            guard capacity > mask + 1 else { return }
            var grown = Table(capacity: capacity)
            for index in 0...mask {
                if let object = entries[index].object { grown.insert(object, key: entries[index].key) }
            }
            self = grown
        }

        mutating func remove(_ object: Unmanaged<NSManagedObject>, key: Int64) {
            var index = start(key)
            while let entry = entries[index].object, entry.toOpaque() != object.toOpaque() {
                index = (index + 1) & mask
            }
            guard entries[index].object != nil else { return }
            count -= 1
            var gap = index
            var next = (gap + 1) & mask
            while entries[next].object != nil {
                let home = start(entries[next].key)
                // Move an entry back when its home does not lie cyclically in (gap, next].
                if (next &- home) & mask >= (next &- gap) & mask {
                    entries[gap] = entries[next]
                    gap = next
                }
                next = (next + 1) & mask
            }
            entries[gap] = Entry(key: 0, object: nil)
        }
    }

    /// A table in a box, so that a dictionary can hold it.
    final class TableBox {
        @exclusivity(unchecked) var table = Table(capacity: 32)

        func remove(_ object: Unmanaged<NSManagedObject>, key: Int64) { table.remove(object, key: key) }
    }

    private struct State {
        /// Indexed by store number, then by the layout index of the root entity.
        var tables: [[TableBox?]] = []
        var temporarySerial: Int64 = 0
        /// By store number: what remains of the stores for objects that outlive their context.
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
    }

    /// Guards the tables and the serial.
    private let lock = UnfairLock()
    @exclusivity(unchecked) private var state = State()
    /// Identifies this context's temporary object IDs.
    let temporarySpace = UUID()
    let modelLayout: ModelLayout?
    /// Set when the context's staleness interval says that rows are not good for ever.
    @exclusivity(unchecked) var checksAge = false

    private var contextReference: Unmanaged<NSManagedObjectContext>?
    private weak let coordinator: NSPersistentStoreCoordinator?

    init(context: NSManagedObjectContext, modelLayout: ModelLayout?, coordinator: NSPersistentStoreCoordinator?) {
        contextReference = .passUnretained(context)
        self.modelLayout = modelLayout
        self.coordinator = coordinator
    }

    /// The context, nil once it is being deallocated.
    @inline(__always)
    var context: NSManagedObjectContext? {
        // Under the lock: the context's deinit takes it to clear the reference before the context is freed.
        lock.lock()
        defer { lock.unlock() }
        return contextReference.flatMap { tryRetain($0) }
    }

    /// Called by the context's deinit.
    func contextWillDeallocate() {
        lock.lock()
        contextReference = nil
        lock.unlock()
    }

    func store(number: Int) -> NSPersistentStore? { coordinator?.store(number: number) }

    /// What object IDs need of a store that the coordinator, or the context, has let go of.
    func formerStoreToken(number: Int) -> StoreToken? {
        if let token = coordinator?.formerStoreTokens[number] { return token }
        lock.lock()
        defer { lock.unlock() }
        return state.storeTokens[number]
    }

    /// Keeps what the IDs of a removed store's objects need, also when the coordinator goes.
    func remember(_ token: StoreToken, ofStore number: Int) {
        lock.lock()
        defer { lock.unlock() }
        state.storeTokens[number] = token
    }

    func nextTemporarySerial() -> Int64 {
        lock.lock()
        defer { lock.unlock() }
        state.temporarySerial += 1
        return state.temporarySerial
    }

    /// Serials of objects that have no context.
    static func nextFreeSerial() -> Int64 { freeSerial.wrappingAdd(1, ordering: .relaxed).newValue }
    private static let freeSerial = Atomic<Int64>(0)
    static let freeSpace = UUID()

    /// The registered object of a row.
    func object(store: Int, root: Int, key: Int64) -> NSManagedObject? {
        lock.lock()
        defer { lock.unlock() }
        guard let entry = state.existingBox(store: store, root: root)?.table.find(key) else { return nil }
        // An object in its deinit waits for the lock in `forget`; its memory is still there, but it cannot be revived.
        return tryRetain(entry)
    }

    /// Registers an object that has a store and a key.
    func register(_ object: NSManagedObject) {
        lock.lock()
        defer { lock.unlock() }
        state.box(store: Int(object.storeNumber), root: object.layout.rootIndex).table
            .insert(.passUnretained(object), key: object.key)
    }

    /// Removes an object that stays alive, for example one whose deletion was saved.
    func unregister(_ object: NSManagedObject) { forget(object) }

    /// Called in the object's deinit.
    func forget(_ object: NSManagedObject) {
        // In a damaged store the key may be anything, also 0.
        guard object.storeNumber >= 0 else { return }
        lock.lock()
        defer { lock.unlock() }
        state.existingBox(store: Int(object.storeNumber), root: object.layout.rootIndex)?
            .remove(.passUnretained(object), key: object.key)
    }

    /// Gives the block exclusive access to one table, for many look-ups and insertions at once.
    @inline(__always)
    func withTable<Result>(store: Int, root: Int, _ body: (inout Table) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state.box(store: store, root: root).table)
    }

    /// All registered objects that have a row.
    func allObjects() -> [NSManagedObject] {
        lock.lock()
        defer { lock.unlock() }
        var result: [NSManagedObject] = []
        for boxes in state.tables {
            for case let box? in boxes where box.table.count > 0 {
                for index in 0...box.table.mask {
                    if let entry = box.table.entries[index].object, let object = tryRetain(entry) {
                        result.append(object)
                    }
                }
            }
        }
        return result
    }

    func removeAll() {
        let stores = coordinator?.persistentStores ?? []
        let formerTokens = coordinator?.formerStoreTokens ?? [:]
        lock.lock()
        state.storeTokens.merge(formerTokens) { known, _ in known }
        for store in stores { state.storeTokens[store.number] = store.token }
        state.tables = []
        lock.unlock()
    }
}
