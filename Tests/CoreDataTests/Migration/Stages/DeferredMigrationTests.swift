import CoreData
import TestSupport
import Testing

/// Lightweight migrations that leave a part of their work for later.
struct DeferredMigrationTests {
    private static let key = NSPersistentStoreDeferredLightweightMigrationOptionKey

    private static func version(_ properties: NSPropertyDescription...) -> NSManagedObjectModel {
        let item = entity("Item", text("name"))
        item.properties += properties
        item.indexes = [
            NSFetchIndexDescription(
                name: "byName",
                elements: [NSFetchIndexElementDescription(property: item.properties[0], collationType: .binary)])
        ]
        return model(item, entity("Old", text("name")))
    }

    private let store: MigratedStore
    private let first = Self.version(text("note"))
    /// Without the entity `Old` and a note, so that the table of items is rebuilt.
    private let second: NSManagedObjectModel

    init() throws {
        store = try MigratedStore()
        second = Self.version(number("count", optional: false, default: 3))
        second.entities.removeAll { $0.name == "Old" }
        try store.open(first) { context in
            context.insert("Item", ["name": "a"])
            context.insert("Old", ["name": "o"])
        }
    }

    private static var deferring: [AnyHashable: Any] { MigratedStore.automatic.merging([key: true]) { $1 } }

    private var formerTables: [String?] {
        store.file.column("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'FORMER%' ORDER BY 1")
    }

    private var indexes: [String?] {
        store.file.column("SELECT name FROM sqlite_master WHERE name LIKE 'Z_Item_byName'")
    }

    private func stored() throws -> Any? {
        try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: store.url)[Self.key]
    }

    private func coordinator(_ options: [AnyHashable: Any] = deferring) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: second)
        try coordinator.addPersistentStore(type: .sqlite, at: store.url, options: options)
        return coordinator
    }

    private func close(_ coordinator: NSPersistentStoreCoordinator) throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    @Test("296: A store opens at once, and its metadata say that work remains until that is done.")
    func whatIsLeftIsDoneLater() throws {
        let coordinator = try coordinator()
        let added = try #require(coordinator.persistentStores.first)
        #expect(coordinator.metadata(for: added)[Self.key] as? Bool == true)
        #expect(formerTables == ["FORMER_ZITEM", "FORMER_ZOLD"])
        #expect(indexes.isEmpty)
        let counts = try coordinator.newContext().values("Item", "count", as: Int.self)
        #expect(counts == [3])
        try coordinator.finishDeferredLightweightMigration()
        #expect(coordinator.metadata(for: added)[Self.key] == nil)
        #expect(try stored() == nil)
        #expect(formerTables.isEmpty)
        #expect(indexes.count == 1)
        try close(coordinator)
        try store.migrate(to: second)
    }

    @Test func oneTaskIsDoneAtATime() throws {
        let coordinator = try coordinator()
        for left in [2, 1, 0] {
            #expect(try stored() as? Bool == true)
            try coordinator.finishDeferredLightweightMigrationTask()
            #expect(formerTables.count + 1 - indexes.count == left)
        }
        #expect(try stored() == nil)
        try coordinator.finishDeferredLightweightMigrationTask()
        try close(coordinator)
    }

    @Test func theWorkIsLeftAlsoByTheNextOpening() throws {
        try close(try coordinator())
        let coordinator = try coordinator(MigratedStore.automatic)
        #expect(try stored() as? Bool == true)
        let context = coordinator.newContext()
        context.insert("Item", ["name": "b"])
        try context.save()
        try coordinator.finishDeferredLightweightMigration()
        #expect(try stored() == nil)
        #expect(store.file.integer("SELECT count(*) FROM ZITEM") == 2)
        try close(coordinator)
    }

    @Test func theNextMigrationDoesWhatIsLeft() throws {
        try close(try coordinator())
        let third = Self.version(number("count", optional: false, default: 3), text("note"))
        third.entities.removeAll { $0.name == "Old" }
        try store.migrate(to: third)
        #expect(try stored() == nil)
        #expect(formerTables.isEmpty)
    }

    @Test func metadataOfTheProgramStay() throws {
        let coordinator = try coordinator()
        let added = try #require(coordinator.persistentStores.first)
        coordinator.setMetadata(["origin": "import"], for: added)
        #expect(coordinator.metadata(for: added)[Self.key] as? Bool == true)
        try coordinator.finishDeferredLightweightMigration()
        let context = coordinator.newContext()
        context.insert("Item")
        try context.save()
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: store.url)
        #expect(metadata["origin"] as? String == "import")
        #expect(metadata[Self.key] == nil)
        try close(coordinator)
    }

    @Test func withoutTheOptionNothingIsLeft() throws {
        let coordinator = try coordinator(MigratedStore.automatic)
        #expect(try stored() == nil)
        #expect(formerTables.isEmpty)
        #expect(indexes.count == 1)
        try coordinator.finishDeferredLightweightMigration()
        try close(coordinator)
    }

    @Test func uniquenessIsCheckedAtOnce() throws {
        try store.open(first) { $0.insert("Item", ["name": "a"]) }
        let unique = Self.version()
        unique.entities[0].uniquenessConstraints = [["name"]]
        let error = try store.refusal(unique, Self.deferring)
        #expect(error.code == 134111)
    }

    /// What the first program has left is no work on a store of another version.
    @Test(arguments: [true, false]) func nothingIsDoneToAStoreThatAnotherProgramHasMigrated(oneTask: Bool) throws {
        let coordinator = try coordinator()
        let third = model(entity("Item", text("name"), number("count", optional: false, default: 3), text("note")))
        try store.open(third) { _ in }
        let error = errorThrown {
            if oneTask {
                try coordinator.finishDeferredLightweightMigrationTask()
            } else {
                try coordinator.finishDeferredLightweightMigration()
            }
        }
        #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
        #expect(indexes.isEmpty)
        try close(coordinator)
        try store.expectSoundness(third, #_sourceLocation)
        let counts = try store.open(third, [:]) { try $0.values("Item", "count", as: Int.self) }
        #expect(counts == [3])
    }

    @Test func whatAnotherProgramHasFinishedIsDone() throws {
        let first = try coordinator()
        let second = try coordinator(MigratedStore.automatic)
        try second.finishDeferredLightweightMigration()
        try close(second)
        try first.finishDeferredLightweightMigration()
        let added = try #require(first.persistentStores.first)
        #expect(first.metadata(for: added)[Self.key] == nil)
        try close(first)
        try store.expectSoundness(self.second, #_sourceLocation)
    }
}
