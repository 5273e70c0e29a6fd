import Foundation

/// Migrates stores in stages, between which the program works on their objects.
///
/// It is the value of `NSPersistentStoreStagedMigrationManagerOptionKey`. When a store is added,
/// the stages run in their order, from the one that names the store's version to the one that names
/// the coordinator's model. Both have to be named.
///
/// A store in a file is migrated in a copy beside it, which takes its place when all stages are
/// done: an error, or the end of the program, leaves the former store. A store on a server is
/// migrated in place, each stage by itself. The next opening continues with the stage that was not
/// finished, and may call its handler again. Only one program may migrate such a store at a time.
///
/// A manager is used on one thread at a time.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsstagedmigrationmanager>
///
/// ```swift
/// let stages = NSStagedMigrationManager([
///     NSLightweightMigrationStage([first.versionChecksum]),
///     NSCustomMigrationStage(migratingFrom: second, to: third)
/// ])
/// description.setOption(stages, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
/// ```
open class NSStagedMigrationManager: NSObject {
    /// The stages in the order in which they are carried out.
    public let stages: [NSMigrationStage]

    /// The stack of the store that is being migrated; nil outside of handlers.
    open private(set) var container: NSPersistentContainer?

    /// Creates a manager with stages in the order of the versions.
    public init(_ stages: [NSMigrationStage]) {
        self.stages = stages
        super.init()
    }

    /// Calls a handler with a container on a store.
    fileprivate func run(
        _ handler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?,
        of stage: NSCustomMigrationStage, _ place: StorePlace, _ model: NSManagedObjectModel
    ) throws {
        guard let handler else { return }
        let container = NSPersistentContainer(
            name: place.url.deletingPathExtension().lastPathComponent, managedObjectModel: model)
        let coordinator = container.persistentStoreCoordinator
        let store = try coordinator.addPersistentStore(
            ofType: place.type, configurationName: place.configuration, at: place.url, options: place.options)
        self.container = container
        defer {
            self.container = nil
            // The handler may have removed it.
            if coordinator.persistentStores.contains(store) { try? coordinator.remove(store) }
        }
        try handler(self, stage)
    }
}

extension NSStagedMigrationManager: StagedMigrator {
    func versions() throws -> [StagedVersion] {
        var versions: [StagedVersion] = []
        func append(_ version: StagedVersion) {
            // A stage begins with the version that the one before ends with.
            if let last = versions.last, last.checksum == version.checksum {
                versions[versions.count - 1] = StagedVersion(
                    checksum: last.checksum, model: last.model ?? version.model, handlers: last.handlers)
            } else {
                versions.append(version)
            }
        }
        for stage in stages {
            if let stage = stage as? NSLightweightMigrationStage {
                for checksum in stage.versionChecksums {
                    append(StagedVersion(checksum: checksum, model: nil, handlers: nil))
                }
            } else if let stage = stage as? NSCustomMigrationStage {
                append(try version(stage.currentModel, nil))
                append(try version(stage.nextModel, CustomStageHandlers(manager: self, stage: stage)))
            }
        }
        return versions
    }

    private func version(
        _ reference: NSManagedObjectModelReference, _ handlers: CustomStageHandlers?
    ) throws -> StagedVersion {
        let model = try reference.resolve()
        // The program's classes describe the version of the coordinator's model.
        let copy = model.copy() as? NSManagedObjectModel
        for entity in copy?.entities ?? [] { entity.managedObjectClassName = nil }
        return StagedVersion(checksum: reference.versionChecksum, model: copy, handlers: handlers)
    }
}

private struct CustomStageHandlers: StageHandlers {
    let manager: NSStagedMigrationManager
    let stage: NSCustomMigrationStage

    var label: String? { stage.label }

    func willMigrate(_ place: StorePlace, _ model: NSManagedObjectModel) throws {
        try manager.run(stage.willMigrateHandler, of: stage, place, model)
    }

    func didMigrate(_ place: StorePlace, _ model: NSManagedObjectModel) throws {
        try manager.run(stage.didMigrateHandler, of: stage, place, model)
    }
}
