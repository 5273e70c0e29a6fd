import Foundation
import SafeCoreData

// What the compiler's checks cost: `@Entity` against `@Managed`, snapshots from rows against
// objects. Both sides run on the same store, and read the same properties.

/// Texts, numbers, a date and an enumeration, as an entity describes itself.
@Entity("Record")
final class EntityRecord: NSManagedObject {
    var name: String
    var note: String?
    var price: Double
    var count: Int
    var small: Int16
    var date: Date
    var isOpen: Bool
    var state: RecordState
}

enum RecordState: Int16 { case new, open, closed }

/// The same, as a class for a drawn model.
final class ManagedRecord: NSManagedObject {
    @Managed var name: String
    @Managed var note: String?
    @Managed var price: Double
    @Managed var count: Int
    @Managed var small: Int16
    @Managed var date: Date
    @Managed var isOpen: Bool
    @Managed var state: RecordState
}

extension Harness {
    private static let recordCount = 20_000

    /// The same file opened with both classes.
    private func recordStores() throws -> (entity: NSPersistentStoreCoordinator, managed: NSPersistentStoreCoordinator)
    {
        let url = newURL()
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: NSManagedObjectModel(entities: EntityRecord.self))
        _ = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let context = context(coordinator)
        for index in 0..<Self.recordCount {
            _ = EntityRecord(
                context: context, name: "name \(index)", note: "A note about number \(index), longer than a short text",
                price: Double(index) * 0.25, count: index, small: Int16(index % 100),
                date: Date(timeIntervalSinceReferenceDate: Double(index)), isOpen: index % 2 == 0, state: .open)
        }
        try context.save()
        let model = NSManagedObjectModel(entities: EntityRecord.self)
        model.entities[0].managedObjectClassName = "Benchmarks.ManagedRecord"
        let managed = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try managed.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        return (coordinator, managed)
    }

    /// Reads properties of loaded objects through both kinds of accessor.
    func readEntityProperties() throws {
        guard wants("S3") else { return }
        let stores = try recordStores()
        let (entityContext, managedContext) = (context(stores.entity), context(stores.managed))
        let entities = try entityContext.fetch(NSFetchRequest<EntityRecord>(entityName: "Record"))
        let managed = try managedContext.fetch(NSFetchRequest<ManagedRecord>(entityName: "Record"))
        try compare("S3 read numbers, @Entity against @Managed", bound: 1.3) {
            Self.time {
                for _ in 0..<20 {
                    for object in entities {
                        Self.sink &+=
                            Int64(object.count) &+ Int64(object.small) &+ Int64(object.price) &+ (object.isOpen ? 1 : 0)
                    }
                }
            }
        } raw: {
            Self.time {
                for _ in 0..<20 {
                    for object in managed {
                        Self.sink &+=
                            Int64(object.count) &+ Int64(object.small) &+ Int64(object.price) &+ (object.isOpen ? 1 : 0)
                    }
                }
            }
        }
        try compare("S3 read texts, dates, enums, @Entity against @Managed", bound: 1.3) {
            Self.time {
                for _ in 0..<5 {
                    for object in entities {
                        Self.sink &+=
                            Int64(object.name.utf8.count) &+ Int64(object.note?.utf8.count ?? 0)
                            &+ Int64(object.date.timeIntervalSinceReferenceDate) &+ Int64(object.state.rawValue)
                    }
                }
            }
        } raw: {
            Self.time {
                for _ in 0..<5 {
                    for object in managed {
                        Self.sink &+=
                            Int64(object.name.utf8.count) &+ Int64(object.note?.utf8.count ?? 0)
                            &+ Int64(object.date.timeIntervalSinceReferenceDate) &+ Int64(object.state.rawValue)
                    }
                }
            }
        }
        withExtendedLifetime((entityContext, managedContext)) {}
    }

    /// Fetches snapshots, and objects whose properties are then read.
    func fetchSnapshots() throws {
        guard wants("S4") else { return }
        let stores = try recordStores()
        try compare("S4 fetch 20,000 snapshots against objects, read all", bound: 1.0) {
            let context = context(stores.entity)
            var snapshots: [EntityRecord.Snapshot] = []
            defer { withExtendedLifetime(snapshots) {} }
            return try Self.time {
                snapshots = try context.snapshots(of: NSFetchRequest<EntityRecord>(entityName: "Record"))
                for record in snapshots {
                    Self.sink &+=
                        Int64(record.count) &+ Int64(record.small) &+ Int64(record.price) &+ (record.isOpen ? 1 : 0)
                        &+ Int64(record.name.utf8.count) &+ Int64(record.note?.utf8.count ?? 0)
                        &+ Int64(record.date.timeIntervalSinceReferenceDate) &+ Int64(record.state.rawValue)
                }
            }
        } raw: {
            let context = context(stores.entity)
            var objects: [EntityRecord] = []
            defer { withExtendedLifetime(objects) {} }
            return try Self.time {
                objects = try context.fetch(NSFetchRequest<EntityRecord>(entityName: "Record"))
                for record in objects {
                    Self.sink &+=
                        Int64(record.count) &+ Int64(record.small) &+ Int64(record.price) &+ (record.isOpen ? 1 : 0)
                        &+ Int64(record.name.utf8.count) &+ Int64(record.note?.utf8.count ?? 0)
                        &+ Int64(record.date.timeIntervalSinceReferenceDate) &+ Int64(record.state.rawValue)
                }
            }
        }
    }
}
