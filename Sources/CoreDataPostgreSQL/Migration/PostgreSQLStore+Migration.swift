import CoreData
import Foundation

// Migrating a store of another version of the model.
extension PostgreSQLStore {
    /// The number of attempts at a migration that conflicts with other transactions, as in a
    /// deadlock.
    static let mostMigrationAttempts = 5

    /// Migrates the store that `pool` has opened, and loads its metadata again.
    func migrate(_ migration: StoreMigration, _ pool: PostgreSQLPool) throws {
        let name = StoreName.path(url)
        guard !isReadOnly else {
            throw CoreDataErrors.make(
                .migration,
                "The store \(name) was made with another version of the model and cannot be migrated, because "
                    + "NSReadOnlyPersistentStoreOption forbids writing to it.",
                recovery: "Open it without the option once.",
                userInfo: StoreOpeningErrors.userInfo(type: type, url: url))
        }
        migration.progress.report(0)
        var attempt = 1
        while true {
            do {
                takeLoaded(try pool.withWire { connection in try self.migrate(migration, connection, pool) })
                migration.progress.report(1)
                return
            } catch let error as WireError {
                guard error.isTransient, attempt < Self.mostMigrationAttempts else { throw failure(error, name) }
                attempt += 1
            }
        }
    }

    /// - Returns: the metadata after the migration.
    private func migrate(
        _ migration: StoreMigration, _ connection: PostgreSQLConnection, _ pool: PostgreSQLPool
    ) throws -> [String: Any] {
        let schema = pool.configuration.address.schema
        return try connection.transaction {
            // Waits for another program that migrates the store now, however long that takes.
            try connection.liftTimeLimit()
            try connection.wire.run("SET LOCAL lock_timeout TO 0")
            try PostgreSQLSchemaLock.take(connection, schema: schema)
            try connection.wire.run("SET LOCAL lock_timeout TO \(pool.settings.lockTimeoutInMilliseconds)")
            let metadata = try PostgreSQLMetadata.read(connection, schema: schema) ?? [:]
            let userInfo = StoreOpeningErrors.userInfo(type: type, url: url)
            if try migration.wasDone(metadata, store: StoreName.path(url), userInfo: userInfo) { return metadata }
            let plan = try plan(migration, connection, schema)
            let tables = plan.source.tables.map(\.name) + plan.source.joinTables.map(\.name)
            try Self.requireOwner(
                of: PostgreSQLHousekeeping.all + tables, connection, pool.configuration.address)
            let running = PostgreSQLMigration(
                connection: connection, plan: plan, model: migration.model, entities: migration.entities,
                metadata: metadata, schema: schema, url: url, progress: migration.progress)
            try running.run()
            sayWhatIsOmitted(plan.target)
            return try PostgreSQLMetadata.read(connection, schema: schema) ?? [:]
        }
    }

    /// - Throws: an error that names the owner of a table that the connection's role may not alter.
    static func requireOwner(
        of tables: [String], _ connection: PostgreSQLConnection, _ address: PostgreSQLAddress
    ) throws {
        let url = address.publicURL
        var arguments = WireArguments(text: address.schema)
        try arguments.append(list: tables.map(StoredValue.string), of: WireType.text)
        var found: (table: String, owner: String, role: String)?
        try connection.execute(
            WireStatement(
                """
                SELECT c.relname::text, pg_catalog.pg_get_userbyid(c.relowner)::text, current_user::text FROM \
                pg_catalog.pg_class c \
                JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname::text = \
                ANY($2) \
                AND NOT pg_catalog.pg_has_role(c.relowner, 'USAGE') ORDER BY 1 LIMIT 1
                """, arguments)
        ) { row in
            found = (row.string(0) ?? "", row.string(1) ?? "", row.string(2) ?? "")
        }
        guard let found else { return }
        throw CoreDataErrors.make(
            .migration,
            "The store \(StoreName.path(url)) was made with another version of the model, and the role "
                + "'\(found.role)' cannot migrate it: its "
                + "table \(found.table) belongs to the role '\(found.owner)'.",
            recovery: "Open it with this version of the model as '\(found.owner)' once.",
            userInfo: StoreOpeningErrors.userInfo(type: NSPostgreSQLStoreType, url: url))
    }

    private func plan(
        _ migration: StoreMigration, _ connection: PostgreSQLConnection, _ schema: String
    ) throws -> SQLMigrationPlan {
        let catalog = try PostgreSQLCatalog.read(connection, schema: schema)
        let dialect = catalog.dialect
        let names = Set(migration.storedHashes.keys)
        let source = try SQLMapping(
            layouts: migration.sourceModel.layout(), dialect, SnakeCaseNaming(), numbers: catalog.entityNumbers
        ) { names.contains($0.name) }
        let missing = source.missing(from: catalog.columns)
        guard missing.isEmpty else {
            throw CoreDataErrors.make(
                .migrationManagerSourceStore,
                "The store \(StoreName.path(url)) cannot be migrated: it lacks \(missing.joined(separator: ", ")), "
                    + "which the "
                    + "model that it was made with needs.",
                recovery: "Somebody has changed its tables: restore it from a copy.",
                userInfo: StoreOpeningErrors.userInfo(type: type, url: url))
        }
        source.takeJSON(from: catalog)
        // Entities keep their numbers, so that rows need not be written for new ones.
        var numbers: [String: Int] = [:]
        for (name, formerName) in migration.formerNames {
            guard let former = source.layouts.layoutByName[formerName].flatMap({ source.entity($0) }) else { continue }
            numbers[name] = former.number
        }
        let target = try makeMapping(entities: migration.entities, numbers: numbers, dialect)
        return try SQLMigrationPlan(from: source, to: target, migration, columns: catalog.columns)
    }

    private func failure(_ error: WireError, _ name: String) -> NSError {
        let cause = error.cocoaError(store: url)
        // An error that does not concern the rows has advice of its own.
        let isOfServer = error.isConnectionLost || cause.code != CocoaError.persistentStoreOperation.rawValue
        if isOfServer { return cause }
        var userInfo = StoreOpeningErrors.userInfo(type: type, url: url).merging(error.reported) { $1 }
        userInfo[NSUnderlyingErrorKey] = cause
        return CoreDataErrors.make(
            .migration,
            "The store \(name) could not be migrated: \(error.message)" + (error.shownDetail.map { " (\($0))" } ?? "")
                + ".",
            recovery:
                "The store is as it was before. Look whether others have changed its tables, or made views of them.",
            userInfo: userInfo)
    }
}
