import CoreData
import TestSupport
import Testing

/// A program that has a store open with the former model while another one migrates it, or changes
/// its schema in another way.
struct OpenDuringMigrationTests {
    private let place: MigratedStore

    init() throws { place = try MigratedStore() }

    /// An entity with subentities, which stores number in the order of their names.
    private static func model(_ subentities: String..., adding attribute: String? = nil) -> NSManagedObjectModel {
        let item = entity("Item", text("name"))
        if let attribute { item.properties.append(text(attribute)) }
        let all = subentities.map { NSEntityDescription($0, class: "NSManagedObject", [] as [NSAttributeDescription]) }
        item.subentities = all
        return NSManagedObjectModel([item] + all)
    }

    private static let former = ["Book", "Car"]

    private func open(
        _ model: NSManagedObjectModel = model("Book", "Car"), _ options: [AnyHashable: Any] = MigratedStore.automatic
    ) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: place.url, options: options)
        return Self.context(coordinator)
    }

    private static func context(_ coordinator: NSPersistentStoreCoordinator?) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Has the store filled and open with the former model.
    private func openFilled(_ options: [AnyHashable: Any] = [:]) throws -> NSManagedObjectContext {
        let context = try open(Self.model("Book", "Car"), options)
        for name in Self.former { context.insert(name, ["name": name]) }
        try context.save()
        return context
    }

    /// Migrates the store in another coordinator: entities get other numbers.
    private func migrate() throws {
        let options = MigratedStore.automatic.merging([NSPersistentStoreTimeoutOption: 0.2]) { $1 }
        _ = try open(Self.model("Animal", "Book", "Car"), options)
    }

    private func expectRefusal(location: SourceLocation = #_sourceLocation, _ body: () throws -> Void) {
        guard let error = errorThrown(by: { try body() }) else {
            Issue.record("nothing was refused", sourceLocation: location)
            return
        }
        #expect(error.code == NSPersistentStoreIncompatibleVersionHashError, "\(error)", sourceLocation: location)
        #expect(error.domain == NSCocoaErrorDomain, sourceLocation: location)
        #expect(error.localizedDescription.contains(place.url.path), "\(error)", sourceLocation: location)
        #expect(error.localizedRecoverySuggestion?.contains("Add it again") == true, sourceLocation: location)
    }

    private func fetchAll(_ name: String, _ context: NSManagedObjectContext) throws -> [String] {
        try context.objects(name, by: "name").map { $0.entity.name ?? "" }
    }

    /// Options under which reads and writes use connections in different ways.
    private static let ways: [[String: String]] = [[:], ["journal_mode": "DELETE"]]

    @Test(arguments: ways) func aSaveIsRefused(pragmas: [String: String]) throws {
        let context = try openFilled([NSSQLitePragmasOption: pragmas])
        try migrate()
        let before = place.content
        context.insert("Book", ["name": "new"])
        expectRefusal { try context.save() }
        #expect(context.hasChanges)
        expectRefusal { try context.save() }
        #expect(place.content == before)
    }

    @Test func updatesAndDeletionsAreRefused() throws {
        let context = try openFilled()
        let books = try context.objects("Book")
        try migrate()
        let before = place.content
        books[0].setValue("changed", forKey: "name")
        expectRefusal { try context.save() }
        context.rollback()
        context.delete(books[0])
        expectRefusal { try context.save() }
        #expect(place.content == before)
    }

    @Test(arguments: ways) func fetchesAreRefused(pragmas: [String: String]) throws {
        let context = try openFilled([NSSQLitePragmasOption: pragmas])
        #expect(try fetchAll("Item", context) == Self.former)
        try migrate()
        for _ in 0..<2 { expectRefusal { _ = try fetchAll("Item", context) } }
        let count = NSFetchRequest<NSManagedObject>(entityName: "Car")
        expectRefusal { _ = try context.count(for: count) }
        expectRefusal { _ = try fetchAll("Car", context) }
    }

    /// The first read opens a connection.
    @Test func theFirstFetchIsRefused() throws {
        let context = try open()
        try place.open(Self.model("Book", "Car")) { $0.insert("Car", ["name": "a"]) }
        try migrate()
        expectRefusal { _ = try fetchAll("Car", context) }
    }

    @Test func fetchesWithOneConnectionAreRefused() throws {
        let context = try openFilled([NSPersistentStoreConnectionPoolMaxSizeKey: 1])
        #expect(try fetchAll("Item", context) == Self.former)
        try migrate()
        expectRefusal { _ = try fetchAll("Car", context) }
        expectRefusal { _ = try fetchAll("Item", context) }
    }

    @Test func aFetchOfARemovedAttributeSaysThatTheStoreWasMigrated() throws {
        let context = try open(Self.model("Book", adding: "note"))
        context.insert("Book", ["note": "n"])
        try context.save()
        _ = try open(Self.model("Book"))
        expectRefusal { _ = try context.values("Book", "note", as: String.self) }
        expectRefusal {
            _ = try Self.context(context.persistentStoreCoordinator).values("Book", "name", as: String.self)
        }
    }

    @Test func batchRequestsAreRefused() throws {
        let context = try openFilled()
        try migrate()
        let before = place.content
        let update = NSBatchUpdateRequest(entityName: "Book")
        update.propertiesToUpdate = ["name": "changed"]
        let books = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
        for request in [
            update, NSBatchDeleteRequest(fetchRequest: books),
            NSBatchInsertRequest(entityName: "Book", objects: [["name": "new"]]),
        ] {
            expectRefusal { _ = try context.execute(request) }
        }
        #expect(place.content == before)
    }

    @Test func metadataAreRefused() throws {
        let context = try openFilled()
        try migrate()
        let coordinator = try #require(context.persistentStoreCoordinator)
        coordinator.setMetadata(["a": 1], for: coordinator.persistentStores[0])
        expectRefusal { try context.save() }
    }

    @Test func theStoreIsGoodAgainOnceItWasAddedWithTheLaterModel() throws {
        let context = try openFilled()
        try migrate()
        let coordinator = try #require(context.persistentStoreCoordinator)
        expectRefusal { _ = try fetchAll("Item", context) }
        try coordinator.remove(coordinator.persistentStores[0])
        let later = try open(Self.model("Animal", "Book", "Car"))
        later.insert("Animal", ["name": "Ant"])
        try later.save()
        #expect(try fetchAll("Item", later) == ["Animal", "Book", "Car"])
    }

    @Test func anotherProgramThatRecordsHistoryDisturbsNobody() throws {
        let context = try openFilled()
        #expect(try fetchAll("Item", context) == Self.former)
        _ = try open(Self.model("Book", "Car"), [NSPersistentHistoryTrackingKey: true])
        #expect(place.file.integer("SELECT count(*) FROM sqlite_master WHERE name = 'ATRANSACTION'") == 1)
        #expect(try fetchAll("Item", context) == Self.former)
        context.insert("Car", ["name": "Cat"])
        try context.save()
        #expect(try fetchAll("Item", context) == Self.former + ["Car"])
    }

    @Test func indexesAndTablesOfOthersDisturbNobody() throws {
        let context = try openFilled()
        for change in [
            "CREATE INDEX mine ON ZITEM (ZNAME)", "ANALYZE", "CREATE TABLE notes (text)", "VACUUM", "DROP INDEX mine",
        ] {
            #expect(place.file.execute(change))
            #expect(try fetchAll("Item", context) == Self.former)
            try #require(try context.objects("Book").first).setValue("B \(change)", forKey: "name")
            let car = context.insert("Car", ["name": "x"])
            try context.save()
            context.delete(car)
            try context.save()
        }
        #expect(try fetchAll("Item", context) == Self.former)
    }

    /// The same model, but other numbers of entities: rows would be taken for those of other
    /// entities.
    @Test func otherNumbersOfEntitiesAreRefused() throws {
        let context = try openFilled()
        #expect(try fetchAll("Item", context) == Self.former)
        let other = try MigratedStore()
        try other.open(Self.model("Book", "Car")) { $0.insert("Book", ["name": "b"]) }
        #expect(
            other.file.execute(
                """
                UPDATE Z_PRIMARYKEY SET Z_ENT = Z_ENT + 5 WHERE Z_NAME IN ('Book', 'Car'); \
                UPDATE ZITEM SET Z_ENT = Z_ENT + 5; CREATE TABLE notes (text)
                """))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model("Book", "Car"))
        try coordinator.replacePersistentStore(at: place.url, withPersistentStoreFrom: other.url, type: .sqlite)
        expectRefusal { _ = try fetchAll("Item", context) }
        context.insert("Book", ["name": "new"])
        expectRefusal { try context.save() }
    }

    @Test func whoIgnoresVersionsGoesOnWhereTheNumbersAreTheSame() throws {
        let context = try openFilled([NSIgnorePersistentStoreVersioningOption: true])
        #expect(try fetchAll("Item", context) == Self.former)
        _ = try open(Self.model("Book", "Car", adding: "note"))
        #expect(try fetchAll("Item", context) == Self.former)
        context.insert("Car", ["name": "Cat"])
        try context.save()
        try migrate()
        expectRefusal { _ = try fetchAll("Item", context) }
    }

    @Test func aPinnedGenerationIsReadAsItWas() throws {
        let context = try openFilled([NSPersistentStoreTimeoutOption: 0.2])
        try context.setQueryGenerationFrom(.current)
        #expect(try fetchAll("Item", context) == Self.former)
        try migrate()
        #expect(try fetchAll("Item", context) == Self.former)
        #expect(try fetchAll("Car", context) == ["Car"])
        let later = Self.context(context.persistentStoreCoordinator)
        try later.setQueryGenerationFrom(.current)
        expectRefusal { _ = try fetchAll("Car", later) }
    }
}
