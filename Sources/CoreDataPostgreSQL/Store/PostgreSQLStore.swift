import CoreData
import Foundation
import Synchronization

/// A store in a schema of a PostgreSQL database.
///
/// Each hierarchy of entities has a table, in a form that other programs can read and write too.
///
/// Many threads, processes and machines may use it at once.
///
/// Options:
/// - `NSReadOnlyPersistentStoreOption`
/// - `NSPersistentStoreTimeoutOption`: seconds that a statement may take, and to wait for locks and
///   connections; 30 unless set
/// - `NSPersistentStoreConnectionPoolMaxSizeKey`: 8 unless set
/// - `NSPersistentHistoryTrackingKey`
/// - `NSPersistentStoreRemoteChangeNotificationPostOptionKey`: takes one more connection, on which
///   the store is notified of commits by other programs
/// - a connection string for settings that a URL cannot hold
/// - an object that gives the password
final class PostgreSQLStore: NSPersistentStore, ServerStore, @unchecked Sendable {
    // Sendable: mutable state is guarded by a mutex.

    override var type: String { NSPostgreSQLStoreType }
    var readsRowsInBatches: Bool { true }

    private struct Opening {
        var pool: PostgreSQLPool?
        var backend: PostgreSQLBackend?
        var listener: PostgreSQLListener?
    }

    /// Guards the open store.
    private let opening = Mutex(Opening())
    private let metadataChanges = MetadataChanges()
    /// Whether the tables are external: another program made them, and the store makes nothing in
    /// the schema.
    let hasExternalTables: Bool
    /// The address with the password, which is never shown, and the URL without it, which is.
    private let place: Mutex<(address: Result<PostgreSQLAddress, any Error>, publicURL: URL)>

    /// The store's URL, never with a password.
    override var url: URL? {
        get { super.url }
        set { super.url = newValue?.withoutPassword }
    }

    required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        hasExternalTables = Self.flag(options, NSPostgreSQLGivenTablesOption)
        place = Mutex((Result { try PostgreSQLAddress(url, options: options) }, url.withoutPassword))
        super.init(
            persistentStoreCoordinator: root, configurationName: name, at: url.withoutPassword, options: options)
    }

    deinit {
        let (pool, listener) = opening.withLock { ($0.pool, $0.listener) }
        listener?.end()
        pool?.close()
    }

    var rowCaches: [RowCache] { opening.withLock { $0.backend }?.rowCaches ?? [] }

    var storedHistory: (any StoreHistory)? {
        let use = opening.withLock { $0.backend?.history }
        return use == PostgreSQLHistory.Use.none ? nil : self
    }

    func rowCache(of entity: EntityLayout) -> RowCache? { opening.withLock { $0.backend }?.rowCaches[entity.rootIndex] }

    // MARK: - Opening

    /// The connections of a store whose metadata were loaded.
    var openPool: PostgreSQLPool? { opening.withLock { $0.pool } }

    /// Returns the database of the store; opens it if necessary.
    func backend() throws -> PostgreSQLBackend {
        if let backend = opening.withLock({ $0.backend }) { return backend }
        try openForRequests()
        if let backend = opening.withLock({ $0.backend }) { return backend }
        throw notOpen
    }

    private var notOpen: NSError {
        CoreDataErrors.make(
            .persistentStoreOpen,
            "The store \(StoreName.path(url)) is not open. Add it to a coordinator before using it.")
    }

    override func loadMetadata() throws {
        let (pool, loaded) = try connect(to: place.withLock { $0.address }, makesStore: true)
        opening.withLock { opening in
            opening.pool?.close()
            opening = Opening(pool: pool)
        }
        takeLoaded(loaded)
    }

    /// - Parameter makesStore: whether to make a store where there is none.
    private func connect(
        to address: Result<PostgreSQLAddress, any Error>, makesStore: Bool
    ) throws -> (pool: PostgreSQLPool, metadata: [String: Any]) {
        let pool = try PostgreSQLPool(try Self.configuration(address.get(), options, isReadOnly: isReadOnly))
        do {
            let loaded = try pool.withWire { try metadata(of: $0, pool, makesStore: makesStore) }
            return (pool, loaded)
        } catch {
            pool.close()
            throw (error as? WireError)?.cocoaError(store: url, .persistentStoreOpen) ?? error
        }
    }

    /// Adopts metadata that were just read.
    func takeLoaded(_ loaded: [String: Any]) {
        metadata = loaded
        identifier = loaded[NSStoreUUIDKey] as? String
        metadataChanges.begin(with: loaded)
    }

    func migrateStore(_ migration: StoreMigration) throws {
        guard let pool = openPool else { throw notOpen }
        try migrate(migration, pool)
    }

    /// Reads the metadata, or makes the store in a schema that has none.
    private func metadata(
        of connection: PostgreSQLConnection, _ pool: PostgreSQLPool, makesStore: Bool
    ) throws -> [String: Any] {
        let schema = pool.configuration.address.schema
        if hasExternalTables {
            let (model, held) = try heldEntities(of: StoreName.path(url))
            let external = try ExternalTables.metadata(connection, schema: schema)
            return PostgreSQLMetadata.make(for: held.entities, of: model).merging(external) { $1 }
        }
        if let metadata = try PostgreSQLMetadata.read(connection, schema: schema) {
            try updateFunctions(PostgreSQLFunctionUpdate(connection: connection, schema: schema))
            return metadata
        }
        guard makesStore else { throw Self.noStore(pool.configuration.address) }
        guard !isReadOnly else {
            throw CoreDataErrors.make(
                .persistentStoreOpen,
                "There is no store at \(StoreName.path(url)), and NSReadOnlyPersistentStoreOption forbids making one.")
        }
        return try make(in: connection, schema: schema)
    }

    /// Checks that the tables fit the model. Called after the metadata were found to fit it.
    func openForRequests() throws {
        guard let pool = opening.withLock({ $0.backend == nil ? $0.pool : nil }) else { return }
        let backend = try makeBackend(pool)
        opening.withLock { opening in if opening.backend == nil { opening.backend = backend } }
        // The coordinator has set the model's metadata, which external tables do not keep: they do
        // not count as changed.
        if hasExternalTables { metadataChanges.begin(with: metadata ?? [:]) }
    }

    private func makeBackend(_ pool: PostgreSQLPool) throws -> PostgreSQLBackend {
        let (_, held) = try heldEntities(of: StoreName.path(url))
        return try pool.withConnection(repeats: true) { connection in
            let catalog = try PostgreSQLCatalog.read(connection, schema: pool.configuration.address.schema)
            if hasExternalTables { sayThatNoHistoryIsRecorded() }
            if hasExternalTables { return try externalBackend(pool, catalog, held.entities, connection) }
            let backend = try ownBackend(pool, catalog, held.entities, connection)
            try tellOfAllWriters(backend.mapping, connection, pool.configuration.address.schema)
            let versions = Self.flag(options, NSIgnorePersistentStoreVersioningOption) ? nil : held.versions
            try pool.watch.begin(StoreContents(versions: versions, mapping: backend.mapping), connection) {
                [reference, weak backend] connection in
                guard let backend else { return }
                try (reference.object as? PostgreSQLStore)?.noticeHistory(backend, connection)
            }
            return backend
        }
    }

    private func ownBackend(
        _ pool: PostgreSQLPool, _ catalog: PostgreSQLCatalog, _ entities: [NSEntityDescription],
        _ connection: PostgreSQLConnection
    ) throws -> PostgreSQLBackend {
        let mapping = try makeMapping(entities: entities, numbers: catalog.entityNumbers, catalog.dialect)
        let missing = mapping.missing(from: catalog.columns)
        guard missing.isEmpty else {
            throw CoreDataErrors.make(
                .persistentStoreIncompatibleSchema,
                "The store \(StoreName.path(url)) lacks what the model needs: \(missing.joined(separator: ", ")). "
                    + "Somebody has changed its tables; migrate it or restore it from a copy.",
                userInfo: StoreOpeningErrors.userInfo(type: type, url: url))
        }
        mapping.takeJSON(from: catalog)
        let history = try useOfHistory(catalog, connection, pool.configuration.address.schema)
        return PostgreSQLBackend(pool: pool, mapping: mapping, schema: catalog, history: history)
    }

    private func close() {
        end(takeOpening())
    }

    /// Takes out the open connections and leaves the store closed for other threads.
    private func takeOpening() -> Opening {
        opening.withLock { opening in
            defer { opening = Opening() }
            return opening
        }
    }

    private func end(_ opening: Opening) {
        opening.listener?.end()
        opening.pool?.close()
    }

    /// Moves the store to another URL. It stays open at the old one until it is open at the new
    /// one.
    func moveStore(to url: URL) throws {
        var place = place.withLock { $0 }
        // The public URL has no password. If it is passed, the present address is kept.
        if url != place.publicURL {
            place = (Result { try PostgreSQLAddress(url, options: options) }, url.withoutPassword)
        }
        let (pool, loaded) = try connect(to: place.address, makesStore: false)
        let backend: PostgreSQLBackend
        do { backend = try restoringPermission { try makeBackend(pool) } } catch {
            pool.close()
            throw error
        }
        let changed = metadataChanges.added(to: loaded)
        let former = opening.withLock { opening in
            defer { opening = Opening(pool: pool, backend: backend) }
            return opening
        }
        self.place.withLock { $0 = place }
        super.url = place.publicURL
        takeLoaded(loaded)
        if !hasExternalTables { metadata = changed }
        // Starts before the former listener ends, so that commits in between are notified.
        listen()
        end(former)
    }

    override func willRemove(from coordinator: NSPersistentStoreCoordinator?) { close() }

    override func didAdd(to coordinator: NSPersistentStoreCoordinator) { listen() }

    /// Starts to listen for commits by other programs, if the store's options ask for it.
    private func listen() {
        guard Self.flag(options, NSPersistentStoreRemoteChangeNotificationPostOptionKey) else { return }
        guard !hasExternalTables else {
            return Warnings.sayOnce(about: "following of \(StoreName.path(url))") {
                "Changes of others in the store \(StoreName.path(url)) are not followed, because they tell nobody "
                    + "(\(NSPostgreSQLGivenTablesOption)): fetch objects again, or refresh them with a "
                    + "stalenessInterval of 0."
            }
        }
        // Commits between this read and the listener's start are notified too. Nothing was read
        // from the store before.
        let known = opening.withLock { $0.pool }.flatMap { pool in
            try? pool.withConnection(repeats: true) { try PostgreSQLTransactions.last($0) }
        }
        let listener = opening.withLock { opening -> PostgreSQLListener? in
            guard let pool = opening.pool, opening.listener == nil else { return nil }
            let hasHistory = opening.backend.map { $0.history != .none } ?? false
            let made = PostgreSQLListener(pool, after: known, hasHistory: hasHistory) { [reference] change in
                (reference.object as? PostgreSQLStore)?.wasChanged(change)
            }
            opening.listener = made
            return made
        }
        listener?.start()
    }

    /// Called on the listener's thread, which waits for no other thread.
    private func wasChanged(_ change: PostgreSQLListener.Change) {
        if change.byOthers {
            openPool?.watch.expire()
            othersChanged?(knownHistory.othersCommitted(change.history))
        }
        postRemoteChange(change.history)
    }

    /// - Throws: an error that names the store when it was opened read-only.
    func requireWritable() throws {
        guard isReadOnly else { return }
        throw CoreDataErrors.storeIsReadOnly(
            [self], "The store \(StoreName.path(url)) is read-only: nothing was saved.")
    }

    // MARK: - Stores that are not open

    func storedModel() throws -> NSManagedObjectModel? {
        guard !hasExternalTables, let pool = openPool else { return nil }
        return try pool.withConnection(repeats: true) {
            try PostgreSQLMetadata.model($0, schema: pool.configuration.address.schema)
        }
    }

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try storedMetadata(at: url, options: nil)
    }

    override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        try replaceStoredMetadata(metadata, at: url, options: nil)
    }

    // MARK: - Metadata

    override var metadata: [String: Any]! {
        get { super.metadata }
        set {
            super.metadata = newValue
            metadataChanges.set(newValue ?? [:])
        }
    }

    var hasChangedMetadata: Bool { !metadataChanges.isEmpty }

    /// Called when a transaction was committed.
    func metadataWasWritten(in transaction: UUID) { metadataChanges.wereCommitted(in: transaction) }

    /// Returns the statements that write changed metadata.
    ///
    /// They write the model too if its version differs: a program that reads the version hashes
    /// takes the model beside them for the one they belong to.
    ///
    /// - Parameter read: runs statements. One of them returns the store's current metadata and
    ///   locks their row against changes by other transactions.
    func metadataStatements(in transaction: UUID, after first: [WireStatement] = [], _ read: StatementReader) throws
        -> [WireStatement]
    {
        var current: [String: Any]?
        // Runs after the lock, during which no other program can migrate the store.
        let comparison = openPool?.watch.comparison.map { [$0] } ?? []
        try read(first + [PostgreSQLMetadata.locked] + comparison) { index, row in
            if index == first.count { current = try PostgreSQLMetadata.metadata(of: row) }
        }
        guard let metadata = metadataChanges.write(over: current, in: transaction) else { return [] }
        let update = try PostgreSQLMetadata.update(metadata)
        guard let hashes = StoreMetadataHashes.hashes(in: metadata),
            hashes != current.flatMap(StoreMetadataHashes.hashes),
            let model = modelLayout?.model
        else { return [update] }
        return [update, try PostgreSQLMetadata.replacement(ofModel: model)]
    }

    /// Runs statements in the open transaction, or begins it with them.
    typealias StatementReader = ([WireStatement], _ rows: (Int, WireRow) throws -> Void) throws -> Void

    func saveMetadata(beforeCommit others: () throws -> Void) throws {
        try requireWritable()
        if hasExternalTables { throw ExternalTables.metadataRefusal(at: url) }
        let pool = try backend().pool
        let transaction = UUID()
        func write() throws {
            try pool.withWire { connection in
                try connection.transaction {
                    let statements = try metadataStatements(in: transaction) {
                        _ = try connection.executeAll($0, rows: $1)
                    }
                    _ = try connection.executeAll(statements)
                    try others()
                }
            }
        }
        do {
            do { try write() } catch let error as WireError where pool.watch.isOutdated(error) {
                try pool.withWire { try pool.watch.check($0) }
                try write()
            }
        } catch let error as WireError { throw error.cocoaError(store: url) }
        metadataWasWritten(in: transaction)
    }
}
