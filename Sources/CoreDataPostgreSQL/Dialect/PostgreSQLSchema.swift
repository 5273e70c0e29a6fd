import CoreData
import Foundation

/// Makes the tables of a new store.
struct PostgreSQLSchema {
    let mapping: SQLMapping
    let schema: String

    private var dialect: PostgreSQLDialect { mapping.dialect as? PostgreSQLDialect ?? PostgreSQLDialect() }
    /// Makes everything, in the transaction that is open.
    func create(_ connection: PostgreSQLConnection) throws {
        try createTables(connection)
        try run(afterRows(), connection)
        try writeEntities([:], in: connection)
    }

    /// Makes the tables, and the schema if it does not exist.
    func createTables(_ connection: PostgreSQLConnection) throws {
        // A role that may use a schema need not be allowed to make one.
        if try !Self.exists(schema, connection) {
            try connection.wire.run("CREATE SCHEMA \(dialect.identifier(schema))")
        }
        try run(tables(), connection)
    }

    private static func exists(_ schema: String, _ connection: PostgreSQLConnection) throws -> Bool {
        let arguments = WireArguments(text: schema)
        return try connection.integer(
            WireStatement("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1", arguments)) != nil
    }

    func run(_ statements: [String], _ connection: PostgreSQLConnection) throws {
        for statement in statements { try connection.wire.run(statement) }
    }

    // MARK: Statements

    /// Returns the statements that are run before there are rows. Those for the tables that mark
    /// the schema as a store come first.
    func tables() -> [String] {
        PostgreSQLHousekeeping.statements + Self.functions(dialect) + SQLSchema(mapping: mapping).tableStatements()
            + mapping.tables.flatMap(dialect.columnForms)
    }

    /// Returns the statements for the functions and collations that requests use.
    static func functions(_ dialect: PostgreSQLDialect) -> [String] {
        // In one text each: a round trip for all of them.
        [PostgreSQLFunctions.statements(hasICU: dialect.hasICU), dialect.hasICU ? PostgreSQLFunctions.collations : []]
            .filter { !$0.isEmpty }.map { $0.joined(separator: ";\n") }
    }

    /// Returns the statements that are run after the rows are there: for indexes, foreign keys,
    /// defaults, functions and triggers.
    func afterRows() throws -> [String] {
        try SQLSchema(mapping: mapping).indexes().map(\.statement) + foreignKeys().map(\.addition) + defaults()
            + triggers()
    }

    /// Returns the statements that make the triggers of derived attributes.
    ///
    /// - Parameter replacing: whether to replace older triggers.
    func triggers(replacing: Bool = false) throws -> [String] {
        try SQLSchema(mapping: mapping).derivations().flatMap {
            try dialect.triggers($0, in: schema, replacing: replacing)
        }
    }

    /// Writes the entities' numbers.
    ///
    /// - Parameter lastKeys: the last key that was taken from a table, by the number of its root
    ///   entity; 0 where there is none.
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
                    "INSERT INTO \(PostgreSQLHousekeeping.entityTable) (number, name, parent, last_key) VALUES ($1, "
                        + "$2, $3, $4)",
                    row))
        }
    }

    // MARK: Defaults

    /// Returns the defaults that give rows inserted by hand the next key of their table and their
    /// first version.
    func defaults() -> [String] {
        mapping.tables.compactMap { table in
            let name = dialect.identifier(table.name)
            // The entity is given by its name, because migrations give it other numbers.
            guard let root = mapping.entity(table.root),
                let entity = dialect.literal(.string(root.layout.name), .string),
                let relation = dialect.literal(.string(name), .string)
            else { return nil }
            let key = "\(PostgreSQLFunctions.nextKey)(\(entity), \(relation)::regclass)"
            let actions = [(table.keyColumn, key), (table.versionColumn, "1")].map { column, value in
                "ALTER COLUMN \(dialect.identifier(column)) SET DEFAULT \(value)"
            }
            return "ALTER TABLE \(name) " + actions.joined(separator: ", ")
        }
    }

    // MARK: Foreign keys

    struct ForeignKey: Hashable {
        let table: String
        /// The table that the keys refer to.
        let destination: String
        /// The statement that adds the foreign key, together with the constraint that the column
        /// requires.
        let addition: String
        let removal: String
    }

    /// Returns the foreign keys, which are checked when a transaction ends.
    ///
    /// When a row is deleted, optional relationships that still refer to it become NULL. A row that
    /// another row requires cannot be deleted.
    func foreignKeys() -> [ForeignKey] {
        mapping.tables.flatMap { table in
            table.columns.compactMap { column in
                guard column.kind == .toOne, let destination = destination(of: column) else { return nil }
                return foreignKey(
                    table.name, column.name, to: destination, dialect.requirement(of: column, in: table),
                    action: "SET NULL")
            }
        }
            + mapping.joinTables.flatMap { join in
                [
                    foreignKey(join.name, join.firstColumn, to: join.owner.table, .none, action: "CASCADE"),
                    foreignKey(join.name, join.secondColumn, to: join.destination.table, .none, action: "CASCADE"),
                ]
            }
    }

    /// Returns the table that a foreign key refers to; nil where the store does not hold it.
    private func destination(of column: SQLColumn) -> SQLTable? {
        if let hidden = mapping.hiddenKeys.first(where: { $0.column === column }) { return hidden.owner.table }
        let name = (column.property as? NSRelationshipDescription)?.destinationEntity?.name
        return name.flatMap { mapping.layouts.layoutByName[$0] }.flatMap { mapping.entity($0) }?.table
    }

    /// - Parameter action: the action on a row when its destination is deleted and the row does not
    ///   require one.
    private func foreignKey(
        _ table: String, _ column: String, to destination: SQLTable, _ requirement: PostgreSQLDialect.Requirement,
        action: String
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
