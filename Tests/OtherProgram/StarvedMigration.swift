import CoreData
import Synchronization
import TestSupport

/// Sets an attribute that the old version does not have.
final class StarvedPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        StarvedMigration.pass()
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        made.first?.setValue(StarvedStore.origin, forKey: "origin")
    }
}

/// The migration of a `StarvedStore`.
enum StarvedMigration {
    /// What happens at a point that the migration passes.
    private static let hook = Mutex<(point: Int, body: @Sendable () -> Void)?>(nil)

    static func at(point: Int, _ body: @escaping @Sendable () -> Void) {
        hook.withLock { $0 = (point, body) }
    }

    /// - Returns: whether the point was passed.
    @discardableResult
    static func forgetPoint() -> Bool {
        hook.withLock {
            let wasPassed = $0 == nil
            $0 = nil
            return wasPassed
        }
    }

    static func pass() {
        let body = hook.withLock { hook -> (@Sendable () -> Void)? in
            guard let present = hook else { return nil }
            hook = present.point > 0 ? (present.point - 1, present.body) : nil
            return hook == nil ? present.body : nil
        }
        body?()
    }

    static func run(_ store: StarvedStore, to new: NSManagedObjectModel) throws {
        if store.kind == .managed { return try runByHand(store, to: new) }
        let description = NSPersistentStoreDescription(url: store.url)
        description.type = store.type
        if store.type == NSSQLiteStoreType {
            description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        }
        description.migrationProgressHandler = { _ in pass() }
        switch store.kind {
        case .mapped:
            description.setOption([try mapping(to: new)] as NSArray, forKey: StoreMigration.mappingModelsOption)
        case .staged:
            description.setOption(stages(to: new), forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
        case .backedUp:
            description.setOption(store.backup as NSURL, forKey: NSPersistentStoreMigrationBackupURLOption)
        case .altered, .copied, .managed: break
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: new)
        var failure: (any Error)?
        coordinator.addPersistentStore(with: description) { failure = $1 }
        if let failure { throw failure }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    private static func mapping(to new: NSManagedObjectModel) throws -> NSMappingModel {
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: StarvedStore.old, destinationModel: new)
        for entity in mapping.entityMappings where entity.destinationEntityName == "Person" {
            entity.entityMigrationPolicyClassName = NSStringFromClass(StarvedPolicy.self)
        }
        return mapping
    }

    private static func runByHand(_ store: StarvedStore, to new: NSManagedObjectModel) throws {
        let type = NSPersistentStore.StoreType(rawValue: store.type)
        let manager = NSMigrationManager(sourceModel: StarvedStore.old, destinationModel: new)
        try manager.migrateStore(
            from: store.url, type: type, mapping: try mapping(to: new), to: store.result, type: type)
    }

    private static func stages(to new: NSManagedObjectModel) -> NSStagedMigrationManager {
        func reference(_ model: NSManagedObjectModel) -> NSManagedObjectModelReference {
            NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
        }
        let custom = NSCustomMigrationStage(
            migratingFrom: reference(StarvedStore.old), to: reference(StarvedStore.between))
        custom.didMigrateHandler = { manager, _ in
            pass()
            guard let context = manager.container?.newBackgroundContext() else { return }
            try context.performAndWait {
                for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
                    person.setValue(StarvedStore.stageMark, forKey: "mark")
                }
                try context.save()
            }
            pass()
        }
        return NSStagedMigrationManager([custom, NSLightweightMigrationStage([new.versionChecksum])])
    }
}
