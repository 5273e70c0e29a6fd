import CoreData

// Triggers that notify of writes by programs without this package.
extension PostgreSQLStore {
    /// Makes the triggers that tables lack, where the store's options ask for them. If that fails,
    /// the store works without them.
    func tellOfAllWriters(_ mapping: SQLMapping, _ connection: PostgreSQLConnection, _ schema: String) throws {
        guard Self.flag(options, NSPostgreSQLTellsOfAllWritersOption), !isReadOnly else { return }
        do {
            if try tablesThatDoNotTell(mapping, connection, schema).isEmpty { return }
            try connection.transaction {
                try PostgreSQLSchemaLock.take(connection, schema: schema)
                // Another program may have made them meanwhile.
                for table in try tablesThatDoNotTell(mapping, connection, schema) {
                    let name = mapping.dialect.identifier(table)
                    try connection.wire.run(PostgreSQLFunctions.tellingTrigger(name))
                    if mapping.tables.contains(where: { $0.name == table }) {
                        try connection.wire.run(PostgreSQLFunctions.versionTrigger(name))
                    }
                }
            }
        } catch let error as WireError where !error.isConnectionLost {
            Warnings.sayOnce(about: "triggers of \(StoreName.path(url))") {
                "The tables of the store \(StoreName.path(url)) do not tell of changes by programs that write SQL "
                    + "(\(error.message)): open it with "
                    + "\(NSPostgreSQLTellsOfAllWritersOption) as the role that owns them once."
            }
        }
    }

    private func tablesThatDoNotTell(
        _ mapping: SQLMapping, _ connection: PostgreSQLConnection, _ schema: String
    ) throws -> [String] {
        let arguments = WireArguments(text: schema)
        let telling = Set(
            try connection.texts(
                WireStatement(
                    "SELECT c.relname::text FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = "
                        + "t.tgrelid "
                        + "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
                        + "WHERE n.nspname = $1 AND t.tgname = '\(PostgreSQLFunctions.telling)'", arguments)))
        return (mapping.tables.map(\.name) + mapping.joinTables.map(\.name)).filter { !telling.contains($0) }
    }
}
