import CSQLite
import Foundation
import Synchronization

/// A store in a SQLite database, in Core Data's own file format.
///
/// Many threads may use it at once: one writes, the others read the last committed state (WAL). A
/// store at `/dev/null` has a database in memory that ends with the store. A store at
/// `/dev/null/name` shares its database in memory with all stores of the process at the same URL;
/// that database ends with the last of them.
///
/// Options: `NSReadOnlyPersistentStoreOption`, `NSPersistentStoreTimeoutOption` (seconds to wait
/// for locks, 60 unless set), `NSSQLitePragmasOption` (names and values as strings),
/// `NSSQLiteAnalyzeOption`, `NSSQLiteManualVacuumOption`, `NSPersistentHistoryTrackingKey`,
/// `NSPersistentStoreConnectionPoolMaxSizeKey` (one connection writes, the others read; with 1 a
/// single one does both), and `NSPersistentStoreRemoteChangeNotificationPostOptionKey`.
final class SQLiteStore: NSPersistentStore, SnapshotStore, @unchecked Sendable {
    // Sendable: mutexes guard the open database and the state of the metadata; `makeObjectID` and
    // `rowCaches` are set while the store is opened, before any other thread uses it.

    override var type: String { NSSQLiteStoreType }
    override var snapshotStore: (any SnapshotStore)? { self }
    override var history: (any StoreHistory)? {
        opening.withLock { $0.backend.map { Self.hasHistoryTables($0.columns) } } == false ? nil : self
    }
    var readsRowsInBatches: Bool { true }

    /// Returns the object ID of a row for dictionary results; set by the coordinator.
    var makeObjectID: ((RowReference) -> Any)?

    private(set) var rowCaches: [RowCache] = []

    private struct Opening {
        var pool: SQLiteConnectionPool?
        var backend: SQLiteBackend?
        /// Whether a journal lay beside the file: a program ended without closing the store, or has
        /// it open now.
        var foundJournal = false
        /// The metadata entries that the file lacks; the coordinator then adds them.
        var missingMetadata = MissingMetadata()
        /// The states that contexts are pinned to.
        var pinnedRows: [WeakPinnedRows] = []
    }

    private struct WeakPinnedRows {
        weak var rows: PinnedSQLiteRows?
    }

    private struct MissingMetadata {
        var hashes = false
        var identifier = false

        init() {}

        init(_ loaded: [String: Any]) {
            hashes = StoreMetadataHashes.hashes(in: loaded) == nil
            identifier = loaded[NSStoreUUIDKey] == nil
        }
    }

    /// Guards the open database.
    private let opening = Mutex(Opening())
    private let metadataChanges = MetadataChanges()
    /// Notices commits of others while the store follows them.
    let follower = Mutex<SQLiteFollower?>(nil)

    required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        super.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
    }

    deinit {
        opening.withLock { $0.pool }?.checkpoint()
    }

    // MARK: - Opening

    /// The connections of a store whose metadata was loaded.
    var openPool: SQLiteConnectionPool? { opening.withLock { $0.pool } }

    /// Adopts metadata that this store wrote besides those of the program, whose changes stay.
    func reloadMetadata(_ connection: SQLiteConnection) throws {
        let unwritten = metadataChanges.unwritten
        takeLoaded(try StoreMetadata.read(connection) ?? [:])
        metadata = unwritten.added(to: metadata ?? [:])
    }

    /// Adopts metadata that were just read from the file.
    func takeLoaded(_ loaded: [String: Any]) {
        metadata = loaded
        identifier = loaded[NSStoreUUIDKey] as? String
        metadataChanges.begin(with: loaded)
        opening.withLock { $0.missingMetadata = MissingMetadata(loaded) }
    }

    /// Returns the database of an open store; opens it for requests if necessary.
    func backend() throws -> SQLiteBackend {
        if let backend = opening.withLock({ $0.backend }) { return backend }
        try prepareForRequests()
        if let backend = opening.withLock({ $0.backend }) { return backend }
        throw CoreDataErrors.make(
            .persistentStoreOpen,
            "The store at \(url?.path ?? "") is not open. Add it to a coordinator before using it.")
    }

    /// The name of the store in errors.
    private var place: String { "at \(url?.path ?? "")" }

    override func loadMetadata() throws {
        guard let url, url.isFileURL else {
            throw CoreDataErrors.make(
                .persistentStoreOpen,
                "A SQLite store needs a file URL, not \(self.url?.absoluteString ?? "nil").")
        }
        if isReadOnly, !Self.isInMemory(url), !FileManager.default.fileExists(atPath: url.path) {
            throw CoreDataErrors.make(
                .fileReadNoSuchFile, "There is no store at \(url.path), and none is made where it is to be read only.",
                recovery: "Open it without NSReadOnlyPersistentStoreOption to make it.",
                userInfo: [NSFilePathErrorKey: url.path])
        }
        do {
            let foundJournal = !Self.isInMemory(url) && Self.hasJournal(url)
            let pool = try SQLiteConnectionPool(
                try Self.configuration(url, options, isReadOnly: isReadOnly), create: true)
            let loaded = try pool.write { connection in try self.metadata(of: connection, pool) }
            opening.withLock {
                $0.pool = pool
                $0.backend = nil
                $0.foundJournal = foundJournal
            }
            takeLoaded(loaded)
        } catch let error as SQLiteError {
            throw error.cocoaError
        }
    }

    /// Reads the metadata, or creates the store in an empty file.
    private func metadata(of connection: SQLiteConnection, _ pool: SQLiteConnectionPool) throws -> [String: Any] {
        // Before the metadata is read, so that later changes by other connections are noticed.
        try pool.schemaWatch.accept(connection)
        if let metadata = try StoreMetadata.read(connection) { return metadata }
        let tables = try connection.integer("SELECT count(*) FROM sqlite_master") ?? 0
        guard tables == 0 else {
            // Without metadata, the tables show whether it is a store.
            if try connection.integer("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'Z_PRIMARYKEY'")
                != nil
            {
                return [NSStoreTypeKey: NSSQLiteStoreType]
            }
            throw CoreDataErrors.make(
                .fileReadCorruptFile,
                "The SQLite database at \(connection.path) is no Core Data store: it has tables, but neither "
                    + "Z_METADATA nor "
                    + "Z_PRIMARYKEY. Choose another file.", userInfo: ["NSFilePath": connection.path])
        }
        guard !isReadOnly else {
            throw CoreDataErrors.make(
                .persistentStoreOpen,
                "The file at \(connection.path) is empty, and NSReadOnlyPersistentStoreOption forbids making a store "
                    + "in it."
            )
        }
        let (model, held) = try heldEntities(of: place)
        let mapping = try makeMapping(entities: held.entities, numbers: [:])
        return try connection.transaction(.immediate) {
            // Another process may have created the store already.
            defer { try? pool.schemaWatch.accept(connection) }
            if let metadata = try StoreMetadata.read(connection) { return metadata }
            for statement in try SQLSchema(mapping: mapping).statements() { try connection.execute(statement) }
            for layout in mapping.layouts.layouts {
                guard let entity = mapping.entity(layout) else { continue }
                let parent = layout.superIndex >= 0 ? mapping.entities[layout.superIndex]?.number ?? 0 : 0
                try connection.run(
                    "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, 0)",
                    [.integer(Int64(entity.number)), .string(layout.name), .integer(Int64(parent))])
            }
            let metadata = StoreMetadata.make(for: held.entities, of: model)
            try StoreMetadata.write(metadata, to: connection)
            try connection.run(
                "INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)", [.data(try model.encodedModelCache())])
            return metadata
        }
    }

    func makeMapping(entities: [NSEntityDescription], numbers: [String: Int]) throws -> SQLMapping {
        try makeMapping(of: entities, SQLiteDialect(), CoreDataNaming(), numbers: numbers, store: place)
    }

    override func migrate(_ migration: StoreMigration) throws {
        guard let pool = openPool, let url else { return try super.migrate(migration) }
        try migrate(migration, pool, at: url)
    }

    /// Adapts the mapping to the existing tables. Called when the metadata fits the model.
    override func prepareForRequests() throws {
        guard let pool = opening.withLock({ $0.backend == nil ? $0.pool : nil }) else { return }
        let (_, held) = try heldEntities(of: place)
        let modelLayout = modelLayout
        let (missingMetadata, foundJournal) = opening.withLock { ($0.missingMetadata, $0.foundJournal) }
        pool.configuration.externalFiles.set(pool.supersededFiles?.files)
        var isSwept = true
        let backend = try pool.write { connection in
            let schema = try SQLiteSchemaReader.read(connection)
            if !self.isReadOnly { try connection.trustSpatialIndexes() }
            let mapping = try self.makeMapping(entities: held.entities, numbers: schema.entityNumbers)
            mapping.adjust(to: schema.columns)
            pool.schemaWatch.begin(
                versions: Self.flag(self.options, NSIgnorePersistentStoreVersioningOption) ? nil : held.versions,
                mapping: mapping)
            try pool.schemaWatch.check(connection)
            var missing = mapping.missing(from: schema.columns)
            if schema.columns["Z_PRIMARYKEY"] == nil { missing.insert("Z_PRIMARYKEY", at: 0) }
            if missing.isEmpty, missingMetadata.hashes {
                missing = try SQLiteStoreFit(mapping: mapping, schema: schema, connection: connection).problems()
            }
            guard missing.isEmpty else {
                throw CoreDataErrors.make(
                    .persistentStoreIncompatibleSchema,
                    "The store at \(connection.path) lacks what the model needs: \(missing.joined(separator: ", ")). "
                        + (missingMetadata.hashes ? "Its metadata do not say which model it was made with. " : "")
                        + "It was made with another model or is damaged; migrate it or restore it from a copy.",
                    userInfo: ["NSFilePath": connection.path])
            }
            let recordsHistory = try self.recordsHistory(hasTables: Self.hasHistoryTables(schema.columns)) {
                try Self.hasHistory(connection, columns: schema.columns)
            }
            if missingMetadata.identifier, !self.isReadOnly {
                // Object IDs contain the UUID, so it must be the same at the next opening.
                try connection.transaction(.immediate) { try self.writeChangedMetadata(connection) }
                self.metadataWasWritten()
            }
            var columns = schema.columns
            if recordsHistory {
                let tombstones = mapping.entities.compactMap { $0?.layout.preservedSlots.count }.max() ?? 0
                let present = columns["ACHANGE"] ?? []
                let isComplete = tombstones == 0 || present.contains(SQLiteHistory.tombstoneColumn(tombstones - 1))
                if !Self.hasHistoryTables(columns) || !isComplete {
                    try connection.transaction(.immediate) {
                        try SQLiteHistory.createTables(connection, tombstones: tombstones)
                        try SQLiteHistory.addTombstoneColumns(
                            tombstones, to: connection,
                            present: try SQLiteSchemaReader.read(connection).columns["ACHANGE"] ?? [])
                        try pool.schemaWatch.accept(connection)
                    }
                    columns = try SQLiteSchemaReader.read(connection).columns
                }
            }
            if Self.flag(self.options, NSSQLiteAnalyzeOption), !self.isReadOnly { try connection.execute("ANALYZE") }
            if Self.flag(self.options, NSSQLiteManualVacuumOption), !self.isReadOnly {
                try connection.execute("VACUUM")
            }
            if !self.isReadOnly {
                isSwept =
                    pool.supersededFiles?.sweep(
                        connection, timeout: pool.configuration.timeout, hasReason: foundJournal) ?? true
            }
            return SQLiteBackend(
                pool: pool, mapping: mapping, columns: columns, tracksHistory: recordsHistory,
                rowCaches: (modelLayout?.layouts ?? []).map { _ in RowCache() })
        }
        rowCaches = backend.rowCaches
        opening.withLock { $0.backend = backend }
        if !isSwept { pool.backgroundSweep.begin(pool) }
    }

    /// Whether a journal is beside a store's file.
    private static func hasJournal(_ url: URL) -> Bool {
        let path = ExternalFiles(storeURL: url).storeURL.path
        return ["-wal", "-journal"].contains { FileManager.default.fileExists(atPath: path + $0) }
    }

    /// Returns the pinned current state; nil without a WAL that other connections than the writer
    /// read.
    override func pinRows() -> (any RowSource)? {
        guard let pool = openPool, !pool.sharesConnection else { return nil }
        let rows = PinnedSQLiteRows(self)
        opening.withLock { opening in
            opening.pinnedRows.removeAll { $0.rows == nil }
            opening.pinnedRows.append(WeakPinnedRows(rows: rows))
        }
        return rows
    }

    private func close() {
        let (pool, pinnedRows) = opening.withLock { opening in
            defer { opening = Opening() }
            return (opening.pool, opening.pinnedRows)
        }
        for pinned in pinnedRows { pinned.rows?.close() }
        pool?.checkpoint()
    }

    override func reconnect() throws {
        forgetUntrackedHistory()
        let unwritten = metadataChanges.unwritten
        defer { metadata = unwritten.added(to: metadata ?? [:]) }
        endFollowing()
        knownHistory.lastRetentionStep.store(0, ordering: .relaxed)
        close()
        try requireOwnFile()
        try loadMetadata()
        try prepareForRequests()
        if isFollowed { beginFollowing() }
    }

    override var sharedPlace: String? {
        url.flatMap { url in
            if Self.isSharedMemory(url) { return url.path }
            return Self.isInMemory(url) ? nil : url.resolvingSymlinksInPath().standardizedFileURL.path
        }
    }

    override func beginFollowing() {
        super.beginFollowing()
        followFile()
    }

    override func endFollowing() {
        super.endFollowing()
        unfollowFile()
    }

    override func othersMayHaveChanged() { follower.withLock { $0 }?.look() }

    override func willRemove(from coordinator: NSPersistentStoreCoordinator?) { close() }

    // MARK: - Metadata

    override var metadata: [String: Any]! {
        get { super.metadata }
        set {
            super.metadata = newValue
            metadataChanges.set(newValue ?? [:])
        }
    }

    override class func hasFile(at url: URL) -> Bool { url.isFileURL && !isInMemory(url) }

    override class func ownURL() -> URL? { nil }

    override class func modelInStore(at url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel? {
        try cachedModel(at: url)
    }

    override class func destroyStore(ofType type: String, at url: URL, options: [AnyHashable: Any]?) throws {
        try destroy(at: url, options: options)
    }

    override class func replaceStore(
        ofType type: String, at url: URL, options: [AnyHashable: Any]?, withStoreAt source: URL,
        sourceOptions: [AnyHashable: Any]?
    ) throws {
        try replace(at: url, destinationOptions: options, withStoreAt: source, sourceOptions: sourceOptions)
    }

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try readMetadata(at: url)
    }

    override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        try replaceMetadata(metadata, at: url)
    }

    /// Writes changed metadata as a part of the current transaction.
    func writeChangedMetadata(_ connection: SQLiteConnection) throws {
        guard hasChangedMetadata else { return }
        let current = try StoreMetadata.read(connection)
        guard let metadata = metadataChanges.write(over: current) else { return }
        try StoreMetadata.write(metadata, to: connection)
        // Readers of the hashes assume that the model stored beside them has these hashes.
        guard let hashes = StoreMetadataHashes.hashes(in: metadata),
            hashes != current.flatMap(StoreMetadataHashes.hashes),
            let model = modelLayout?.model
        else { return }
        try StoreMetadata.replaceModel(model, in: connection)
    }

    var hasChangedMetadata: Bool { !metadataChanges.isEmpty }

    /// Called when a transaction was committed, by the holder of the writing connection.
    func metadataWasWritten() { metadataChanges.wereCommitted() }
}
