import CoreData

extension StoreReport {
    var json: JSONValue {
        .object(facts + contents)
    }

    private var facts: [JSONValue.Member] {
        let framework = text(Self.frameworkKey)
        return [
            .init("path", .string(path)),
            .init("type", .string(text(NSStoreTypeKey) ?? NSSQLiteStoreType)),
            .init("uuid", .optional(text(NSStoreUUIDKey))),
            .init("frameworkVersion", framework.map { Int64($0).map { .integer($0) } ?? .string($0) } ?? .null),
            .init("formatVersion", formatVersion.map { .integer($0) } ?? .null),
            .init("modelOrigin", .string(origin.name)),
            .init("modelVersionIdentifiers", .array(identifiers.map { .string($0) })),
            .init("modelChecksum", .optional(text(NSPersistentStoreModelVersionChecksumKey))),
            .init("hashesDigest", .optional(text(Self.digestKey))),
            .init("size", .integer(size)),
            .init("walSize", walSize.map { .integer($0) } ?? .null),
        ]
    }

    private var contents: [JSONValue.Member] {
        [
            .init("history", .object(history.tables.map { .init($0.name, .integer($0.rows)) })),
            .init("historyFirst", .optional(history.first.map { DateText.text(of: $0) })),
            .init("historyLast", .optional(history.last.map { DateText.text(of: $0) })),
            .init("historyLastTransaction", history.lastToken.map { .integer($0) } ?? .null),
            .init("externalFiles", .integer(externalFiles.files.count)),
            .init("externalSize", .integer(externalFiles.size)),
            .init("externalMissing", .integer(missingFiles)),
            .init("externalOrphaned", orphanedFiles.map { .integer($0) } ?? .null),
            .init("otherTables", .array(otherTables.map { .string($0) })),
            .init("otherMetadata", .array(ownKeys.map { .string($0) })),
            .init("warnings", .array(warnings.map { .string($0) })),
            .init("allRowsLookedAt", .bool(isComplete)),
            .init("entities", .array(entities.map(Self.json))),
            .init("tables", .array(sizes.map(Self.json))),
        ]
    }

    private static func json(_ entity: EntityRows) -> JSONValue {
        .object([
            .init("name", .string(entity.name)), .init("depth", .integer(entity.depth)),
            .init("isAbstract", .bool(entity.isAbstract)), .init("ownRows", .integer(entity.own)),
            .init("rows", .integer(entity.withSubentities)),
        ])
    }

    private static func json(_ size: TableSize) -> JSONValue {
        .object([
            .init("name", .string(size.table)), .init("size", .integer(size.rows)),
            .init("indexes", .integer(size.indexCount)), .init("indexSize", .integer(size.indexes)),
            .init("isEstimate", .bool(size.isEstimate)),
        ])
    }
}
