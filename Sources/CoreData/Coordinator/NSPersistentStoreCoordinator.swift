import Foundation
import Synchronization

/// Connects contexts and stores: it knows the model, opens stores, and routes requests to them.
///
/// Many contexts may use one coordinator at once. Requests of different contexts do not wait for
/// each other in the coordinator, only where a store makes them. Adding and removing stores is
/// serialised.
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
    // Sendable: the model is frozen, the layouts are constant, mutable state is behind the mutex
    // and the locks.

    /// The model whose entities the stores hold. It cannot be changed any more.
    public let managedObjectModel: NSManagedObjectModel

    /// The place of each property of the model in rows and objects.
    let modelLayout: ModelLayout

    /// A number that no other coordinator of the process has; never 0.
    let serialNumber = NSPersistentStoreCoordinator.serialNumbers.wrappingAdd(1, ordering: .relaxed).newValue
    private static let serialNumbers = Atomic<Int>(0)

    // Guards the list of stores and the name.
    let state = Mutex(State())

    /// The new places of the rows of a store that is about to be removed. Objects of contexts
    /// follow them.
    let movedRows = Mutex<MovedRows?>(nil)
    /// A reference to the coordinator that does not keep it alive.
    final let reference = BackReference<NSPersistentStoreCoordinator>()

    /// Whether a store observes which objects contexts use; stays set once there was such a store.
    let tellsStoresOfUse = Atomic<Bool>(false)

    /// The contexts that use the coordinator, which are notified when a store is removed.
    let clients = ClientList()
    /// The contexts that merge the saves of other contexts and programs.
    let mergingClients = ClientList()

    /// Serialises adding and removing stores. Recursive: a store's `didAdd(to:)` may add another
    /// one.
    let changingStores = NSRecursiveLock()

    /// The lock of `lock()` and `unlock()`. Nothing in the framework waits for it.
    let userLock = NSRecursiveLock()

    /// The queue that adds stores asynchronously, one after the other.
    let additions = DispatchQueue(label: "CoreData.NSPersistentStoreCoordinator.additions")

    private let work = CoordinatorQueue()

    /// Creates a coordinator without stores.
    ///
    /// The model is frozen: changing its descriptions afterwards stops the program.
    ///
    /// - Precondition: the model is consistent. Use `init(validating:)` for a model that comes from
    ///   elsewhere.
    public init(managedObjectModel model: NSManagedObjectModel) {
        let problems = model.objectProblems()
        precondition(problems.isEmpty, Self.message(for: problems))
        managedObjectModel = model
        modelLayout = Self.layout(freezing: model)
        super.init()
        reference.lead(to: self)
    }

    /// Creates a coordinator with an empty model, for destroying and replacing stores.
    ///
    /// ```swift
    /// try NSPersistentStoreCoordinator().destroyPersistentStore(at: url, type: .sqlite)
    /// ```
    public convenience override init() {
        self.init(managedObjectModel: NSManagedObjectModel())
    }

    /// Creates a coordinator without stores for a model that may be inconsistent.
    ///
    /// - Throws: `CocoaError.coreData` (134060); `NSDetailedErrorsKey` holds one error for each
    ///   inconsistency.
    public init(validating model: NSManagedObjectModel) throws {
        try Self.requireConsistency(of: model, checksAllClasses: true)
        managedObjectModel = model
        modelLayout = Self.layout(freezing: model)
        super.init()
        reference.lead(to: self)
    }

    private static func layout(freezing model: NSManagedObjectModel) -> ModelLayout {
        let layout = model.objectLayouts()
        ModelRegistry.shared.add(layout)
        return layout
    }

    deinit { reference.clear() }

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

    // MARK: - Methods that subclasses may override

    // Only methods of a class can be overridden. Extensions contain their implementations.

    /// Opens a store, or creates it if there is none, and adds it.
    ///
    /// Reads the metadata and the schema of a database, not its rows.
    ///
    /// ```swift
    /// let store = try coordinator.addPersistentStore(
    ///     type: .sqlite, configuration: "Shop", at: url)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the store's type.
    ///   - configuration: the model configuration whose entities the store holds; nil for all.
    ///   - url: where the store is. A store in memory keeps nothing there.
    ///   - options: see `NSReadOnlyPersistentStoreOption` and its siblings.
    /// - Throws: a `CocoaError`: `.persistentStoreInvalidType` for an unknown type,
    ///   `.persistentStoreTypeMismatch` when the store is of another type, `.persistentStoreOpen`
    ///   when it cannot be opened or the model has no such configuration,
    ///   `.persistentStoreIncompatibleVersionHash` when it was made with another version of the
    ///   model, `.migrationMissingSourceModel`, `.migrationMissingMappingModel`,
    ///   `.inferredMappingModel`, `.migration`, `.migrationManagerSourceStore` or code 134111 when
    ///   it should be migrated and cannot be, code 134504 or 134506 when stages do not lead to the
    ///   model, the error of a stage's handler, code 134081 when it is added already. A store that
    ///   could not be migrated is as it was before; one on a server is, in stages, at the last that
    ///   was done.
    @discardableResult
    open func addPersistentStore(
        type: NSPersistentStore.StoreType, configuration: String? = nil, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try add(type: type.rawValue, configuration: configuration, at: url, options: options)
    }

    /// Opens a store, or creates it if there is none, and adds it.
    ///
    /// - Parameters:
    ///   - storeType: `NSSQLiteStoreType`, `NSXMLStoreType`, `NSBinaryStoreType`,
    ///     `NSInMemoryStoreType`, or the type of a registered class.
    ///   - configuration: the model configuration whose entities the store holds; nil for all.
    ///   - storeURL: may be nil for a store in memory or of a class that the program defines. The
    ///     store then gets a URL that names no file.
    ///   - options: see `NSReadOnlyPersistentStoreOption` and its siblings.
    /// - Throws: see `addPersistentStore(type:configuration:at:options:)`.
    @discardableResult
    open func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try add(type: storeType, configuration: configuration, at: storeURL, options: options)
    }

    /// Adds the store that a description describes.
    ///
    /// - Parameters:
    ///   - storeDescription: the store's type, place, configuration and options.
    ///   - block: called once with the description and the error, if any: before the method
    ///     returns, or later on a background queue if the description asks for adding
    ///     asynchronously. Such stores are added one after the other.
    open func addPersistentStore(
        with storeDescription: NSPersistentStoreDescription,
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        addStore(with: storeDescription, completionHandler: block)
    }

    /// Adds the store that a description describes, on another thread than the caller's.
    ///
    /// ```swift
    /// let store = try await coordinator.addPersistentStore(
    ///     with: NSPersistentStoreDescription(url: url))
    /// ```
    ///
    /// - Throws: see `addPersistentStore(type:configuration:at:options:)`.
    @discardableResult
    open func addPersistentStore(
        with storeDescription: NSPersistentStoreDescription
    ) async throws -> NSPersistentStore {
        try await addStore(with: storeDescription)
    }

    /// Closes a store and removes it from the coordinator.
    ///
    /// The contexts of the coordinator release the objects that came from it, each on its queue: at
    /// once if the caller is on that queue, later otherwise. Those objects read as nil afterwards,
    /// and their unsaved changes are lost. The contexts post them in
    /// `NSManagedObjectContextObjectsDidChange`, under `NSInvalidatedObjectsKey`.
    ///
    /// ```swift
    /// if let store = coordinator.persistentStore(for: url) { try coordinator.remove(store) }
    /// ```
    ///
    /// - Throws: `CocoaError.persistentStoreOperation` when the store is not one of the
    ///   coordinator's.
    open func remove(_ store: NSPersistentStore) throws {
        try removeStore(store)
    }

    /// The store that was added for a URL.
    ///
    /// Files are compared by their standardised paths.
    open func persistentStore(for url: URL) -> NSPersistentStore? {
        addedStores.first { $0.store.url.map { Self.isSame($0, url) } ?? false }?.store
    }

    /// The URL of a store.
    ///
    /// - Precondition: the store has a URL; all stores that a coordinator added do.
    open func url(for store: NSPersistentStore) -> URL {
        place(of: store)
    }

    /// Moves a store to another URL.
    ///
    /// An atomic store writes there from the next save on. A store in a SQLite file or a database
    /// continues with the store that is there.
    ///
    /// - Returns: false when the store does not belong to the coordinator, another store is at the
    ///   URL already, or there is none to continue with: none is created. The store then stays
    ///   where it was.
    @discardableResult
    open func setURL(_ url: URL, for store: NSPersistentStore) -> Bool {
        move(store, to: url)
    }

    /// The metadata of an open store.
    open func metadata(for store: NSPersistentStore) -> [String: Any] { store.metadata ?? [:] }

    /// Replaces the metadata of an open store. They are written with the next save of the store.
    ///
    /// The store's type, UUID and version hashes are kept when the new metadata does not name them.
    /// Entries that other programs have written to a SQLite or PostgreSQL store in the meantime
    /// stay, except those in which the new metadata differs from the metadata that was read.
    open func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
        store.metadata = NSPersistentStore.metadata(metadata, replacing: store.metadata ?? [:])
    }

    /// The object ID that a URI names (`x-coredata://STORE-UUID/Entity/p12`).
    ///
    /// The object itself need not exist any more. The ID has the entity of the object's row,
    /// whichever entity of the hierarchy the URI names. The row is read if the entity has a
    /// superentity or subentities and the row is not in memory.
    ///
    /// - Returns: nil when the URI has another form, no added store has its UUID, or the model
    ///   lacks its entity.
    open func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        objectID(for: url)
    }

    /// The object ID that the text of a URI names; nil where
    /// `managedObjectID(forURIRepresentation:)` is.
    open func managedObjectID(for string: String) -> NSManagedObjectID? {
        URL(string: string).flatMap { managedObjectID(forURIRepresentation: $0) }
    }

    /// Empties the store at a URL: a SQLite database through its own locks, a file of another type
    /// by removing it.
    ///
    /// See `destroyPersistentStore(at:ofType:options:)`.
    open func destroyPersistentStore(
        at url: URL, type: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyPersistentStore(at: url, ofType: type.rawValue, options: options)
    }

    /// Empties the store at a URL: a SQLite database through its own locks, a file of another type
    /// by removing it.
    ///
    /// If the coordinator has the store, it is removed from it first, so that a new one can be
    /// added in its place. It stays removed if the store cannot be destroyed. A database in memory
    /// that stores share ends with the last of them, not here. Any other store in memory has
    /// nothing at the URL, and whatever is there is left alone.
    ///
    /// - Throws: a `CocoaError` when the type is unknown, the store cannot be destroyed, or there
    ///   is no regular file of a store of the type. With `NSPersistentStoreForceDestroyOption` the
    ///   file need be neither readable as a store nor free of locks.
    open func destroyPersistentStore(
        at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyStore(at: url, ofType: storeType, options: options)
    }

    /// Copies a store with its journal and external files over another one.
    ///
    /// If the coordinator has the other store, that is removed from it first, and stays removed:
    /// add it again to use the copy.
    ///
    /// - Throws: a `CocoaError` when the type is unknown, a store cannot be read or written, or
    ///   something else than a store of the type is at the destination. Stores in memory cannot be
    ///   replaced.
    open func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom sourceURL: URL,
        sourceOptions: [AnyHashable: Any]? = nil, type: NSPersistentStore.StoreType
    ) throws {
        try replacePersistentStore(
            at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
            sourceOptions: sourceOptions, ofType: type.rawValue)
    }

    /// Copies a store over another one: see
    /// `replacePersistentStore(at:destinationOptions:withPersistentStoreFrom:sourceOptions:type:)`.
    open func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom sourceURL: URL,
        sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
    ) throws {
        try replaceStore(
            at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
            sourceOptions: sourceOptions,
            ofType: storeType)
    }

    /// Copies all objects of a store to a new store, possibly of another type, which replaces the
    /// old one.
    ///
    /// The old store is removed from the coordinator; its file stays. Objects of contexts follow
    /// their rows, with their unsaved changes: they belong to the new store from then on, and the
    /// next save writes them there. They get new IDs; rows keep their keys in a new SQLite file.
    /// IDs of the old store do not name objects of the new store:
    /// `NSPersistentStoreCoordinatorStoresDidChange` lists the IDs that do under
    /// `NSUUIDChangedPersistentStoresKey`. With `NSReadOnlyPersistentStoreOption` the new store is
    /// filled, and takes no changes after that.
    ///
    /// The copy is one transaction. Between databases, rows pass in blocks of at most 10,000 and
    /// about 8 MiB; only the keys and IDs of all objects are held. If the source or the destination
    /// is a store in memory, an XML or binary store, or of a class that the program defines, all
    /// rows are held until the end.
    ///
    /// - Throws: a `CocoaError` when the new store cannot be made or written; the old store then
    ///   stays.
    @discardableResult
    open func migratePersistentStore(
        _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil, type: NSPersistentStore.StoreType
    ) throws -> NSPersistentStore {
        try migratePersistentStore(store, to: url, options: options, withType: type.rawValue)
    }

    /// Moves a store's objects to a new store: see `migratePersistentStore(_:to:options:type:)`.
    @discardableResult
    open func migratePersistentStore(
        _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
    ) throws -> NSPersistentStore {
        try migrateStore(store, to: url, options: options, withType: storeType)
    }

    // MARK: - The coordinator's queue

    /// Runs a block on the coordinator's serial queue and waits for it. May be called from such a
    /// block.
    open func performAndWait<Result, Failure>(_ block: () throws(Failure) -> Result) throws(Failure) -> Result {
        try work.run(block)
    }

    /// Runs a block on the coordinator's serial queue, later.
    open func perform(_ block: @escaping @Sendable () -> Void) {
        work.queue.async(execute: block)
    }

    /// Runs a block on the coordinator's serial queue and returns its result.
    open func perform<Result, Failure>(
        _ block: @escaping @Sendable () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let outcome = await withCheckedContinuation { continuation in
            // The result is made on the queue and then used by the waiting caller, never by both.
            work.queue.async { continuation.resume(returning: Unchecked(Swift.Result(running: block))) }
        }
        return try outcome.value.get()
    }
}
