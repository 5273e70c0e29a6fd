import CSQLite
import Foundation

/// `Z_METADATA` of a store: the UUID and the property list.
package enum StoreMetadata {
    /// The framework version in the metadata: the Core Data release of the format written here.
    static let frameworkVersion = 1526

    private static func exist(in connection: SQLiteConnection) throws -> Bool {
        try connection.integer("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'Z_METADATA'") != nil
    }

    /// Reads the metadata; nil when the database has no such table.
    ///
    /// A store without a property list has only its type and UUID. The same holds for a list that
    /// cannot be read, which is reported once per file; the caller then checks the tables.
    static func read(_ connection: SQLiteConnection) throws -> [String: Any]? {
        guard try exist(in: connection) else { return nil }
        var metadata: [String: Any] = [:]
        try connection.query("SELECT Z_UUID, Z_PLIST FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1") { row in
            if let data = row.data(1), !data.isEmpty {
                do {
                    metadata = try PropertyListReader.dictionary(from: data)
                } catch {
                    Warnings.sayOnce(about: "metadata of \(connection.path)") {
                        "The metadata of the store at \(connection.path) cannot be read, and count as none: "
                            + "\(error.localizedDescription)"
                    }
                }
            }
            metadata[NSStoreUUIDKey] = row.string(0)
        }
        if metadata[NSStoreTypeKey] == nil { metadata[NSStoreTypeKey] = NSSQLiteStoreType }
        return metadata
    }

    /// The property list in its written form: everything except the UUID, which has its own column.
    package static func encode(_ metadata: [String: Any]) throws -> Data {
        var list = metadata
        list[NSStoreUUIDKey] = nil
        do {
            return try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        } catch {
            throw CoreDataErrors.metadataIsNoPropertyList(keys: Array(list.keys), error)
        }
    }

    static func write(_ metadata: [String: Any], to connection: SQLiteConnection) throws {
        let data = try encode(metadata)
        let uuid = metadata[NSStoreUUIDKey] as? String ?? UUID().uuidString
        if try !exist(in: connection) {
            // The table was lost with its content.
            try connection.execute(SQLiteDialect.metadataTable)
        }
        try connection.run("UPDATE Z_METADATA SET Z_UUID = ?, Z_PLIST = ?", [.string(uuid), .data(data)])
        if connection.changes == 0 {
            try connection.run(
                "INSERT INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?, ?)", [.string(uuid), .data(data)])
        }
    }

    /// Replaces the stored model. Does nothing in a store without a table for it.
    static func replaceModel(_ model: NSManagedObjectModel, in connection: SQLiteConnection) throws {
        guard
            try connection.integer("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'Z_MODELCACHE'") != nil
        else { return }
        try writeModel(model, to: connection)
    }

    /// Writes the model into its table, which must exist.
    static func writeModel(_ model: NSManagedObjectModel, to connection: SQLiteConnection) throws {
        try connection.run("DELETE FROM Z_MODELCACHE")
        try connection.run("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)", [.data(try model.encodedModelCache())])
    }

    /// The metadata of a new store for entities of a model.
    package static func make(for entities: [NSEntityDescription], of model: NSManagedObjectModel) -> [String: Any] {
        var hashes: [String: Data] = [:]
        for entity in entities { hashes[entity.name ?? ""] = entity.versionHash }
        return [
            NSStoreTypeKey: NSSQLiteStoreType,
            NSStoreUUIDKey: UUID().uuidString,
            NSStoreModelVersionHashesKey: hashes,
            "NSStoreModelVersionHashesVersion": 3,
            "NSStoreModelVersionHashesDigest": VersionHash.digest(ofEntityHashes: hashes),
            NSPersistentStoreModelVersionChecksumKey: VersionHash.checksum(ofEntityHashes: hashes),
            NSStoreModelVersionIdentifiersKey: model.listedVersionIdentifiers,
            "NSPersistenceFrameworkVersion": frameworkVersion,
            "_NSAutoVacuumLevel": "2",
        ]
    }
}
