import Foundation

/// Where a store is, and how it is opened.
struct StorePlace {
    let type: String
    var url: URL
    var options: [AnyHashable: Any]?
    var configuration: String?
}

/// Migrates stores by mapping models: the class that a store class names as its migration manager.
protocol MappingMigrator: AnyObject {
    /// Finds the mapping model between two models in the program's bundles.
    static func mappingModel(
        from source: NSManagedObjectModel, to destination: NSManagedObjectModel
    ) -> NSMappingModel?

    /// Removes what a migration left beside a store when its process ended.
    static func removeLeftovers(besideStoreAt url: URL)

    init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel)

    /// Replaces a store, which is not open, with a migrated one.
    func migrate(storeAt place: StorePlace, by mapping: NSMappingModel, _ migration: StoreMigration) throws
}

/// Thrown when a store that is being added has to be migrated by a mapping model. That is done
/// while the store is closed.
struct MappedMigration: Error {
    /// Thrown and caught within one call of the coordinator.
    private let content: Unchecked<(migration: StoreMigration, migrator: any MappingMigrator.Type)>

    init(_ migration: StoreMigration, _ migrator: any MappingMigrator.Type) {
        content = Unchecked((migration, migrator))
    }

    func run(at place: StorePlace) throws {
        let (migration, migratorClass) = content.value
        guard let mapping = migration.mappingModel else { return }
        let migrator = migratorClass.init(
            sourceModel: migration.sourceModel, destinationModel: migration.model)
        try migrator.migrate(storeAt: place, by: mapping, migration)
    }
}
