import Foundation
import Synchronization

/// The abstract base class of all stores: a file or other place that a coordinator keeps rows in.
///
/// Custom stores inherit from `NSAtomicStore` or `NSIncrementalStore`, never from this class
/// directly.
///
/// Source: <https://developer.apple.com/documentation/coredata/nspersistentstore>
///
/// ```swift
/// for store in coordinator.persistentStores { print(store.type, store.identifier ?? "",
/// store.url?.path ?? "") }
/// ```
open class NSPersistentStore: NSObject, @unchecked Sendable {
    // Sendable: mutable state lies behind the mutex; subclasses guard their own.

    private struct State {
        var url: URL?
        var identifier: String?
        /// Its values are property list values, which do not change.
        var metadata: [String: Any] = [:]
        var isReadOnly = false
        var readOnlyReason = ReadOnlyReason.option
        /// Option values are property list values or immutable objects.
        var options: [AnyHashable: Any]?
        var registeredType = ""
        var coordinator: BackReference<NSPersistentStoreCoordinator>?
        var coordinatorSerial = 0
        var number = -1
        var modelLayout: ModelLayout?
        var token: StoreToken?
        var othersChanged: (@Sendable (_ after: Int64?) -> Void)?
    }

    private let state: Mutex<State>

    /// The state of the history, as last seen.
    package final let knownHistory = KnownHistory()

    /// This store, if its class is in another module. Found once: a cast to a protocol takes longer
    /// than the reading of a cached row.
    ///
    /// Unowned: it is `self`. Set by the initializer alone.
    private unowned final var serverStore: (any ServerStore)?

    /// A weak reference to this store that costs no side table.
    package final let reference = BackReference<NSPersistentStore>()

    /// The name of the model configuration whose entities the store holds.
    ///
    /// `PF_DEFAULT_CONFIGURATION_NAME` stands for all entities.
    public let configurationName: String
    /// The options the store was added with.
    public var options: [AnyHashable: Any]? { state.withLock { guarded in Unchecked(guarded.options) }.value }

    /// Creates a store that is not open yet: the coordinator calls this, then `loadMetadata()`.
    public required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        configurationName = name ?? NSPersistentStore.defaultConfigurationName
        state = Mutex(State(url: url))
        super.init()
        reference.lead(to: self)
        serverStore = self as? any ServerStore
        let given = Unchecked(options)
        state.withLock {
            $0.coordinator = root?.reference
            $0.coordinatorSerial = root?.serialNumber ?? 0
            $0.options = given.value
            $0.isReadOnly = Self.flag(given.value, NSReadOnlyPersistentStoreOption)
        }
    }

    deinit { reference.clear() }

    /// The name of the configuration that contains all entities.
    static var defaultConfigurationName: String { NSManagedObjectModel.defaultConfigurationName }

    /// The coordinator the store belongs to; nil once it was removed.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? { state.withLock { $0.coordinator }?.object }

    /// The location of the store's data.
    open var url: URL? {
        get { state.withLock { $0.url } }
        set { state.withLock { $0.url = newValue } }
    }

    /// The store's UUID, which is part of the URI of each of its objects.
    open var identifier: String! {
        get { state.withLock { $0.identifier } }
        set { state.withLock { $0.identifier = newValue } }
    }

    /// The store's type, for example `NSSQLiteStoreType`.
    ///
    /// This is the type that the store was added with, unless a subclass overrides it.
    open var type: String { state.withLock { $0.registeredType } }

    /// The type that the store was added with.
    var registeredType: String {
        get { state.withLock { $0.registeredType } }
        set { state.withLock { $0.registeredType = newValue } }
    }

    /// Whether saves of objects in this store are refused.
    open var isReadOnly: Bool {
        get { state.withLock { $0.isReadOnly } }
        set { state.withLock { $0.isReadOnly = newValue } }
    }

    /// The reason why saves are refused, when they are.
    final var readOnlyReason: ReadOnlyReason {
        get { state.withLock { $0.readOnlyReason } }
        set { state.withLock { $0.readOnlyReason = newValue } }
    }

    /// Refuses further changes, as if the store had been added with these options.
    func becomeReadOnly(_ options: [AnyHashable: Any]?) {
        let given = Unchecked(options)
        state.withLock { $0.options = given.value }
        isReadOnly = true
    }

    /// The store's metadata: type, UUID, the model's version hashes and the application's own keys.
    open var metadata: [String: Any]! {
        get { state.withLock { guarded in Unchecked(guarded.metadata) }.value }
        set {
            let value = Unchecked(newValue ?? [:])
            state.withLock { $0.metadata = value.value }
        }
    }

    /// Opens the store far enough to know its metadata, creating it when it does not exist.
    /// Subclasses must override this and set `metadata` with at least `NSStoreTypeKey` and
    /// `NSStoreUUIDKey`.
    ///
    /// ```swift
    /// override func loadMetadata() throws {
    ///     metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: try storedIdentifier()]
    /// }
    /// ```
    ///
    /// - Throws: the error that prevents opening the store; code 134080 without an override.
    ///   (Atomic stores have one.)
    open func loadMetadata() throws {
        throw CoreDataErrors.make(
            .persistentStoreOpen, "The store class \(Swift.type(of: self)) does not implement loadMetadata().")
    }

    /// Called when the store has been added to a coordinator.
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

    /// Called before the store is removed from a coordinator.
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

    /// The metadata of the store at a URL, read without opening it.
    ///
    /// - Throws: the error that prevents reading the file; code 134080 without an override.
    open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        throw CoreDataErrors.make(
            .persistentStoreOpen, "The store class \(self) cannot read the metadata of a store that is not open.")
    }

    /// Replaces the metadata of the store at a URL without opening it.
    ///
    /// - Throws: the error that prevents writing the file; code 134080 without an override.
    open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        throw CoreDataErrors.make(
            .persistentStoreOpen, "The store class \(self) cannot write the metadata of a store that is not open.")
    }

    /// The class of the manager that migrates to stores of this class: `NSMigrationManager`, unless
    /// a subclass names a subclass of it.
    open class func migrationManagerClass() -> AnyClass { NSMigrationManager.self }

    // MARK: - Stores that are not open

    /// Whether this class keeps the store at a URL in a file there.
    class func hasFile(at url: URL) -> Bool { url.isFileURL && !(self is any ServerStore.Type) }

    /// A new URL for a store that was added without one; nil where the store requires a URL.
    class func ownURL() -> URL? { self is any ServerStore.Type ? nil : URL(string: "store://\(UUID().uuidString)") }

    /// The model that the store at a URL contains; nil when its type stores none, or it has none.
    ///
    /// - Throws: `ModelReadingError` where the model cannot be read, and the errors of reading the
    ///   file.
    class func modelInStore(at url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel? {
        try (self as? any ServerStore.Type)?.storedModel(at: url, options: options)
    }

    /// The model that this store contains. Its metadata must have been loaded.
    func modelInStore() throws -> NSManagedObjectModel? {
        if let serverStore { return try serverStore.storedModel() }
        return try url.flatMap { try Self.modelInStore(at: $0, options: options) }
    }

    /// The metadata of the store at a URL, for types that need options to reach it.
    class func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
        try (self as? any ServerStore.Type)?.storedMetadata(at: url, options: options)
            ?? metadataForPersistentStore(with: url)
    }

    /// Replaces the metadata of the store at a URL, for types that need options to reach it.
    class func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
        if let onServer = self as? any ServerStore.Type {
            return try onServer.replaceStoredMetadata(metadata, at: url, options: options)
        }
        try setMetadata(metadata, forPersistentStoreAt: url)
    }

    /// Empties or removes the store at a URL. It is no error when there is none.
    ///
    /// - Throws: an error when the URL has anything but a regular file that the class can read.
    class func destroyStore(ofType type: String, at url: URL, options: [AnyHashable: Any]?) throws {
        if let onServer = self as? any ServerStore.Type { return try onServer.destroy(at: url, options: options) }
        try WholeFile(storeClass: self, type: type, url: url)
            .destroy(isForced: flag(options, NSPersistentStoreForceDestroyOption))
    }

    /// Copies the store at one URL over the one at another. Neither may be open.
    class func replaceStore(
        ofType type: String, at url: URL, options: [AnyHashable: Any]?, withStoreAt source: URL,
        sourceOptions: [AnyHashable: Any]?
    ) throws {
        if let onServer = self as? any ServerStore.Type {
            return try onServer.replace(at: url, options: options, withStoreAt: source, sourceOptions: sourceOptions)
        }
        try WholeFile(storeClass: self, type: type, url: url).replace(withFileAt: source)
    }

    // MARK: - For the coordinator

    /// Returns a new UUID for a store whose metadata has none.
    class func newIdentifier(at url: URL) -> String { UUID().uuidString }

    /// The features of these entities that the class cannot store, as parts of a sentence; empty
    /// when it can store all.
    class func unsupportedFeatures(of entities: [NSEntityDescription]) -> [String] { [] }

    /// Migrates the store to the model's version and loads its metadata again.
    ///
    /// Called when the metadata does not fit the model.
    func migrate(_ migration: StoreMigration) throws {
        if let serverStore { return try serverStore.migrateStore(migration) }
        throw CoreDataErrors.make(
            .migration,
            "The store \(StoreName.text(type: type, url: url)) was made with another version of the model and cannot "
                + "be migrated: "
                + "stores of this type cannot be.",
            recovery: "Open it with the version of the model that it was made with, and copy its objects.",
            userInfo: StoreOpeningErrors.userInfo(type: type, url: url))
    }

    /// Called when the metadata fits the model, before the coordinator lists the store.
    func prepareForRequests() throws { try serverStore?.openForRequests() }

    /// The last part of the URI of an object, before percent-encoding.
    func referenceText(forKey key: Int64, of entity: EntityLayout) -> String { "p\(key)" }

    /// The last part of the URI of an object, percent-encoded where necessary.
    final func uriText(forKey key: Int64, of entity: EntityLayout) -> String {
        if namesRowsByKey { return "p\(key)" }
        let text = referenceText(forKey: key, of: entity)
        // A slash stays. A percent sign of the text is encoded; otherwise decoding would misread
        // the characters that follow it.
        return text.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? text
    }

    /// The primary key behind the last part of a URI; nil when it is not of the store's form.
    func key(forReferenceText text: String, of entity: EntityLayout) -> Int64? {
        // Any number: another program may have given a row a key of zero or less.
        text.hasPrefix("p") ? Int64(text.dropFirst()) : nil
    }

    /// Whether a fetch may use only keys that the model has.
    var knowsKeysOfModelOnly: Bool { true }

    /// Whether the URIs of objects end with their primary keys.
    var namesRowsByKey: Bool { true }

    /// Whether the store wants to be notified of the objects that contexts use.
    var observesUse: Bool { false }

    /// Called when contexts begin to use objects of the store, where it observes that.
    func useBegan(of objectIDs: [NSManagedObjectID]) {}

    /// Called when contexts stop using objects of the store, where it observes that.
    func useEnded(of objectIDs: [NSManagedObjectID]) {}

    /// The interface through which contexts reach the rows; set before the store is used.
    var snapshotStore: (any SnapshotStore)? { serverStore }

    /// The record of the store's transactions; nil where it has none.
    var history: (any StoreHistory)? { serverStore?.storedHistory }

    /// A name that all stores of this process with the same data share; nil where the data is
    /// private.
    var sharedPlace: String? { nil }

    /// Whether the options ask to tell of changes of the store.
    final var isFollowed: Bool { Self.flag(options, NSPersistentStoreRemoteChangeNotificationPostOptionKey) }

    /// Begins to tell of changes of the store. The coordinator calls it for one that is followed.
    func beginFollowing() { RemoteChanges.shared.add(self) }

    func endFollowing() { RemoteChanges.shared.remove(self) }

    /// Called when another store of this process has written to the same place, while this one is
    /// followed.
    func othersMayHaveChanged() {}

    /// A snapshot of all rows that later saves do not change; nil where the store cannot keep one.
    func pinRows() -> (any RowSource)? { nil }

    /// Answers a batch request for a store class of the program. The request and its context are
    /// opaque here.
    ///
    /// - Throws: code 134091 unless the class executes requests by itself.
    func answer(_ request: AnyObject, for context: AnyObject) throws -> Any {
        throw CoreDataErrors.make(
            .persistentStoreUnsupportedRequestType,
            "The store \(StoreName.text(type: type, url: url)) does not support requests of the class "
                + "\(Swift.type(of: request)).",
            recovery:
                "Change the objects in a context and save it, or name the stores that can in the request's "
                + "affectedStores.",
            userInfo: StoreOpeningErrors.userInfo(type: type, url: url))
    }

    /// Reopens the store at the file that `url` names now. Stores that write their whole file need
    /// nothing for that.
    func reconnect() throws {}

    /// Moves the store to another URL, and back to the former one if that fails.
    func move(to url: URL) throws {
        if let serverStore {
            try serverStore.moveStore(to: url)
            return knownHistory.lastRetentionStep.store(0, ordering: .relaxed)
        }
        let former = self.url
        self.url = url
        do { try reconnect() } catch {
            self.url = former
            // The former file was open a moment ago. If it is gone, the next request reports that.
            try? reconnect()
            throw error
        }
    }

    /// A number that identifies the store among all that its coordinator ever had; -1 before it is
    /// added.
    var number: Int {
        get { state.withLock { $0.number } }
        set { state.withLock { $0.number = newValue } }
    }

    /// The layouts of the coordinator's model; set before `loadMetadata()`.
    package var modelLayout: ModelLayout? {
        get { state.withLock { $0.modelLayout } }
        set { state.withLock { $0.modelLayout = newValue } }
    }

    /// Called on any thread by a store that is notified when another process changes its rows, with
    /// the last transaction that was known before, if any; set by the coordinator.
    package var othersChanged: (@Sendable (_ after: Int64?) -> Void)? {
        get { state.withLock { $0.othersChanged } }
        set { state.withLock { $0.othersChanged = newValue } }
    }

    /// Whether another store is this one, or the same store (by UUID) in another coordinator.
    func isTwin(of other: NSPersistentStore) -> Bool {
        if self === other { return true }
        // Not within one coordinator: it may have opened copies of one file, which share a UUID.
        guard let identifier, persistentStoreCoordinator !== other.persistentStoreCoordinator else { return false }
        return identifier == other.identifier
    }

    /// The token that all object IDs of the store share.
    var token: StoreToken {
        let uuid = identifier ?? ""
        return state.withLock { state in
            if let token = state.token, token.uuid == uuid, token.number == state.number { return token }
            let made = StoreToken(
                reference, uuid: uuid, number: state.number, coordinatorSerial: state.coordinatorSerial)
            state.token = made
            return made
        }
    }

    /// Separates the store from its coordinator: objects that came from it are invalid afterwards.
    func detach() {
        state.withLock {
            $0.coordinator = nil
            $0.othersChanged = nil
        }
    }
}
