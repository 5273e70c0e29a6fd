import CSQLite
import Foundation

/// Migrates a store from one version of the model to another, in place and within one transaction.
///
/// The former tables are renamed, the new ones created, and SQLite copies their rows. No row passes
/// through the program, so the memory used does not depend on their number. Any failure before the
/// commit leaves the store as it was.
struct SQLiteMigration: SQLMigrationSteps {
    let connection: SQLiteConnection
    let plan: SQLMigrationPlan
    let model: NSManagedObjectModel
    let entities: [NSEntityDescription]
    let metadata: [String: Any]
    let externalFiles: ExternalFiles?
    let progress: MigrationProgress
    /// Whether indexes that are not unique and the removal of former tables are left for later.
    let defersTasks: Bool

    /// Runs all steps except the commit.
    func run() throws {
        MigrationFunctions.register(on: connection, externalFiles: externalFiles, plan: plan)
        try SQLiteDeferredTasks.dropFormerTables(connection)
        try checkFormerRows()
        let highestKeys = try highestKeys()
        try dropSchemaObjects()
        // The program's own views keep referring to the tables by their names.
        try connection.execute("PRAGMA legacy_alter_table = ON")
        defer { try? connection.execute("PRAGMA legacy_alter_table = OFF") }
        for table in plan.droppedTables {
            try connection.execute(
                "ALTER TABLE \(SQLSchema.identifier(table)) RENAME TO "
                    + SQLSchema.identifier(SQLMigrationPlan.formerName(table)))
        }
        for (_, statement) in plan.createdTables { try connection.execute(statement) }
        try copyRows()
        try alterTables()
        try setKeysAndPositions()
        try noteUnusedFiles()
        if !defersTasks { try SQLiteDeferredTasks.dropFormerTables(connection) }
        progress.report(0.8)
        let schema = SQLSchema(mapping: plan.target)
        let indexes = schema.indexes().filter { !defersTasks || $0.index.isUnique }
        // A uniqueness constraint cannot be checked before its derived values are computed.
        let uniqueOnesWait = indexes.contains { schema.keepsDerivedValuesApart($0.index) }
        try makeIndexes(indexes.filter { !uniqueOnesWait || !$0.index.isUnique }.map(\.statement))
        progress.report(0.9)
        try deriveAttributes()
        if uniqueOnesWait { try makeIndexes(indexes.filter(\.index.isUnique).map(\.statement)) }
        if !plan.isPart { try checkRequiredRelationships() }
        for index in schema.spatialIndexes().compactMap(SpatialIndexTable.init) {
            for statement in index.statements() + [index.filling()] { try connection.execute(statement) }
        }
        for statement in try schema.triggerStatements() { try connection.execute(statement) }
        try writePrimaryKeys(highestKeys)
        try renumberHistory()
        try writeDescription()
        progress.report(0.99)
    }

    // MARK: - Before

    /// The highest key assigned in each former table, by the root entity's number.
    private func highestKeys() throws -> [Int: Int64] {
        var keys: [Int: Int64] = [:]
        try connection.query("SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY") { row in
            keys[Int(clamping: row.int64(0))] = row.int64(1)
        }
        return keys
    }

    /// Drops triggers, which would fire while rows are copied, and indexes, to free their names.
    private func dropSchemaObjects() throws {
        let changed = Set(plan.droppedTables + plan.alterations.filter { !$0.keepsIndexes }.map(\.source))
        let tables = Set(plan.source.tables.map(\.name) + plan.source.joinTables.map(\.name))
        var statements: [String] = []
        let schema = SQLSchema(mapping: plan.target)
        let wanted = Set(schema.indexes().filter { !schema.keepsDerivedValuesApart($0.index) }.map(\.statement))
        try connection.query("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL") { row in
            guard let name = row.string(1), let table = row.string(2) else { return }
            if row.string(3).map(SpatialIndexTable.isMade) == true {
                statements.append("DROP TABLE \(SQLSchema.identifier(name))")
            }
            guard tables.contains(table) else { return }
            switch row.string(0) {
            case "trigger": statements.append("DROP TRIGGER \(SQLSchema.identifier(name))")
            case "index":
                // An index on a table that stays is not created again.
                if !changed.contains(table), let sql = row.string(3), wanted.contains(sql) { break }
                statements.append("DROP INDEX \(SQLSchema.identifier(name))")
            default: break
            }
        }
        for statement in statements { try connection.execute(statement) }
    }

    // MARK: - Tables that stay

    private func alterTables() throws {
        // SQLite renames no column while a view or a trigger of the program cannot be resolved.
        let isRenaming = plan.alterations.contains { !$0.renamedColumns.isEmpty }
        var dropped: [(type: String, name: String, sql: String)] = []
        if isRenaming {
            try connection.query(
                "SELECT type, name, sql FROM sqlite_master WHERE type IN ('view', 'trigger') ORDER BY type"
            ) { row in
                guard let type = row.string(0), let name = row.string(1), let sql = row.string(2) else { return }
                dropped.append((type, name, sql))
            }
        }
        for object in dropped { try connection.execute("DROP \(object.type) \(SQLSchema.identifier(object.name))") }
        for alteration in plan.alterations { try alter(alteration) }
        // Views first: triggers may be on them.
        for object in dropped.reversed() { try connection.execute(object.sql) }
    }

    /// Adds columns to a table and renames others. The rows are not touched but for values of new
    /// columns.
    private func alter(_ alteration: SQLTableAlteration) throws {
        guard case .entities(let table) = alteration.target else { return }
        let (name, types) = (SQLSchema.identifier(table.name), table.types)
        func alter(_ action: String) throws { try connection.execute("ALTER TABLE \(name) \(action)") }
        let renamed = alteration.renamedColumns
        // In two steps, because columns may swap their names.
        for column in renamed {
            let aside = SQLSchema.identifier(SQLMigrationPlan.formerName(column.former))
            try alter("RENAME COLUMN \(SQLSchema.identifier(column.former)) TO \(aside)")
        }
        for column in renamed {
            let aside = SQLSchema.identifier(SQLMigrationPlan.formerName(column.former))
            try alter("RENAME COLUMN \(aside) TO \(SQLSchema.identifier(column.name))")
        }
        var assignments: [SQLText] = []
        for (name, origin) in alteration.columns {
            let column = SQLSchema.identifier(name)
            if origin.column == nil, let type = types[name] { try alter("ADD COLUMN \(column) \(type.declaration)") }
            switch origin {
            case .nothing, .former: break
            case .constant(let value, let kind):
                assignments.append("\(column) = " + SQLText(value: value, kind: kind))
            case .formerOrElse(_, let value, let kind):
                let other = plan.dialect.value(SQLText(column), orElse: SQLText(value: value, kind: kind))
                assignments.append("\(column) = " + other)
            }
        }
        if assignments.isEmpty { return }
        try execute(("UPDATE \(name) SET " + SQLText.joined(assignments, by: ", ")).statement(plan.dialect))
    }

    // MARK: - Indexes

    private func makeIndexes(_ statements: [String]) throws {
        var known: Set<String> = []
        try connection.query("SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL") { row in
            if let sql = row.string(0) { known.insert(sql) }
        }
        for statement in statements where !known.contains(statement) {
            do {
                try connection.execute(statement)
            } catch let error as SQLiteError where error.isUniquenessViolation {
                throw try constraintViolation() ?? error
            }
        }
    }
}
