import CoreData
import Foundation

/// The metadata of a store in its schema.
enum PostgreSQLMetadata {
    /// Reads the metadata; nil where the schema has no store.
    static func read(_ connection: PostgreSQLConnection, schema: String) throws -> [String: Any]? {
        let table = table(PostgreSQLHousekeeping.storeTable, in: schema)
        guard try exists(PostgreSQLHousekeeping.storeTable, connection, schema: schema) else { return nil }
        var metadata: [String: Any]?
        var format = 0
        do {
            try connection.execute(WireStatement("SELECT uuid, metadata, format FROM \(table)")) { row in
                format = Int(row.int64(2))
                metadata = try self.metadata(of: row)
            }
        } catch let error as WireError where error.sqlState == WireError.undefinedTable && !connection.isInTransaction {
            // Another program has dropped the table since the check.
            return nil
        }
        guard format <= PostgreSQLHousekeeping.formatWithHistory else {
            throw CoreDataErrors.make(
                .persistentStoreIncompatibleSchema,
                "The store in the schema '\(schema)' was made by a later version of OpenCoreData: its tables are of "
                    + "version \(format), and this "
                    + "version knows \(PostgreSQLHousekeeping.formatWithHistory).", recovery: "Update the program.")
        }
        return metadata
    }

    /// The metadata in a row that begins with the UUID and the property list.
    static func metadata(of row: WireRow) throws -> [String: Any] {
        var metadata = try row.data(1).map { try PropertyListReader.dictionary(from: $0) } ?? [:]
        metadata[NSStoreUUIDKey] = row.string(0)
        return metadata
    }

    private static let query = "SELECT uuid, metadata FROM \(PostgreSQLHousekeeping.storeTable)"

    /// The statement that reads the metadata.
    static let present = WireStatement(query)
    /// The same; it also locks their row until the transaction ends.
    static let locked = WireStatement(query + " FOR NO KEY UPDATE")

    static func exists(_ table: String, _ connection: PostgreSQLConnection, schema: String) throws -> Bool {
        let arguments = WireArguments(text: self.table(table, in: schema))
        return try connection.integer(WireStatement("SELECT to_regclass($1)::oid::int8", arguments)) != nil
    }

    /// Returns the model that is kept in the store; nil where it has none.
    ///
    /// - Throws: `ModelReadingError` where it cannot be read.
    static func model(_ connection: PostgreSQLConnection, schema: String) throws -> NSManagedObjectModel? {
        guard try exists(PostgreSQLHousekeeping.modelTable, connection, schema: schema) else { return nil }
        var content: Data?
        try connection.execute(
            WireStatement("SELECT content FROM \(table(PostgreSQLHousekeeping.modelTable, in: schema))")
        ) {
            content = $0.data(0)
        }
        guard let content, !content.isEmpty else { return nil }
        return try NSManagedObjectModel.decode(modelCache: content)
    }

    static func table(_ name: String, in schema: String) -> String {
        let dialect = PostgreSQLDialect()
        return dialect.identifier(schema) + "." + dialect.identifier(name)
    }

    /// Returns the metadata of a new store for entities of a model.
    static func make(for entities: [NSEntityDescription], of model: NSManagedObjectModel) -> [String: Any] {
        var metadata = StoreMetadata.make(for: entities, of: model)
        metadata[NSStoreTypeKey] = NSPostgreSQLStoreType
        metadata["_NSAutoVacuumLevel"] = nil
        return metadata
    }

    /// Writes the model and the metadata of a new store. The row that marks the schema as a store
    /// comes last.
    static func insert(_ metadata: [String: Any], model: NSManagedObjectModel, in connection: PostgreSQLConnection)
        throws
    {
        try replaceModel(model, in: connection)
        var arguments = WireArguments()
        arguments.append(WireType.int4) { $0.append(Int32(PostgreSQLHousekeeping.format)) }
        try append(metadata, to: &arguments)
        try connection.execute(
            WireStatement(
                "INSERT INTO \(PostgreSQLHousekeeping.storeTable) (id, format, uuid, metadata, last_transaction) "
                    + "VALUES (1, $1, $2, $3, 0)",
                arguments))
    }

    static func replaceModel(_ model: NSManagedObjectModel, in connection: PostgreSQLConnection) throws {
        try connection.execute(replacement(ofModel: model))
    }

    /// Returns the statement that replaces the model in the store.
    static func replacement(ofModel model: NSManagedObjectModel) throws -> WireStatement {
        var content = WireArguments()
        let cache = try model.encodedModelCache()
        content.append(WireType.bytea) { bytes in cache.withUnsafeBytes { bytes.append($0.bindMemory(to: UInt8.self)) }
        }
        return WireStatement(
            "INSERT INTO \(PostgreSQLHousekeeping.modelTable) (id, content) VALUES (1, $1) "
                + "ON CONFLICT (id) DO UPDATE SET content = EXCLUDED.content", content)
    }

    static func update(_ metadata: [String: Any]) throws -> WireStatement {
        var arguments = WireArguments()
        try append(metadata, to: &arguments)
        return WireStatement("UPDATE \(PostgreSQLHousekeeping.storeTable) SET uuid = $1, metadata = $2", arguments)
    }

    private static func append(_ metadata: [String: Any], to arguments: inout WireArguments) throws {
        let list = try StoreMetadata.encode(metadata)
        arguments.append(text: metadata[NSStoreUUIDKey] as? String ?? UUID().uuidString)
        arguments.append(WireType.bytea) { bytes in list.withUnsafeBytes { bytes.append($0.bindMemory(to: UInt8.self)) }
        }
    }
}

/// An advisory lock that keeps two programs from making or migrating one store at the same time.
///
/// It is held until the transaction ends.
enum PostgreSQLSchemaLock {
    /// - Precondition: a transaction is open, and has changed nothing yet.
    static func take(_ connection: PostgreSQLConnection, schema: String) throws {
        let arguments = WireArguments(text: "OpenCoreData " + schema)
        let lock = WireStatement("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))::text", arguments)
        // While it waits for this lock, another program may make tables. The server's process
        // learns of them when it locks a table, and an advisory lock does not do that: so a table
        // is read.
        let all = [lock, WireStatement("SELECT count(*) FROM pg_catalog.pg_namespace")]
        _ = try connection.executeAll(all)
    }
}
