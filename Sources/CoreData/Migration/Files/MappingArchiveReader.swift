import Foundation

/// Reads a compiled mapping model (`.cdm`): a keyed archive. Unknown content is ignored.
struct MappingArchiveReader {
    private let archive: ObjectArchive
    private let predicates: PredicateArchiveReader

    /// - Throws: `ModelReadingError` when the archive is damaged or has no mapping model.
    static func mappings(in data: Data) throws -> [NSEntityMapping] {
        let reader = try MappingArchiveReader(data)
        guard let root = try reader.archive.object(reader.archive.root), root.className == "NSMappingModel" else {
            throw ModelReadingError.damagedArchive("The archive does not hold a mapping model.")
        }
        return try reader.objects("NSEntityMappings", of: root).map(reader.mapping)
    }

    /// Reads an archive of one expression.
    static func expression(in data: Data) throws -> NSExpression? {
        let reader = try MappingArchiveReader(data)
        return try reader.archive.object(reader.archive.root).map { try reader.predicates.expression($0) }
    }

    private init(_ data: Data) throws {
        archive = try ObjectArchive(data)
        predicates = PredicateArchiveReader(archive: archive, others: Self.fetch(in: archive))
    }

    /// Reads `FETCH(request, context, countOnly)`.
    private static func fetch(
        in archive: ObjectArchive
    ) -> (ObjectArchive.Object, PredicateArchiveReader) throws -> NSExpression? {
        { object, reader in
            guard object.className == "NSFetchRequestExpression" else { return nil }
            guard let request = try archive.object("NSFRExpression", of: object),
                let context = try archive.object("NSMOCExpression", of: object)
            else { throw ModelReadingError.damagedArchive("The archive has a damaged fetch request expression.") }
            // Their values are no fetches again.
            let parts = PredicateArchiveReader(archive: archive)
            return NSFetchRequestExpression.expression(
                forFetch: try parts.expression(request), context: try parts.expression(context),
                countOnly: try archive.boolean("NSCountOnlyFlag", of: object))
        }
    }

    private func objects(_ key: String, of object: ObjectArchive.Object) throws -> [ObjectArchive.Object] {
        try (archive.elements(key, of: object) ?? []).compactMap { try archive.object($0) }
    }

    private func mapping(_ object: ObjectArchive.Object) throws -> NSEntityMapping {
        let mapping = NSEntityMapping()
        mapping.name = try archive.text("NSMappingName", of: object)
        mapping.mappingType =
            UInt(exactly: try archive.integer("NSMappingType", of: object) ?? 0).flatMap(NSEntityMappingType.init)
            ?? .undefinedEntityMappingType
        mapping.sourceEntityName = try archive.text("NSSourceEntityName", of: object)
        mapping.destinationEntityName = try archive.text("NSDestinationEntityName", of: object)
        mapping.sourceEntityVersionHash = try data("NSSourceEntityVersionHash", of: object)
        mapping.destinationEntityVersionHash = try data("NSDestinationEntityVersionHash", of: object)
        mapping.entityMigrationPolicyClassName = try archive.text("NSEntityMigrationPolicyClassName", of: object)
        mapping.sourceExpression = try expression("NSSourceExpression", of: object)
        mapping.attributeMappings = try objects("NSAttributeMappings", of: object).map(property)
        mapping.relationshipMappings = try objects("NSRelationshipMappings", of: object).map(property)
        mapping.userInfo = try userInfo(of: object)
        return mapping
    }

    private func property(_ object: ObjectArchive.Object) throws -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        mapping.name = try archive.text("NSDestinationPropertyName", of: object)
        mapping.valueExpression = try expression("NSValueExpression", of: object)
        mapping.userInfo = try userInfo(of: object)
        return mapping
    }

    private func expression(_ key: String, of object: ObjectArchive.Object) throws -> NSExpression? {
        try archive.object(key, of: object).map { try predicates.expression($0) }
    }

    private func userInfo(of object: ObjectArchive.Object) throws -> [AnyHashable: Any]? {
        try value("NSUserInfo", of: object) as? [String: Any]
    }

    private func data(_ key: String, of object: ObjectArchive.Object) throws -> Data? {
        try value(key, of: object) as? Data
    }

    private func value(_ key: String, of object: ObjectArchive.Object) throws -> Any? {
        try archive.reference(key, of: object).flatMap { try archive.plainValue($0) }
    }
}
