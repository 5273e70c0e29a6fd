import TestSupport
import Testing

@testable import CoreData

/// Memory of a store that was removed.
struct StoreReleaseTests {
    private final class Watch {
        private var objects: [(name: String, object: () -> AnyObject?)] = []

        func add(_ name: String, _ object: some AnyObject) {
            objects.append((name, { [weak object] in object }))
        }

        var alive: [String] { objects.filter { $0.object() != nil }.map(\.name) }
    }

    /// Opens a store, uses it, removes it, and lets go of all but the coordinator.
    private func use(_ coordinator: NSPersistentStoreCoordinator, _ url: URL, _ watch: Watch) throws {
        let store = try #require(try coordinator.addPersistentStore(type: .sqlite, at: url) as? SQLiteStore)
        let context = coordinator.newContext()
        for name in Archive.entities {
            let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
            object.setValue(Archive.large(name, 1), forKey: "scan")
            for relationship in object.entity.relationshipsByName.keys.sorted() {
                _ = object.value(forKey: relationship)
            }
        }
        try context.save()
        let backend = try store.backend()
        watch.add("the store", store)
        watch.add("the backend", backend)
        watch.add("the connections", backend.pool)
        watch.add("the mapping", backend.mapping)
        for table in backend.mapping.tables { watch.add(table.name, table) }
        for table in backend.mapping.joinTables { watch.add(table.name, table) }
        for case let entity? in backend.mapping.entities { watch.add(entity.layout.name, entity) }
        context.reset()
        try coordinator.remove(store)
    }

    @Test func aRemovedStoreLeavesNothingBehind() throws {
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Archive.model())
        let watch = Watch()
        try use(coordinator, folder.file("store.sqlite"), watch)
        #expect(watch.alive == [])
    }

    @Test func aMigratedStoreLeavesNoMappingBehind() throws {
        let folder = try TemporaryFolder()
        let url = folder.file("store.sqlite")
        let watch = Watch()
        try use(NSPersistentStoreCoordinator(managedObjectModel: Archive.model()), url, watch)
        let model = Archive.model()
        for entity in model.entities { entity.properties.append(NSAttributeDescription("added", .stringAttributeType)) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
        try coordinator.remove(store)
        try use(coordinator, url, watch)
        #expect(watch.alive == [])
    }
}
