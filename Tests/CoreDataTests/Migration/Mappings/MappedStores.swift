import CoreData
import TestSupport

/// A store of one version of a model, and the place of one of another version that a migration
/// manager makes of it.
struct MappedStores {
    let source: MigratedStore
    let destination: MigratedStore

    init(from source: StoreKind = .sqlite, to destination: StoreKind = .sqlite) throws {
        self.source = try MigratedStore(source)
        self.destination = try MigratedStore(destination)
    }

    func migrate(
        from former: NSManagedObjectModel, to model: NSManagedObjectModel, by mappings: [NSEntityMapping],
        _ prepare: (NSMigrationManager) -> Void = { _ in }
    ) throws {
        let mapping = NSMappingModel()
        mapping.entityMappings = mappings
        let manager = NSMigrationManager(sourceModel: former, destinationModel: model)
        prepare(manager)
        try migrate(with: manager, by: mapping)
    }

    func migrate(with manager: NSMigrationManager, by mapping: NSMappingModel) throws {
        try manager.migrateStore(
            from: source.url, type: NSPersistentStore.StoreType(rawValue: source.kind.type), mapping: mapping,
            to: destination.url, type: NSPersistentStore.StoreType(rawValue: destination.kind.type))
    }

    /// Whether anything is at the destination or was left beside it.
    var destinationFiles: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: destination.folder.url.path)) ?? []).sorted()
    }
}

/// A mapping that transforms an entity by expressions in their text form.
func mapping(
    _ name: String, from source: String?, to destination: String?,
    _ type: NSEntityMappingType = .transformEntityMappingType, attributes: [String: String] = [:],
    relationships: [String: String] = [:], policy: AnyClass? = nil
) -> NSEntityMapping {
    func properties(_ expressions: [String: String]) -> [NSPropertyMapping] {
        expressions.map { name, expression in
            let mapping = NSPropertyMapping()
            mapping.name = name
            mapping.valueExpression = NSExpression(format: expression)
            return mapping
        }
    }
    let mapping = NSEntityMapping()
    mapping.name = name
    mapping.mappingType = type
    mapping.sourceEntityName = source
    mapping.destinationEntityName = destination
    mapping.attributeMappings = properties(attributes)
    mapping.relationshipMappings = properties(relationships)
    mapping.entityMigrationPolicyClassName = policy.map { NSStringFromClass($0) }
    return mapping
}

/// The expression that Xcode writes for what a mapping made of a relationship's objects.
func instances(_ mapping: String, _ relationship: String) -> String {
    "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"\(mapping)\", "
        + "$source.\(relationship))"
}
