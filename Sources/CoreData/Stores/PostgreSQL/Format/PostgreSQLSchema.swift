import Foundation

/// Makes the tables of a new store.
struct PostgreSQLSchema {
    let mapping: SQLMapping
    let schema: String

    private var dialect: PostgreSQLDialect { mapping.dialect as? PostgreSQLDialect ?? PostgreSQLDialect() }
    private var abilities: PostgreSQLAbilities { dialect.abilities }

    /// A statement that makes something.
    struct Step {
        enum Need {
            case nothing
            /// A store does without where the server refuses it.
            case ability(PostgreSQLAbilities.Ability)
            case index(String)
            case derivation(SQLDerivation)
        }

        let statement: String
        var need = Need.nothing
        /// The table that is there then.
        var table: String?
    }

    /// Makes everything, in the transaction that is open.
    ///
    /// - Parameter made: gets what is there as soon as it is.
    func create(_ connection: PostgreSQLConnection, made: inout PostgreSQLLeftover) throws {
        try createTables(connection, made: &made)
        try createWhatFollowsRows(connection)
        try writeEntities([:], in: connection)
    }

    func createWhatFollowsRows(_ connection: PostgreSQLConnection) throws {
        for step in try afterRows() { try run(step, connection) }
    }

    /// Makes the tables, and the schema where there is none.
    func createTables(_ connection: PostgreSQLConnection, made: inout PostgreSQLLeftover) throws {
        // Who may use a schema need not be allowed to make one.
        if try !Self.exists(schema, connection) { try connection.wire.run("CREATE SCHEMA \(dialect.identifier(schema))") }
        if !abilities.has(.codePointColumns) { try requireCodePoints(connection) }
        made = try PostgreSQLLeftover(connection, mapping, schema: schema)
        for step in tables() {
            try run(step, connection)
            if let table = step.table { try made.add(table, connection) }
        }
    }

    /// - Throws: an error where columns would be in another order than a store's.
    private func requireCodePoints(_ connection: PostgreSQLConnection) throws {
        let question = "SELECT ('B'::text < 'a'::text AND 'z'::text < chr(228))::int::int8"
        if try connection.integer(WireStatement(question)) == 1 { return }
        throw CoreDataErrors.make(
            .persistentStoreIncompatibleSchema,
            "The server orders texts by the rules of a language and cannot be told to order those of the store by their code points"
                + (abilities.refusal(.codePointColumns).map { " (it says: \($0))." } ?? "."),
            recovery: "Make a database whose order is \"C\".")
    }

    private static func exists(_ schema: String, _ connection: PostgreSQLConnection) throws -> Bool {
        var arguments = WireArguments()
        arguments.append(text: schema)
        return try connection.integer(WireStatement("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1", arguments)) != nil
    }

    func run(_ step: Step, _ connection: PostgreSQLConnection) throws { try Self.run(step, connection, abilities) }

    static func run(_ step: Step, _ connection: PostgreSQLConnection, _ abilities: PostgreSQLAbilities) throws {
        func run() throws { try connection.wire.run(step.statement) }
        switch step.need {
        case .nothing: try run()
        case .ability(let ability): try abilities.trying(ability, run)
        case .index(let name): try abilities.tryingIndex(name, run)
        case .derivation(let derivation):
            do { try run() } catch let error as WireError where error.isUnknownToServer {
                throw CoreDataErrors.make(
                    .persistentStoreIncompatibleSchema,
                    "The server cannot derive the attribute '\(derivation.slot.name)' of '\(derivation.entity.layout.name)': it does not have the "
                        + "triggers that this takes (it says: \(error.message)).",
                    recovery: "Keep the store on a server that has them, or make the attribute one that the program sets.",
                    userInfo: error.reported)
            }
        }
    }

    /// Begins the names of tables by which a server is asked whether it undoes what makes them.
    static let probe = "ocd_probe_"

    /// Whether the server undoes changes of tables when a transaction is rolled back.
    ///
    /// - Throws: what keeps it from being found out, but for a right that is missing.
    static func isRolledBack(_ connection: PostgreSQLConnection, schema: String) throws -> Bool {
        // Two programs that ask at once ask about tables of their own.
        let name = probe + UUID().uuidString.prefix(8).lowercased()
        let table = PostgreSQLMetadata.table(name, in: schema)
        let makesSchema = try !exists(schema, connection)
        try connection.begin(with: [])
        do {
            if makesSchema { try connection.wire.run("CREATE SCHEMA \(PostgreSQLDialect().identifier(schema))") }
            try connection.wire.run("CREATE TABLE \(table) (id int8 PRIMARY KEY)")
        } catch let error as WireError where error.sqlState == "42501" {
            connection.rollBack()
            // Who may not make a table is told so by what needs one.
            return true
        } catch {
            connection.rollBack()
            throw error
        }
        connection.rollBack()
        guard try PostgreSQLMetadata.exists(name, connection, schema: schema) else { return true }
        try connection.wire.run("DROP TABLE \(table)")
        if makesSchema { try connection.wire.run("DROP SCHEMA \(PostgreSQLDialect().identifier(schema))") }
        return false
    }

    /// What is made before the rows are there, that by which a store is known first.
    func tables() -> [Step] {
        zip(PostgreSQLHousekeeping.all, PostgreSQLHousekeeping.statements).map { Step(statement: $1, table: $0) }
            + Self.functions(dialect)
            + SQLSchema(mapping: mapping).namedTableStatements().map {
                Step(statement: $0.statement, need: .ability(.codePointColumns), table: $0.name)
            } + mapping.tables.flatMap(storageForms)
    }

    /// What the statements of requests call.
    static func functions(_ dialect: PostgreSQLDialect) -> [Step] {
        let abilities = dialect.abilities
        var steps: [Step] = []
        if abilities.has(.functions) {
            let functions = PostgreSQLFunctions.statements(hasICU: dialect.hasICU)
            steps.append(Step(statement: functions.joined(separator: ";\n"), need: .ability(.functions)))
        }
        if dialect.hasICU, abilities.has(.collations) {
            steps.append(Step(statement: PostgreSQLFunctions.collations.joined(separator: ";\n"), need: .ability(.collations)))
        }
        return steps
    }

    func storageForms(of table: SQLTable) -> [Step] {
        dialect.columnForms(of: table).map { Step(statement: $0, need: .ability(.storageForms)) }
    }

    /// What is made when the rows are there: indexes, foreign keys, functions and triggers.
    func afterRows() throws -> [Step] {
        let keys = abilities.has(.foreignKeys) ? foreignKeys() : []
        return SQLSchema(mapping: mapping).indexes().map(step) + keys.map { step(making: $0.addition) } + defaults() + (try triggers())
    }

    func step(making index: SQLIndex, _ statement: String) -> Step {
        Step(statement: statement, need: index.isUnique ? .ability(.deferredUniqueness) : .index(index.name))
    }

    /// Makes a foreign key.
    func step(making foreignKey: String) -> Step { Step(statement: foreignKey, need: .ability(.foreignKeys)) }

    /// What makes the triggers of derived attributes.
    ///
    /// - Parameter replacing: whether older ones are there.
    func triggers(replacing: Bool = false) throws -> [Step] {
        try SQLSchema(mapping: mapping).derivations().flatMap { derivation in
            try dialect.triggers(derivation, in: schema, replacing: replacing).map { Step(statement: $0, need: .derivation(derivation)) }
        }
    }

    /// Writes the entities' numbers.
    ///
    /// - Parameter lastKeys: the last key that was taken of a table, by the number of its root; 0 where there is none.
    func writeEntities(_ lastKeys: [Int: Int64], in connection: PostgreSQLConnection) throws {
        for layout in mapping.layouts.layouts {
            guard let entity = mapping.entity(layout) else { continue }
            let parent = layout.superIndex >= 0 ? mapping.entities[layout.superIndex]?.number ?? 0 : 0
            var row = WireArguments()
            row.append(WireType.int2) { $0.append(Int16(truncatingIfNeeded: entity.number)) }
            row.append(text: layout.name)
            row.append(WireType.int2) { $0.append(Int16(truncatingIfNeeded: parent)) }
            row.append(key: parent == 0 ? lastKeys[entity.number] ?? 0 : 0)
            try connection.execute(
                WireStatement(
                    "INSERT INTO \(PostgreSQLHousekeeping.entityTable) (number, name, parent, last_key) VALUES ($1, $2, $3, $4)", row))
        }
    }

    // MARK: Defaults

    /// Has rows that are inserted by hand get the next key of their table and their first version.
    func defaults() -> [Step] {
        mapping.tables.compactMap { table in
            let name = dialect.identifier(table.name)
            // The entity by its name: migrations give it other numbers.
            guard let root = mapping.entity(table.root), let entity = dialect.literal(.string(root.layout.name), .string),
                let relation = dialect.literal(.string(name), .string)
            else { return nil }
            let hasFunctions = abilities.has(.functions) && dialect.hasFunctions
            let key = hasFunctions ? "\(PostgreSQLFunctions.nextKey)(\(entity), \(relation)::regclass)" : nil
            let defaults = [(table.keyColumn, key), (table.versionColumn, "1")]
            let actions = defaults.compactMap { column, value in
                value.map { "ALTER COLUMN \(dialect.identifier(column)) SET DEFAULT \($0)" }
            }
            return Step(statement: "ALTER TABLE \(name) " + actions.joined(separator: ", "))
        }
    }

    // MARK: Foreign keys

    struct ForeignKey: Hashable {
        let table: String
        /// The table that the keys lead into.
        let destination: String
        /// What adds the key, and what the column requires with it.
        let addition: String
        let removal: String
    }

    /// Checked when a transaction ends. A row that goes takes itself out of optional relationships that nobody has emptied; while others
    /// require it, it stays.
    func foreignKeys() -> [ForeignKey] {
        mapping.tables.flatMap { table in
            table.columns.compactMap { column in
                guard column.kind == .toOne, let destination = destination(of: column) else { return nil }
                return foreignKey(table.name, column.name, to: destination, dialect.requirement(of: column, in: table), action: "SET NULL")
            }
        }
            + mapping.joinTables.flatMap { join in
                [
                    foreignKey(join.name, join.firstColumn, to: join.owner.table, .none, action: "CASCADE"),
                    foreignKey(join.name, join.secondColumn, to: join.destination.table, .none, action: "CASCADE"),
                ]
            }
    }

    /// The table that a key leads into; nil where the store does not hold it.
    private func destination(of column: SQLColumn) -> SQLTable? {
        if let hidden = mapping.hiddenKeys.first(where: { $0.column === column }) { return hidden.owner.table }
        let name = (column.property as? NSRelationshipDescription)?.destinationEntity?.name
        return name.flatMap { mapping.layouts.layoutByName[$0] }.flatMap { mapping.entity($0) }?.table
    }

    /// - Parameter action: what becomes of a row whose destination is deleted, where it does not require one.
    private func foreignKey(
        _ table: String, _ column: String, to destination: SQLTable, _ requirement: PostgreSQLDialect.Requirement, action: String
    ) -> ForeignKey {
        let name = dialect.identifier(SnakeCaseNaming.limited("\(table)_\(column)_fkey"))
        let quoted = dialect.identifier(column)
        let key =
            "CONSTRAINT \(name) FOREIGN KEY (\(quoted)) REFERENCES \(dialect.identifier(destination.name)) "
            + "(\(dialect.identifier(mapping.naming.key)))"
        var (additions, removals) = (["ADD \(key) ON DELETE \(action)"], ["DROP CONSTRAINT IF EXISTS \(name)"])
        switch requirement {
        case .none: break
        case .always:
            additions = ["ALTER COLUMN \(quoted) SET NOT NULL", "ADD \(key)"]
            removals.append("ALTER COLUMN \(quoted) DROP NOT NULL")
        case .check(let check, let condition):
            additions = ["ADD " + dialect.addCheck((check, condition)), "ADD \(key)"]
            removals.append("DROP CONSTRAINT IF EXISTS \(dialect.identifier(check))")
        }
        let alter = "ALTER TABLE \(dialect.identifier(table)) "
        return ForeignKey(
            table: table, destination: destination.name,
            addition: alter + additions.joined(separator: ", ") + " DEFERRABLE INITIALLY DEFERRED",
            removal: alter + removals.joined(separator: ", "))
    }
}
