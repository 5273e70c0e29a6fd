import CoreData
import Foundation

/// Migrates a store from one version of the model to another, in one transaction.
///
/// Tables that differ only in their columns are altered. The other tables are renamed, new ones are
/// made, and the server copies their rows: no row passes through the program. A failure before the
/// commit leaves the store as it was.
struct PostgreSQLMigration: SQLMigrationSteps {
    let connection: PostgreSQLConnection
    let plan: SQLMigrationPlan
    let model: NSManagedObjectModel
    let entities: [NSEntityDescription]
    let metadata: [String: Any]
    let schema: String
    let url: URL?
    let progress: MigrationProgress

    var dialect: PostgreSQLDialect { PostgreSQLDialect() }
    private var target: PostgreSQLSchema { PostgreSQLSchema(mapping: plan.target, schema: schema) }

    /// Runs the whole migration except for the commit.
    func run() throws {
        try lockTables()
        let lastKeys = try lastKeys()
        try checkFormerRows()
        let objects = try PostgreSQLSchemaObjects(plan: plan, schema: schema, connection)
        try objects.drop(connection)
        try putTablesAside()
        for (table, statement) in plan.createdTables {
            try run(statement)
            try target.run(table.map(dialect.columnForms) ?? [], connection)
        }
        try copyRows()
        for alteration in plan.alterations { try PostgreSQLAlteration(alteration, connection).run() }
        if plan.isPart { try liftRequirements() }
        try setKeysAndPositions()
        let dropped = plan.droppedTables.map { dialect.identifier(SQLMigrationPlan.formerName($0)) }
        if !dropped.isEmpty { try run("DROP TABLE " + dropped.joined(separator: ", ")) }
        progress.report(0.8)
        try makeIndexes(objects, unique: false)
        try deriveAttributes()
        progress.report(0.9)
        try makeIndexes(objects, unique: true)
        if !plan.isPart { try checkRequiredRelationships() }
        let foreignKeys = plan.isPart ? [] : objects.foreignKeys
        try target.run(foreignKeys + target.defaults() + target.triggers(), connection)
        try run("DELETE FROM \(PostgreSQLHousekeeping.entityTable)")
        try target.writeEntities(keysOfRoots(lastKeys), in: connection)
        try moveHistory()
        try writeDescription()
        progress.report(0.99)
    }

    // MARK: - Statements

    func run(_ sql: String) throws { try connection.wire.run(sql) }

    @discardableResult
    func execute(_ statement: SQLStatement) throws -> Int {
        try connection.execute(try PostgreSQLMigration.wire(statement.sql, statement.arguments))
    }

    /// - Throws: an error for a default value that no column can store.
    static func wire(_ sql: String, _ arguments: [SQLArgument]) throws -> WireStatement {
        var wired = WireArguments()
        for argument in arguments {
            do throws(WireValue.Refusal) { try wired.append(argument) } catch {
                throw CoreDataErrors.make(
                    .migration, "A default value of the model cannot be kept: it \(error.reason).")
            }
        }
        return WireStatement(sql, wired)
    }

    func integer(_ statement: SQLStatement) throws -> Int64? {
        try connection.integer(try Self.wire(statement.sql, statement.arguments))
    }

    // MARK: - Checks

    var checks: SQLMigrationChecks {
        SQLMigrationChecks(
            plan: plan, store: StoreName.path(url),
            userInfo: StoreOpeningErrors.userInfo(type: NSPostgreSQLStoreType, url: url))
    }

    func texts(_ sql: String, count: Int, _ body: (Int64, [String?]) -> Void) throws {
        try connection.execute(WireStatement(sql)) { row in
            body(row.int64(0), (0..<count).map { Self.text(row.storedValue(Int32($0 + 1))) })
        }
    }

    private static func text(_ value: StoredValue) -> String? {
        switch value {
        case .null: nil
        case .integer(let integer): String(integer)
        case .double(let double): "\(double)"
        case .string(let text): text
        case .data(let data): data.map { String(format: "%02x", $0) }.joined()
        case .uuid(let uuid): uuid.uuidString
        case .decimal(let decimal): decimal.description
        case .reference(let reference): String(reference.key)
        }
    }

    // MARK: - Preparation

    /// Locks the former tables, so that no other program writes a row that the migration would
    /// lose. Other programs can still read the metadata.
    private func lockTables() throws {
        let tables = (plan.source.tables.map(\.name) + plan.source.joinTables.map(\.name)).map(dialect.identifier)
        try run("SET LOCAL client_min_messages TO warning")
        try run("SET CONSTRAINTS ALL IMMEDIATE")
        if !tables.isEmpty { try run("LOCK TABLE \(tables.joined(separator: ", ")) IN ACCESS EXCLUSIVE MODE") }
        let housekeeping = try PostgreSQLContent.present(PostgreSQLHousekeeping.all, connection, schema)
        try run("LOCK TABLE \(housekeeping.joined(separator: ", ")) IN EXCLUSIVE MODE")
    }

    /// Returns the last key that was taken from each former table, by the number of its root
    /// entity.
    private func lastKeys() throws -> [Int: Int64] {
        var keys: [Int: Int64] = [:]
        try connection.execute(WireStatement("SELECT number, last_key FROM \(PostgreSQLHousekeeping.entityTable)")) {
            row in
            keys[Int(row.int64(0))] = row.int64(1)
        }
        return keys
    }

    /// Returns the last key of each new table, by the number of its root entity.
    private func keysOfRoots(_ former: [Int: Int64]) throws -> [Int: Int64] {
        var keys: [Int: Int64] = [:]
        for table in plan.target.tables {
            guard let root = plan.target.entity(table.root) else { continue }
            var last =
                try connection.integer(
                    WireStatement(
                        "SELECT max(\(dialect.identifier(plan.naming.key))) FROM \(dialect.identifier(table.name))"))
                ?? 0
            for source in plan.formerTables(of: table) {
                guard let number = plan.source.entity(source.root)?.number else { continue }
                last = max(last, former[number] ?? 0)
            }
            keys[root.number] = last
        }
        return keys
    }

    /// Renames the former tables and their indexes, so that new ones can have their names.
    private func putTablesAside() throws {
        let aside = plan.tablesPutAside
        guard !aside.isEmpty else { return }
        var arguments = WireArguments(text: schema)
        try arguments.append(list: plan.droppedTables.map(StoredValue.string), of: WireType.text)
        let renamed = plan.alterations.filter { $0.source != $0.target.name }.map(\.source)
        try arguments.append(list: renamed.map(StoredValue.string), of: WireType.text)
        var renames = try connection.texts(
            WireStatement(
                """
                SELECT format('ALTER INDEX %I RENAME TO %I', c.relname, 'former_' || c.oid) FROM pg_catalog.pg_index i \
                JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid JOIN pg_catalog.pg_class t ON t.oid = i.indrelid \
                JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace WHERE n.nspname = $1 AND (t.relname::text = \
                ANY($2) OR i.indisprimary AND t.relname::text = ANY($3))
                """, arguments)
        )
        renames += aside.map {
            "ALTER TABLE \(dialect.identifier($0)) RENAME TO \(dialect.identifier(SQLMigrationPlan.formerName($0)))"
        }
        try run(renames.joined(separator: "; "))
    }

    // MARK: - Constraints

    /// Lets rows lack what the model requires: objects that are moved one by one are written before
    /// they are complete. The store that replaces the former one has all constraints.
    private func liftRequirements() throws {
        var arguments = WireArguments()
        try arguments.append(
            list: plan.target.tables.map { .string(dialect.identifier($0.name)) }, of: WireType.text)
        let statements = try connection.texts(
            WireStatement(
                """
                WITH t AS (SELECT unnest($1)::regclass AS id) \
                SELECT format('ALTER TABLE %s ALTER COLUMN %I DROP NOT NULL', t.id, a.attname) FROM t \
                JOIN pg_catalog.pg_attribute a ON a.attrelid = t.id WHERE a.attnotnull AND a.attnum > 0 \
                AND NOT EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = t.id AND i.indisprimary \
                AND a.attnum = ANY(i.indkey)) \
                UNION ALL SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', t.id, c.conname) FROM t \
                JOIN pg_catalog.pg_constraint c ON c.conrelid = t.id WHERE c.contype = 'c'
                """, arguments)
        )
        if !statements.isEmpty { try run(statements.joined(separator: "; ")) }
    }

    private func makeIndexes(_ objects: PostgreSQLSchemaObjects, unique: Bool) throws {
        for (index, statement) in objects.missingIndexes where index.isUnique == unique {
            guard index.isUnique else {
                try run(statement)
                continue
            }
            try run("SAVEPOINT before_constraint")
            do { try run(statement) } catch let error as WireError where error.isUniqueViolation {
                try run("ROLLBACK TO SAVEPOINT before_constraint")
                throw try constraintViolation() ?? error
            }
        }
    }

    // MARK: - History

    /// Gives the properties in the history their new names. Deletes what it says of removed
    /// properties and entities. Entities keep their numbers, except where several become one.
    private func moveHistory() throws {
        guard try PostgreSQLHistory.exists(connection, schema: schema) else { return }
        let kept = WireArguments(keys: plan.entityNumbers.keys.map(Int64.init))
        try connection.execute(PostgreSQLHistory.removal(ofOthersThan: kept))
        for member in plan.successors.values {
            let former = member.source.layout.slots.map(\.name)
            let names = member.target.layout.slots.compactMap { slot in
                member.sourceNames[slot.name].map { (former: $0, name: slot.name) }
            }
            if names.count == former.count, names.allSatisfy({ $0.former == $0.name }) { continue }
            try connection.execute(PostgreSQLHistory.renaming(names, of: member.source.number))
        }
        for (former, number) in plan.entityNumbers where former != number {
            try connection.execute(PostgreSQLHistory.renumbering(former, as: number))
        }
    }

    // MARK: - Metadata and model

    private func writeDescription() throws {
        var metadata = metadata
        let new = PostgreSQLMetadata.make(for: entities, of: model)
        for (key, value) in new where key != NSStoreUUIDKey { metadata[key] = value }
        try connection.execute(PostgreSQLMetadata.update(metadata))
        try PostgreSQLMetadata.replaceModel(model, in: connection)
    }
}
