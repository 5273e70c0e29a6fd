import CoreData
import Foundation

/// Migrates a store from one version of the model to another, in one transaction.
///
/// Tables that differ only in their columns are altered. The other tables are renamed, new ones are
/// made, and the server copies their rows: no row passes through the program. A failure before the
/// commit leaves the store as it was.
struct PostgreSQLMigration {
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
        let checks = checks
        try lockTables()
        let lastKeys = try lastKeys()
        try require(checks.unknownEntities())
        try require(checks.unfittingObjects())
        let objects = try PostgreSQLSchemaObjects(plan: plan, schema: schema, connection)
        try objects.drop(connection)
        try putTablesAside()
        for (table, statement) in plan.createdTables {
            try run(statement)
            try target.run(table.map(dialect.columnForms) ?? [], connection)
        }
        try copyRows()
        for alteration in plan.alterations { try PostgreSQLAlteration(alteration, connection).run() }
        for copy in plan.hiddenKeys {
            try require([checks.owners(copy)].compactMap { $0 })
            try execute(copy.statement)
        }
        for positions in plan.positions {
            for statement in plan.dialect.numberRows(
                of: positions.table, by: positions.owner, inOrderOf: positions.key, in: positions.position, step: SQLPositions.step)
            {
                try run(statement)
            }
        }
        let dropped = plan.droppedTables.map { dialect.identifier(SQLMigrationPlan.formerName($0)) }
        if !dropped.isEmpty { try run("DROP TABLE " + dropped.joined(separator: ", ")) }
        progress.report(0.8)
        try makeIndexes(objects, unique: false)
        try deriveAttributes()
        progress.report(0.9)
        try makeIndexes(objects, unique: true)
        try require(checks.requiredRelationships())
        try target.run(objects.foreignKeys + target.defaults() + target.triggers(), connection)
        try run("DELETE FROM \(PostgreSQLHousekeeping.entityTable)")
        try target.writeEntities(keysOfRoots(lastKeys), in: connection)
        try writeDescription()
        progress.report(0.99)
    }

    // MARK: - Statements

    func run(_ sql: String) throws { try connection.wire.run(sql) }

    func execute(_ statement: SQLStatement) throws {
        try connection.execute(try PostgreSQLMigration.wire(statement.sql, statement.arguments))
    }

    /// - Throws: an error for a default value that no column can store.
    static func wire(_ sql: String, _ arguments: [SQLArgument]) throws -> WireStatement {
        var wired = WireArguments()
        for argument in arguments {
            do throws(WireValue.Refusal) { try wired.append(argument) } catch {
                throw CoreDataErrors.make(.migration, "A default value of the model cannot be kept: it \(error.reason).")
            }
        }
        return WireStatement(sql, wired)
    }

    private func integer(_ statement: SQLStatement) throws -> Int64? {
        try connection.integer(try Self.wire(statement.sql, statement.arguments))
    }

    // MARK: - Checks

    private var checks: SQLMigrationChecks {
        SQLMigrationChecks(
            plan: plan, store: StoreName.path(url), userInfo: StoreOpeningErrors.userInfo(type: NSPostgreSQLStoreType, url: url))
    }

    /// - Throws: the error of the first count that is not 0.
    private func require(_ counts: [SQLMigrationChecks.Count]) throws {
        for check in counts {
            let count = try integer(check.statement)
            if let count, count > 0 { throw check.error(count) }
        }
    }

    /// Returns the error that names the entity and the values that several rows share; nil when
    /// there are none.
    private func constraintViolation() throws -> NSError? {
        for check in checks.uniqueness() {
            var examples: [String] = []
            try connection.execute(WireStatement(check.statement)) { row in
                let row = PostgreSQLRow(row: row)
                let values = (0..<check.columnCount).map { Self.text(row.storedValue(Int32($0 + 1))) }
                examples.append(SQLMigrationChecks.example(values, count: row.int64(0)))
            }
            if !examples.isEmpty { return check.error(examples.joined(separator: "; ")) }
        }
        return nil
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
        try run("LOCK TABLE \(PostgreSQLHousekeeping.all.joined(separator: ", ")) IN EXCLUSIVE MODE")
    }

    /// Returns the last key that was taken from each former table, by the number of its root
    /// entity.
    private func lastKeys() throws -> [Int: Int64] {
        var keys: [Int: Int64] = [:]
        try connection.execute(WireStatement("SELECT number, last_key FROM \(PostgreSQLHousekeeping.entityTable)")) { row in
            let row = PostgreSQLRow(row: row)
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
                    WireStatement("SELECT max(\(dialect.identifier(plan.naming.key))) FROM \(dialect.identifier(table.name))")) ?? 0
            if let source = plan.members(of: table).first?.source.table, let number = plan.source.entity(source.root)?.number {
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
        var arguments = WireArguments()
        arguments.append(text: schema)
        try arguments.append(list: plan.droppedTables.map(StoredValue.string), of: WireType.text)
        let renamed = plan.alterations.filter { $0.source != $0.target.name }.map(\.source)
        try arguments.append(list: renamed.map(StoredValue.string), of: WireType.text)
        var renames: [String] = []
        try connection.execute(
            WireStatement(
                """
                SELECT format('ALTER INDEX %I RENAME TO %I', c.relname, 'former_' || c.oid) FROM pg_catalog.pg_index i \
                JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid JOIN pg_catalog.pg_class t ON t.oid = i.indrelid \
                JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace WHERE n.nspname = $1 AND (t.relname::text = ANY($2) OR i.indisprimary AND t.relname::text = ANY($3))
                """, arguments)
        ) { if let statement = PostgreSQLRow(row: $0).string(0) { renames.append(statement) } }
        renames += aside.map {
            "ALTER TABLE \(dialect.identifier($0)) RENAME TO \(dialect.identifier(SQLMigrationPlan.formerName($0)))"
        }
        try run(renames.joined(separator: "; "))
    }

    // MARK: - Rows

    private func copyRows() throws {
        var counts: [Int64] = []
        for copy in plan.copies {
            counts.append(try connection.integer(WireStatement("SELECT count(*) FROM \(dialect.identifier(copy.sourceName))")) ?? 0)
        }
        let total = max(1, counts.reduce(0, +))
        var done: Int64 = 0
        for (copy, count) in zip(plan.copies, counts) {
            let statement = copy.statement
            let arguments = Array(statement.arguments.dropLast(2))
            let (table, number) = (dialect.identifier(copy.sourceName), copy.rowNumber)
            var last = Int64.min
            var copied: Int64 = 0
            while copied < count {
                var bounds = WireArguments()
                bounds.append(key: last)
                bounds.append(key: copy.rowsPerStep - 1)
                let end =
                    try connection.integer(
                        WireStatement("SELECT \(number) FROM \(table) WHERE \(number) > $1 ORDER BY \(number) LIMIT 1 OFFSET $2", bounds))
                    ?? Int64.max
                let range = [last, end].map { SQLArgument(.integer($0), kind: .int64) }
                try connection.execute(try Self.wire(statement.sql, arguments + range))
                copied += copy.rowsPerStep
                last = end
                progress.report(0.7 * Double(done + min(copied, count)) / Double(total))
                if end == Int64.max { break }
            }
            done += count
        }
    }

    // MARK: - Indexes and derived attributes

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

    private func deriveAttributes() throws {
        let statements = try SQLSchema(mapping: plan.target).derivations().compactMap { try $0.recomputation() }
        // Repeated for values that are derived from derived values, until nothing changes.
        for _ in statements.indices {
            var changes = 0
            for statement in statements { changes += try connection.execute(WireStatement(statement)) }
            if changes == 0 { break }
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
