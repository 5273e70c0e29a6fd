import Foundation

/// A part of a staged migration: a lightweight or a custom stage.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsmigrationstage>
open class NSMigrationStage: NSObject {
    /// The purpose of the stage, for people; nil unless set.
    open var label: String!

    /// - Precondition: the stage is of a subclass, such as `NSCustomMigrationStage`.
    fileprivate override init() { super.init() }
}

/// A stage with versions of a model between which stores are migrated by inferred mappings, or by
/// mapping models.
///
/// A store of the stage is migrated to the version that comes last before the next custom stage, or
/// to that stage's current version, in as few steps as possible.
///
/// Source: <https://developer.apple.com/documentation/coredata/nslightweightmigrationstage>
///
/// ```swift
/// let stage = NSLightweightMigrationStage([first.versionChecksum, second.versionChecksum])
/// stage.label = "Adds notes"
/// ```
open class NSLightweightMigrationStage: NSMigrationStage {
    /// The checksums of the versions, the oldest first.
    public let versionChecksums: [String]

    /// Creates a stage with versions by their `versionChecksum`, the oldest first.
    ///
    /// Their models are found in the bundle of the coordinator's model and in the bundles of the
    /// program.
    public init(_ versionChecksums: [String]) {
        self.versionChecksums = versionChecksums
        super.init()
    }
}

/// A stage between two versions of a model, before and after which the program works on the store.
///
/// The handlers reach the store through the `container` of the manager. What they do not save is
/// lost. An error that one throws ends the migration, and adding the store throws it. A store in a
/// file is then as it was before the migration.
///
/// Source: <https://developer.apple.com/documentation/coredata/nscustommigrationstage>
///
/// ```swift
/// let stage = NSCustomMigrationStage(migratingFrom: first, to: second)
/// stage.didMigrateHandler = { manager, _ in
///     guard let context = manager.container?.newBackgroundContext() else { return }
///     try context.performAndWait {
///         for user in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "User")) {
///             user.setValue("unknown", forKey: "origin")
///         }
///         try context.save()
///     }
/// }
/// ```
open class NSCustomMigrationStage: NSMigrationStage {
    /// The version before the stage.
    public let currentModel: NSManagedObjectModelReference

    /// The version after the stage.
    public let nextModel: NSManagedObjectModelReference

    /// Called before the store is migrated, with a container of the current version.
    ///
    /// Its objects are plain `NSManagedObject`s.
    open var willMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?

    /// Called after the store was migrated, with a container of the next version.
    ///
    /// Its objects are plain `NSManagedObject`s, except those of the coordinator's own model.
    open var didMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?

    /// Creates a stage without handlers.
    public init(
        migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference
    ) {
        (self.currentModel, self.nextModel) = (currentModel, nextModel)
        super.init()
    }
}
