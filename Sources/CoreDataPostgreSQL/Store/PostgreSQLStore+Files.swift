import CoreData
import Foundation

// Stores that are not open: metadata, model and removal.
extension PostgreSQLStore {
    /// Runs a block with a connection of its own, which is closed afterwards.
    static func withConnection<Result>(
        at url: URL, _ options: [AnyHashable: Any]?, isReadOnly: Bool,
        _ body: (PostgreSQLConnection, PostgreSQLAddress) throws -> Result
    ) throws -> Result {
        let address = try PostgreSQLAddress(url, options: options)
        let pool = try PostgreSQLPool(configuration(address, options, isReadOnly: isReadOnly))
        defer { pool.close() }
        return try pool.withConnection { try body($0, address) }
    }

    static func storedMetadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
        try withConnection(at: url, options, isReadOnly: true) { connection, address in
            if flag(options, NSPostgreSQLGivenTablesOption) {
                return try ExternalTables.metadata(connection, schema: address.schema)
            }
            if let metadata = try PostgreSQLMetadata.read(connection, schema: address.schema) { return metadata }
            throw noStore(address)
        }
    }

    static func replaceStoredMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
        if flag(options, NSPostgreSQLGivenTablesOption) {
            throw ExternalTables.metadataRefusal(at: url.withoutPassword)
        }
        try withConnection(at: url, options, isReadOnly: false) { connection, address in
            try connection.transaction {
                guard try PostgreSQLMetadata.read(connection, schema: address.schema) != nil else {
                    throw noStore(address)
                }
                // The metadata are read again under a lock, because a migration may have ended
                // since.
                var old: [String: Any] = [:]
                try connection.execute(PostgreSQLMetadata.locked) { old = try PostgreSQLMetadata.metadata(of: $0) }
                try connection.execute(PostgreSQLMetadata.update(self.metadata(metadata, replacing: old)))
            }
        }
    }

    static func storedModel(at url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel? {
        if flag(options, NSPostgreSQLGivenTablesOption) { return nil }
        return try withConnection(at: url, options, isReadOnly: true) { connection, address in
            try PostgreSQLMetadata.model(connection, schema: address.schema)
        }
    }

    static func noStore(_ address: PostgreSQLAddress) -> NSError {
        CoreDataErrors.make(
            .fileReadNoSuchFile,
            "There is no store at \(StoreName.path(address.publicURL)): the schema '\(address.schema)' has no table "
                + "\(PostgreSQLHousekeeping.storeTable).",
            recovery: "Look whether the URL names the right database and schema.",
            userInfo: StoreOpeningErrors.userInfo(type: NSPostgreSQLStoreType, url: address.publicURL))
    }

    /// Drops everything that belongs to the store at a URL. It is no error when there is no store.
    static func destroy(at url: URL, options: [AnyHashable: Any]?) throws {
        if flag(options, NSPostgreSQLGivenTablesOption) {
            throw ExternalTables.refusal(
                "The store cannot be destroyed", at: url.withoutPassword,
                recovery: "Whoever has made the tables may drop them.")
        }
        do {
            try withConnection(at: url, options, isReadOnly: false) { connection, address in
                try connection.transaction {
                    try PostgreSQLSchemaLock.take(connection, schema: address.schema)
                    let isForced = flag(options, NSPersistentStoreForceDestroyOption)
                    guard let content = try PostgreSQLContent.read(connection, address, isForced: isForced) else {
                        return
                    }
                    try content.drop(connection)
                    try PostgreSQLContent.dropEmptySchema(address.schema, connection)
                }
            }
        } catch let error as NSError where error.userInfo["SQLSTATE"] as? String == WireError.unknownDatabase {
            // A database that does not exist holds no store.
        }
    }
}
