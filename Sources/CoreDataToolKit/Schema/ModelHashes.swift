import CoreData

/// The version hashes of a model, or those in the metadata of a store.
struct ModelHashes {
    let entities: [(name: String, hash: Data)]
    /// The hash of all hashes; nil if a store does not say it.
    let checksum: String?

    /// - Throws: `ToolError`, also for a store without hashes.
    init(path: String, version: String?) throws {
        let hashes: [String: Data]
        if NamedModel.isStore(path) {
            let metadata = try Self.metadata(ofStore: path)
            let entries = metadata[NSStoreModelVersionHashesKey] as? [String: Any] ?? [:]
            hashes = entries.compactMapValues { $0 as? Data }
            checksum = metadata[NSPersistentStoreModelVersionChecksumKey] as? String
            if hashes.isEmpty {
                throw ToolError("The metadata of the store '\(path)' has no version hashes. Name its model instead.")
            }
        } else {
            let model = try NamedModel(path: path, version: version).model
            hashes = model.entityVersionHashesByName
            checksum = model.versionChecksum
        }
        entities = hashes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private static func metadata(ofStore path: String) throws -> [String: Any] {
        let file = try StoreFile(path: path)
        defer { file.close() }
        do {
            return try StoreCatalog(file, reader: file.reader()).metadata
        } catch let failure as SQLiteReader.Failure {
            throw StoreCatalog.error(failure, file)
        }
    }

    var lines: [String] {
        let rows = entities.map { [$0.name, $0.hash.base64EncodedString()] }
        return ModelSchema.table(rows + (checksum.map { [["(checksum)", $0]] } ?? []))
    }

    var json: JSONValue {
        .object([
            .init("checksum", .optional(checksum)),
            .init("entities", .object(entities.map { .init($0.name, .string($0.hash.base64EncodedString())) })),
        ])
    }
}
