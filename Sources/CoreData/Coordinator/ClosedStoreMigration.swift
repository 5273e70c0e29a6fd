import Foundation

/// Where a store is, and how it is opened.
struct StorePlace {
    let type: String
    var url: URL
    var options: [AnyHashable: Any]?
    var configuration: String?
}

/// Migrates stores that are not open: the class that a store class names as its migration manager.
protocol MappingMigrator: AnyObject {
    /// The mapping models in the program's bundles.
    static var mappingModels: [NSMappingModel] { get }

    /// Removes what a migration left beside a store when its process ended.
    static func removeLeftovers(besideStoreAt url: URL)

    init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel)

    /// Replaces a store with a migrated one.
    func migrate(storeAt place: StorePlace, by mapping: NSMappingModel, _ migration: StoreMigration) throws

    /// Migrates a store in several steps, or with the program's handlers.
    static func migrate(storeAt place: StorePlace, along migration: NeededMigration) throws
}

/// The migration that a store needs before it can be used with a model.
struct NeededMigration {
    let steps: [MigrationStep]
    let storedHashes: [String: Data]
    /// The entities that the store will hold.
    let entities: [NSEntityDescription]
    /// Why the steps do not lead directly to the last version; empty where that was not tried.
    var detourReasons: [String] = []
    var progress = MigrationProgress()
    /// Where the former store is copied to before it is changed.
    var backup: URL?

    /// The version hashes that the store will have.
    var hashes: [String: Data] {
        Dictionary(entities.map { ($0.name ?? "", $0.versionHash) }, uniquingKeysWith: { first, _ in first })
    }

    /// The migration as one step; nil if it has several, or handlers.
    var single: StoreMigration? {
        guard steps.count == 1, let step = steps.first, step.handlers == nil else { return nil }
        return StoreMigration(
            storedHashes: storedHashes, sourceModel: step.source.model, model: step.destination.model,
            entities: entities, inference: step.inference, mappingModel: step.mappingModel, progress: progress,
            backup: backup)
    }
}

/// Thrown when a store that is being added has to be migrated while it is closed: by a mapping
/// model, in several steps, or with handlers.
struct ClosedStoreMigration: Error {
    /// Thrown and caught within one call of the coordinator.
    private let content: Unchecked<(migration: NeededMigration, migrator: any MappingMigrator.Type)>

    init(_ migration: NeededMigration, _ migrator: any MappingMigrator.Type) {
        content = Unchecked((migration, migrator))
    }

    func run(at place: StorePlace) throws {
        let (needed, migratorClass) = content.value
        guard let migration = needed.single, let mapping = migration.mappingModel else {
            return try migratorClass.migrate(storeAt: place, along: needed)
        }
        let migrator = migratorClass.init(
            sourceModel: migration.sourceModel, destinationModel: migration.model)
        try migrator.migrate(storeAt: place, by: mapping, migration)
    }
}
