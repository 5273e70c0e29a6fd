import CoreData
import Foundation

// Migrations with objects, in a schema beside the store's.
extension PostgreSQLStore: PartlyMigratingStore {
    static func size(ofStoreAt url: URL) -> Int64? { nil }

    /// Locks the store, and calls a body with the URL of a schema of its own. The store that the
    /// body makes there replaces the locked one in the transaction that holds the locks.
    ///
    /// The schema is dropped at the end. If the program ends before, the next migration drops it.
    static func rewrite(at url: URL, options: [AnyHashable: Any]?, _ body: (URL) throws -> Bool) throws {
        try withConnection(at: url, options, isReadOnly: false) { connection, address in
            try connection.transaction {
                try lock(connection, address)
                let (work, schema) = try workPlace(connection, address, url)
                func drop(_ connection: PostgreSQLConnection) throws {
                    try connection.wire.run("SET LOCAL client_min_messages TO warning")
                    try connection.wire.run("DROP SCHEMA IF EXISTS \(PostgreSQLDialect().identifier(schema)) CASCADE")
                }
                func dropNow() throws {
                    try withConnection(at: url, options, isReadOnly: false) { other, _ in
                        try other.transaction { try drop(other) }
                    }
                }
                // What a program left that ended in the middle of its migration.
                try dropNow()
                do {
                    guard try body(work) else { return }
                    try PostgreSQLReplacement.run(in: connection, address, withStoreAt: work, options)
                } catch {
                    // Without the locks the schema may be another program's by now.
                    if connection.wire.isUsable { try? dropNow() }
                    throw error
                }
                try drop(connection)
            }
        }
    }

    /// Keeps other programs from writing and migrating the store, in the open transaction. They can
    /// read it.
    private static func lock(_ connection: PostgreSQLConnection, _ address: PostgreSQLAddress) throws {
        let timeout = try connection.texts(WireStatement("SELECT current_setting('lock_timeout')")).last ?? "0"
        // Waits for another program that migrates the store now, however long that takes.
        try connection.liftTimeLimit()
        try connection.wire.run("SET LOCAL lock_timeout TO 0; SET LOCAL idle_in_transaction_session_timeout TO 0")
        try PostgreSQLSchemaLock.take(connection, schema: address.schema)
        try connection.execute(
            WireStatement("SELECT set_config('lock_timeout', $1, TRUE)", WireArguments(text: timeout)))
        guard let content = try PostgreSQLContent.read(connection, address, isForced: true) else {
            throw noStore(address)
        }
        try requireOwner(of: content.tables, connection, address)
        let tables = content.tables.map(PostgreSQLDialect().identifier).joined(separator: ", ")
        var attempt = 1
        while true {
            try connection.wire.run("SAVEPOINT before_locks")
            do { return try connection.wire.run("LOCK TABLE \(tables) IN EXCLUSIVE MODE") } catch let error as WireError
                where error.isTransient && attempt < mostMigrationAttempts
            {
                try connection.wire.run("ROLLBACK TO SAVEPOINT before_locks")
                attempt += 1
            }
        }
    }

    /// Returns the place of the store that replaces the one at a URL. The number of that one's
    /// schema makes the name unique in the database.
    private static func workPlace(
        _ connection: PostgreSQLConnection, _ address: PostgreSQLAddress, _ url: URL
    ) throws -> (url: URL, schema: String) {
        let number = try connection.integer(
            WireStatement(
                "SELECT oid::int8 FROM pg_catalog.pg_namespace WHERE nspname = $1", WireArguments(text: address.schema))
        )
        let text = url.absoluteString
        guard let number,
            let work = URL(string: "\(text)\(text.contains("?") ? "&" : "?")ocd.schema=ocd_migration_\(number)")
        else { throw noStore(address) }
        return (work, "ocd_migration_\(number)")
    }
}
