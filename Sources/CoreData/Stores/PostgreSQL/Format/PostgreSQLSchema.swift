import Foundation

/// Makes the tables of a new store.
struct PostgreSQLSchema {
    let mapping: SQLMapping
    let schema: String

    /// Makes everything, in the transaction that is open.
    func create(_ connection: PostgreSQLConnection) throws {
        try createTables(connection)
        for statement in try afterRows() { try connection.wire.run(statement) }
        try writeEntities([:], in: connection)
    }

    /// Makes the tables, and the schema where there is none.
    func createTables(_ connection: PostgreSQLConnection) throws {
        var arguments = WireArguments()
        arguments.append(text: schema)
        let exists =
            try connection.integer(
                WireStatement("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1", arguments)) != nil
        // Who may use a schema need not be allowed to make one.
        if !exists { try connection.wire.run("CREATE SCHEMA \(mapping.dialect.identifier(schema))") }
        try connection.wire.run(functions().joined(separator: ";\n"))
        for statement in tables() { try connection.wire.run(statement) }
    }

    func tables() -> [String] { SQLSchema(mapping: mapping).tableStatements() + mapping.dialect.housekeeping }

    /// What is made when the rows are there: indexes, foreign keys, functions and triggers.
    func afterRows() throws -> [String] {
        let schema = SQLSchema(mapping: mapping)
        return schema.indexStatements() + foreignKeys().map(\.statement) + (try triggers())
    }

    /// What makes the triggers of derived attributes.
    ///
    /// - Parameter replacing: whether older ones are there.
    func triggers(replacing: Bool = false) throws -> [String] {
        let dialect = mapping.dialect as? PostgreSQLDialect ?? PostgreSQLDialect()
        return try SQLSchema(mapping: mapping).derivations().flatMap { try dialect.triggers($0, in: schema, replacing: replacing) }
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

    /// What the statements of requests call.
    func functions() -> [String] {
        PostgreSQLFunctions.statements(hasICU: (mapping.dialect as? PostgreSQLDialect)?.hasICU ?? true)
    }

    // MARK: Foreign keys

    struct ForeignKey: Hashable {
        let table: String
        /// The table that the keys lead into.
        let destination: String
        let name: String
        let statement: String
    }

    /// Checked when a transaction ends. A row that goes takes itself out of relationships that nobody has emptied.
    func foreignKeys() -> [ForeignKey] {
        mapping.tables.flatMap { table in
            table.columns.compactMap { column in
                guard column.kind == .toOne, let destination = destination(of: column) else { return nil }
                return foreignKey(table.name, column.name, to: destination, "SET NULL")
            }
        }
            + mapping.joinTables.flatMap { join in
                [
                    foreignKey(join.name, join.firstColumn, to: join.owner.table, "CASCADE"),
                    foreignKey(join.name, join.secondColumn, to: join.destination.table, "CASCADE"),
                ]
            }
    }

    /// The table that a key leads into; nil where the store does not hold it.
    private func destination(of column: SQLColumn) -> SQLTable? {
        if let hidden = mapping.hiddenKeys.first(where: { $0.column === column }) { return hidden.owner.table }
        let name = (column.property as? NSRelationshipDescription)?.destinationEntity?.name
        return name.flatMap { mapping.layouts.layoutByName[$0] }.flatMap { mapping.entity($0) }?.table
    }

    private func foreignKey(_ table: String, _ column: String, to destination: SQLTable, _ action: String) -> ForeignKey {
        let dialect = mapping.dialect
        let name = SnakeCaseNaming.limited("\(table)_\(column)_fkey")
        return ForeignKey(
            table: table, destination: destination.name, name: name,
            statement: "ALTER TABLE \(dialect.identifier(table)) ADD CONSTRAINT \(dialect.identifier(name)) "
                + "FOREIGN KEY (\(dialect.identifier(column))) REFERENCES \(dialect.identifier(destination.name)) "
                + "(\(dialect.identifier(mapping.naming.key))) ON DELETE \(action) DEFERRABLE INITIALLY DEFERRED")
    }
}
