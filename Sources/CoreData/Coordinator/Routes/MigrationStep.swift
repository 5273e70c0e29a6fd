import Foundation

/// A migration between two versions of a model that one mapping carries out.
struct MigrationStep {
    let source: ModelVersion
    let destination: ModelVersion
    let inference: MappingInference
    /// The mapping model of the step; nil if it is inferred.
    let mappingModel: NSMappingModel?
    /// The program's part in the step, in a staged migration.
    var handlers: (any StageHandlers)?
    /// Whether the store is at the destination already, and only the end of its stage is missing.
    var isEndOnly = false
}

/// The program's code before and after a step of a staged migration.
protocol StageHandlers {
    var label: String? { get }
    func willMigrate(_ place: StorePlace, _ model: NSManagedObjectModel) throws
    func didMigrate(_ place: StorePlace, _ model: NSManagedObjectModel) throws
}

/// The stages of a migration: the value of `NSPersistentStoreStagedMigrationManagerOptionKey`.
protocol StagedMigrator: AnyObject {
    /// The versions that the stages name, in their order.
    func versions() throws -> [StagedVersion]
}

/// A version that a stage names.
struct StagedVersion {
    let checksum: String
    /// The model that a reference gives. Its entities have no classes of their own.
    let model: NSManagedObjectModel?
    /// The handlers of the custom stage that leads here from the version before; nil if none does.
    let handlers: (any StageHandlers)?
}
