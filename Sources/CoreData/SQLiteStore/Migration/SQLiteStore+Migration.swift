import CSQLite
import Foundation

// Migration of a store to the current version of the model.
extension SQLiteStore: PartlyMigratingStore {
    package static func size(ofStoreAt url: URL) -> Int64? {
        let files = ExternalFiles(storeURL: url)
        let paths = ["", "-wal"].map { files.storeURL.path + $0 } + files.namesOnDisk().map(files.path)
        return paths.reduce(0) { size, path in
            var information = stat()
            return stat(path, &information) == 0 ? size + Int64(information.st_size) : size
        }
    }

    /// Migrates the store that `pool` has opened, and loads its metadata again.
    func migrate(_ migration: StoreMigration, _ pool: SQLiteConnectionPool, at url: URL) throws {
        if isReadOnly { throw CoreDataErrors.migrationOfReadOnlyStore(at: url.path) }
        migration.progress.report(0)
        let migrated = try pool.write { connection in
            defer { connection.dropStatements() }
            try self.migrate(migration, connection, url, pool.supersededFiles)
            try pool.schemaWatch.accept(connection)
            return try StoreMetadata.read(connection) ?? [:]
        }
        takeLoaded(migrated)
        migration.progress.report(1)
    }

    private func migrate(
        _ migration: StoreMigration, _ connection: SQLiteConnection, _ url: URL, _ supersededFiles: SupersededFiles?
    ) throws {
        var done: SQLiteMigration?
        do {
            try connection.transaction(.immediate) {
                let metadata = try StoreMetadata.read(connection) ?? [:]
                let userInfo = ["NSFilePath": url.path]
                if try migration.wasDone(metadata, store: "at \(url.path)", userInfo: userInfo) { return }
                // Nobody else writes now, and what this connection writes is not read.
                try StoreMigration.backUp(
                    SQLiteStore.self, type: type, at: url, options: options, to: migration.backup)
                let running = SQLiteMigration(
                    connection: connection, plan: try plan(migration, connection), model: migration.model,
                    entities: migration.entities, metadata: metadata,
                    externalFiles: supersededFiles?.files, progress: migration.progress,
                    defersTasks: Self.flag(options, NSPersistentStoreDeferredLightweightMigrationOptionKey))
                try running.run()
                done = running
            }
        } catch let error as SQLiteError where error.isGeneral {
            throw CoreDataErrors.make(
                .migration, "The store at \(url.path) could not be migrated: \(error.message).",
                recovery: "The store is as it was before. Check that it is not damaged.",
                userInfo: ["NSFilePath": url.path, NSUnderlyingErrorKey: error.cocoaError])
        }
        if let done, let supersededFiles {
            supersededFiles.add(done.takeUnusedFiles())
            supersededFiles.collect(connection)
        }
    }

    private func plan(_ migration: StoreMigration, _ connection: SQLiteConnection) throws -> SQLMigrationPlan {
        let schema = try SQLiteSchemaReader.read(connection)
        let names = Set(migration.storedHashes.keys)
        let source = try SQLMapping(
            layouts: migration.sourceModel.layout(), SQLiteDialect(), CoreDataNaming(), numbers: schema.entityNumbers
        ) { names.contains($0.name) }
        if migration.compositesAreArchived { source.archiveComposites() }
        source.adjust(to: schema.columns)
        let missing = source.missing(from: schema.columns)
        guard missing.isEmpty else {
            throw CoreDataErrors.make(
                .migrationManagerSourceStore,
                "The store at \(connection.path) cannot be migrated: it lacks \(missing.joined(separator: ", ")), "
                    + "which the "
                    + "model that it was made with needs.",
                recovery: "The store is damaged: restore it from a copy.", userInfo: ["NSFilePath": connection.path])
        }
        let target = try makeMapping(entities: migration.entities, numbers: [:])
        return try SQLMigrationPlan(from: source, to: target, migration, columns: schema.columns)
    }
}
