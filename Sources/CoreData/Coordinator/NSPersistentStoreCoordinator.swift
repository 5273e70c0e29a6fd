import Foundation
import Synchronization

/// Brings contexts and stores together: it knows the model, opens stores, and routes requests to them.
///
/// Many contexts may use one coordinator at once; requests of different contexts do not wait for each other here, only
/// where a store makes them. Adding and removing stores is serialised.
///
/// Source: <https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator>
///
/// ```swift
/// let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
/// try coordinator.addPersistentStore(type: .sqlite, at: url)
/// let context = NSManagedObjectContext(.privateQueue)
/// context.persistentStoreCoordinator = coordinator
/// ```
open class NSPersistentStoreCoordinator: NSObject, NSLocking, @unchecked Sendable {
    // Sendable: the model is frozen, the layouts are constant, what changes lies behind the mutex and the locks.

    /// The model whose entities the stores hold. It cannot be changed any more.
    public let managedObjectModel: NSManagedObjectModel

    /// Where each property of the model lies in rows and objects.
    let modelLayout: ModelLayout

    /// A store and which entities it holds.
    struct AddedStore {
        let store: NSPersistentStore
        /// By layout index.
        let holds: [Bool]
    }

    private struct State {
        var formerStoreTokens: [Int: StoreToken] = [:]
        var name: String?
        /// In the order in which they were added.
        var stores: [AddedStore] = []
        var nextNumber = 0
    }

    // Guards the list of stores and the name.
    private let state = Mutex(State())

    /// Whether a store wants to know which objects contexts use; stays set once there was one.
    let tellsStoresOfUse = Atomic<Bool>(false)

    /// The contexts that work on the coordinator, which are told when a store goes.
    let clients = ClientList()
    /// Those of them that take over what others save.
    let mergingClients = ClientList()

    /// Serialises adding and removing stores. Recursive: a store's `didAdd(to:)` may add another one.
    let changingStores = NSRecursiveLock()

    /// What `lock()` and `unlock()` work on. Nothing in the framework waits for it.
    private let userLock = NSRecursiveLock()

    private let queue: DispatchQueue
    private let queueKey = DispatchSpecificKey<Bool>()

    /// Makes a coordinator without stores.
    ///
    /// The model is frozen: its descriptions stop the program when they are changed afterwards.
    ///
    /// - Precondition: the model is consistent. Use `init(validating:)` for a model that comes from elsewhere.
    public init(managedObjectModel model: NSManagedObjectModel) {
        let problems = model.objectProblems()
        precondition(problems.isEmpty, Self.message(for: problems))
        managedObjectModel = model
        modelLayout = Self.layout(freezing: model)
        queue = DispatchQueue(label: "CoreData.NSPersistentStoreCoordinator")
        super.init()
        queue.setSpecific(key: queueKey, value: true)
    }

    /// Makes a coordinator without stores for a model that may be inconsistent.
    ///
    /// - Throws: `CocoaError.coreData` (134060); `NSDetailedErrorsKey` holds one error for each inconsistency.
    public init(validating model: NSManagedObjectModel) throws {
        try Self.requireConsistency(of: model, checksAllClasses: true)
        managedObjectModel = model
        modelLayout = Self.layout(freezing: model)
        queue = DispatchQueue(label: "CoreData.NSPersistentStoreCoordinator")
        super.init()
        queue.setSpecific(key: queueKey, value: true)
    }

    /// - Throws: one error for all inconsistencies of a model.
    static func requireConsistency(of model: NSManagedObjectModel, checksAllClasses: Bool = false) throws {
        let problems = model.objectProblems(checksAllClasses: checksAllClasses)
        guard !problems.isEmpty else { return }
        throw CoreDataErrors.inconsistentModel(message(for: problems), problems)
    }

    private static func layout(freezing model: NSManagedObjectModel) -> ModelLayout {
        let layout = model.objectLayouts()
        ModelRegistry.shared.add(layout)
        return layout
    }

    private static func message(for problems: [String]) -> String {
        "The model cannot be used by a persistent store coordinator: " + problems.joined(separator: "; ")
    }

    /// A name for people, shown by debuggers.
    open var name: String? {
        get { state.withLock { $0.name } }
        set {
            state.withLock { $0.name = newValue }
        }
    }

    // MARK: - Stores

    /// The stores in the order in which they were added.
    open var persistentStores: [NSPersistentStore] { addedStores.map(\.store) }

    /// The stores and what they hold, as of now.
    var addedStores: [AddedStore] { state.withLock { $0.stores } }

    /// A number no store of this coordinator had before.
    func takeStoreNumber() -> Int {
        state.withLock { guarded in
            defer { guarded.nextNumber += 1 }
            return guarded.nextNumber
        }
    }

    /// Lists a store that is ready for use. The caller holds `changingStores`.
    func list(_ store: NSPersistentStore, holding entities: [NSEntityDescription]) {
        var holds = Array(repeating: false, count: modelLayout.layouts.count)
        for entity in entities {
            if let layout = modelLayout.layoutByName[entity.name ?? ""] { holds[layout.index] = true }
        }
        if store.observesUse { tellsStoresOfUse.store(true, ordering: .relaxed) }
        state.withLock { $0.stores.append(AddedStore(store: store, holds: holds)) }
    }

    /// Takes a store off the list. The caller holds `changingStores`.
    func unlist(_ store: NSPersistentStore) {
        let token = store.token
        state.withLock { guarded in
            guarded.formerStoreTokens[store.number] = token
            guarded.stores.removeAll { $0.store === store }
        }
    }

    /// By number: what object IDs still need of the stores that were removed.
    var formerStoreTokens: [Int: StoreToken] { state.withLock { $0.formerStoreTokens } }

    // MARK: - The coordinator's queue

    /// Runs a block on the coordinator's serial queue and waits for it. May be called from such a block.
    open func performAndWait<Result, Failure>(_ block: () throws(Failure) -> Result) throws(Failure) -> Result {
        if DispatchQueue.getSpecific(key: queueKey) == true { return try block() }
        // `sync` runs the block once before it returns.
        var outcome: Swift.Result<Result, Failure>?
        queue.sync { outcome = Swift.Result(running: block) }
        guard let outcome else { preconditionFailure("the coordinator's queue did not run a block") }
        return try outcome.get()
    }

    /// Runs a block on the coordinator's serial queue, later.
    open func perform(_ block: @escaping @Sendable () -> Void) {
        queue.async(execute: block)
    }

    /// Runs a block on the coordinator's serial queue and gives its result.
    open func perform<Result, Failure>(
        _ block: @escaping @Sendable () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let outcome = await withCheckedContinuation { continuation in
            // The result is made on the queue and used by the one who waits, never by both.
            queue.async { continuation.resume(returning: Unchecked(Swift.Result(running: block))) }
        }
        return try outcome.value.get()
    }

    /// Locks the coordinator for the calling thread, for code that was written before queues. The framework itself never
    /// waits for this lock.
    public func lock() { userLock.lock() }

    /// Undoes one `lock()`.
    public func unlock() { userLock.unlock() }

    /// Locks the coordinator if no other thread has locked it.
    public func tryLock() -> Bool { userLock.try() }
}

extension Result {
    /// What a block returns or throws.
    init(running block: () throws(Failure) -> Success) {
        do {
            self = .success(try block())
        } catch {
            self = .failure(error)
        }
    }
}
