import CoreData
import TestSupport
import Testing

/// Metadata of a store that several coordinators have open, as several programs have.
struct SharedMetadataTests {
    /// A coordinator that has the store open.
    private final class Program {
        let coordinator: NSPersistentStoreCoordinator
        let store: NSPersistentStore
        let context: NSManagedObjectContext

        init(_ place: MigratedStore, _ model: NSManagedObjectModel = SharedMetadataTests.model()) throws {
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            store = try coordinator.addPersistentStore(
                ofType: place.kind.type, configurationName: nil, at: place.url, options: MigratedStore.automatic)
            context = coordinator.newContext()
        }

        /// Sets metadata beside those that are there, or without them where a value is nil, and
        /// saves.
        func save(_ metadata: [String: Any?]) throws {
            var all = coordinator.metadata(for: store)
            for (key, value) in metadata { all[key] = value }
            coordinator.setMetadata(all, for: store)
            try context.save()
        }

        func insert(_ name: String) throws {
            context.insert("Item", ["name": name])
            try context.save()
        }
    }

    private static func model(_ more: NSPropertyDescription...) -> NSManagedObjectModel {
        NSManagedObjectModel([NSEntityDescription("Item", class: "NSManagedObject", [text("name")] + more)])
    }

    /// The metadata in the store.
    private func written(_ place: MigratedStore) throws -> [String: Any] {
        try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: place.kind.type, at: place.url)
    }

    @Test("302: a save writes no metadata that nobody has set", arguments: StoreKind.persistent)
    func theFirstSaveLeavesTheMetadataOfOthers(kind: StoreKind) throws {
        let place = try MigratedStore(kind)
        let first = try Program(place)
        let second = try Program(place)
        try second.save(["syncToken": 7])
        try first.insert("a")
        #expect(try written(place)["syncToken"] as? Int == 7)
        try first.insert("b")
        #expect(try written(place)["syncToken"] as? Int == 7)
        #expect(try place.open(Self.model()) { try $0.values("Item", "name", as: String.self) } == ["a", "b"])
    }

    @Test(
        "302: a save writes the metadata that were set, and removes those that were removed",
        arguments: StoreKind.persistent)
    func onlyWhatWasChangedIsWritten(kind: StoreKind) throws {
        let place = try MigratedStore(kind)
        try Program(place).save(["same": 1, "changed": 2, "removed": 3])
        let first = try Program(place)
        let second = try Program(place)
        try second.save(["same": 10, "changed": 20, "removed": 30, "new": 40])
        try first.save(["same": 1, "changed": "mine", "removed": nil, "another": ["x": 5]])
        let metadata = try written(place)
        #expect(metadata["same"] as? Int == 10)
        #expect(metadata["changed"] as? String == "mine")
        #expect(metadata["removed"] == nil)
        #expect(metadata["new"] as? Int == 40)
        #expect(metadata["another"] as? [String: Int] == ["x": 5])
        // What is written is not written again.
        try second.save(["changed": "theirs"])
        try first.insert("a")
        #expect(try written(place)["changed"] as? String == "theirs")
    }

    @Test("302: what is set back before a save is not written", arguments: StoreKind.persistent)
    func whatIsSetBackIsNoChange(kind: StoreKind) throws {
        let place = try MigratedStore(kind)
        let first = try Program(place)
        let before = first.coordinator.metadata(for: first.store)
        first.coordinator.setMetadata(["mistake": true], for: first.store)
        first.coordinator.setMetadata(before, for: first.store)
        try Program(place).save(["mistake": false])
        try first.insert("a")
        #expect(try written(place)["mistake"] as? Bool == false)
    }

    @Test("302: metadata whose save failed are written by the next", arguments: StoreKind.persistent)
    func metadataOfAFailedSaveStayPending(kind: StoreKind) throws {
        let place = try MigratedStore(kind)
        let first = try Program(place)
        try first.insert("a")
        let item = try #require(try first.context.objects("Item").first)
        let second = try Program(place)
        try #require(try second.context.objects("Item").first).setValue("b", forKey: "name")
        try second.context.save()
        item.setValue("c", forKey: "name")
        #expect(errorThrown { try first.save(["syncToken": 7]) }?.code == CocoaError.Code.managedObjectMerge.rawValue)
        #expect(try written(place)["syncToken"] == nil)
        first.context.rollback()
        try first.insert("d")
        #expect(try written(place)["syncToken"] as? Int == 7)
    }

    /// The object may be saved or refused: hashes and model stay those of the tables.
    @Test(arguments: StoreKind.persistent) func theFirstSaveLeavesWhatAMigrationHasWritten(kind: StoreKind) throws {
        let place = try MigratedStore(kind)
        try Program(place).insert("a")
        let former = try Program(place)
        let later = Self.model(number("count"))
        let migrating = try Program(place, later)
        let item = try #require(try migrating.context.objects("Item").first)
        item.setValue(3, forKey: "count")
        try migrating.context.save()
        _ = errorThrown { try former.insert("b") }
        let metadata = try written(place)
        #expect(metadata[NSStoreModelVersionHashesKey] as? [String: Data] == later.entityVersionHashesByName)
        let cached = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: place.url)
        #expect(cached.entityVersionHashesByName == later.entityVersionHashesByName)
        let counts = try place.open(later) { try $0.values("Item", "count", as: Int.self) }
        #expect(counts.compactMap { $0 } == [3])
    }

    @Test func theFirstSaveLeavesTheUUIDOfAReplacement() throws {
        let (place, source) = (try MigratedStore(), try MigratedStore())
        try Program(source).insert("a")
        let program = try Program(place)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        try coordinator.replacePersistentStore(at: place.url, withPersistentStoreFrom: source.url, type: .sqlite)
        let identifier = try #require(try written(source)[NSStoreUUIDKey] as? String)
        #expect(identifier != program.store.identifier)
        try program.insert("b")
        #expect(try written(place)[NSStoreUUIDKey] as? String == identifier)
        #expect(place.file.column("SELECT ZNAME FROM ZITEM ORDER BY 1") == ["a", "b"])
    }

    @Test(arguments: StoreKind.persistent) func aUUIDThatAProgramSetsIsWritten(kind: StoreKind) throws {
        let place = try MigratedStore(kind)
        let identifier = UUID().uuidString
        try Program(place).save([NSStoreUUIDKey: identifier])
        #expect(try written(place)[NSStoreUUIDKey] as? String == identifier)
    }
}
