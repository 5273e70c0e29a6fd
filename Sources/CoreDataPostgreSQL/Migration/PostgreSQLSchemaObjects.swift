import CoreData

/// The indexes, foreign keys and triggers of a store that is migrated: which stay, which are
/// dropped, and which are made.
struct PostgreSQLSchemaObjects {
    private let formerIndexes: [(index: SQLIndex, statement: String)]
    private let newIndexes: [(index: SQLIndex, statement: String)]
    private let formerKeys: [PostgreSQLSchema.ForeignKey]
    private let newKeys: [PostgreSQLSchema.ForeignKey]
    private let derivations: [SQLDerivation]
    /// The former tables that are not dropped.
    private let remaining: Set<String>
    /// The former tables that keep their names and those of their columns.
    private let unrenamed: Set<String>
    /// The names of the indexes that exist: some are made only where the server supports them.
    private let present: Set<String>
    /// The names of constraints that are added once derived values are computed.
    private let derived: Set<String>
    private let dialect = PostgreSQLDialect()

    init(plan: SQLMigrationPlan, schema: String, _ connection: PostgreSQLConnection) throws {
        present = try Self.indexes(connection, schema)
        formerIndexes = SQLSchema(mapping: plan.source).indexes()
        let target = SQLSchema(mapping: plan.target)
        newIndexes = target.indexes()
        derived = Set(newIndexes.map(\.index).filter(target.keepsDerivedValuesApart).map(\.name))
        formerKeys = PostgreSQLSchema(mapping: plan.source, schema: schema).foreignKeys()
        newKeys = PostgreSQLSchema(mapping: plan.target, schema: schema).foreignKeys()
        derivations = SQLSchema(mapping: plan.source).derivations()
        remaining = plan.keptTables.union(plan.alterations.map(\.source))
        unrenamed = plan.keptTables.union(
            plan.alterations.filter { $0.source == $0.target.name && $0.renamedColumns.isEmpty }.map(\.source))
    }

    private static func indexes(_ connection: PostgreSQLConnection, _ schema: String) throws -> Set<String> {
        return Set(
            try connection.texts(
                WireStatement(
                    "SELECT c.relname::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = "
                        + "c.relnamespace "
                        + "WHERE n.nspname = $1 AND c.relkind IN ('i', 'I')", WireArguments(text: schema))
            ))
    }

    private func stays(_ index: SQLIndex, _ statement: String) -> Bool {
        unrenamed.contains(index.table) && present.contains(index.name) && !derived.contains(index.name)
            && newIndexes.contains { $0.statement == statement }
    }

    private func stays(_ key: PostgreSQLSchema.ForeignKey) -> Bool {
        unrenamed.contains(key.table) && unrenamed.contains(key.destination) && newKeys.contains(key)
    }

    /// Drops the objects that do not stay, while all tables have their former names. Indexes of
    /// dropped tables go with the tables.
    func drop(_ connection: PostgreSQLConnection) throws {
        var statements: [String] = []
        for function in derivations.flatMap(PostgreSQLDialect.triggerNames) {
            // CASCADE drops the trigger that calls it too.
            statements.append("DROP FUNCTION IF EXISTS \(dialect.identifier(function))() CASCADE")
        }
        statements += formerKeys.filter { !stays($0) }.map(\.removal)
        for (index, statement) in formerIndexes where remaining.contains(index.table) && !stays(index, statement) {
            let name = dialect.identifier(index.name)
            statements.append(
                index.isUnique
                    ? "ALTER TABLE \(dialect.identifier(index.table)) DROP CONSTRAINT IF EXISTS \(name)"
                    : "DROP INDEX IF EXISTS \(name)")
        }
        if !statements.isEmpty { try connection.wire.run(statements.joined(separator: "; ")) }
    }

    var missingIndexes: [(index: SQLIndex, statement: String)] {
        let there = Set(formerIndexes.filter { stays($0.index, $0.statement) }.map(\.statement))
        return newIndexes.filter { !there.contains($0.statement) }
    }

    /// The statements that make the missing foreign keys.
    var foreignKeys: [String] {
        let there = Set(formerKeys.filter(stays))
        return newKeys.filter { !there.contains($0) }.map(\.addition)
    }
}
