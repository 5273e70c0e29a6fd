import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// A program that has a store in a database open with the former model while another one migrates
/// it.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server")) struct OpenDuringServerMigrationTests {
    private let url: URL
    private let tables: PostgreSQLTables

    init() throws {
        let server = try WireConnection.server()
        url = server.url(schema: server.newSchemaName())
        tables = PostgreSQLTables(url)
    }

    /// An entity with subentities.
    private static func model(_ subentities: String..., adding attribute: String? = nil) -> NSManagedObjectModel {
        let item = NSEntityDescription(
            "Item", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        if let attribute { item.properties.append(NSAttributeDescription(attribute, .stringAttributeType)) }
        let all = subentities.map { NSEntityDescription($0, class: "NSManagedObject", [] as [NSAttributeDescription]) }
        item.subentities = all
        return NSManagedObjectModel([item] + all)
    }

    private static let automatic: [String: Bool] = [
        NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
    ]

    private func open(_ model: NSManagedObjectModel, _ options: [AnyHashable: Any] = automatic) throws
        -> NSManagedObjectContext
    {
        try Self.open(model, at: url, options)
    }

    private static func open(
        _ model: NSManagedObjectModel, at url: URL, _ options: [AnyHashable: Any] = automatic
    ) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: url, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Has the store filled and open with the former model.
    private func openFilled(_ options: [AnyHashable: Any] = [:]) throws -> NSManagedObjectContext {
        let context = try open(Self.model("Book", "Car"), options)
        for name in ["Book", "Car"] { _ = context.insert(name, ["name": name]) }
        try context.save()
        #expect(try context.all("Item").count == 2)
        return context
    }

    /// Migrates the store in another coordinator: the model has one entity more, and nothing else
    /// changes.
    private func migrate() throws { _ = try open(Self.model("Animal", "Book", "Car")) }

    /// A second later.
    private func expire(_ context: NSManagedObjectContext) throws {
        let store = try #require(context.persistentStoreCoordinator?.persistentStores.first as? PostgreSQLStore)
        store.openPool?.watch.expire()
    }

    /// Waits until so many statements wait for the table of items, or what makes one wait is over.
    private func waitForWaiting(_ count: Int, _ other: OtherThread<Void>) {
        let waiting = """
            SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation \
            WHERE NOT l.granted AND c.relname = 'item' AND c.relnamespace = '\(tables.schema)'::regnamespace
            """
        #expect(wait { (tables.integer(waiting) ?? count) >= count || other.isOver })
    }

    private func expectRefusal(location: SourceLocation = #_sourceLocation, _ body: () throws -> Void) {
        let error = #expect(throws: NSError.self, sourceLocation: location) { try body() }
        #expect(
            error?.code == NSPersistentStoreIncompatibleVersionHashError, "\(error as Any)", sourceLocation: location)
        #expect(error?.domain == NSCocoaErrorDomain, sourceLocation: location)
        #expect(error?.localizedDescription.contains("while it was open here") == true, sourceLocation: location)
        #expect(error?.localizedRecoverySuggestion?.contains("Add it again") == true, sourceLocation: location)
    }

    @Test func newObjectsAreNotSaved() throws {
        let context = try openFilled()
        try migrate()
        let before = tables.content
        _ = context.insert("Book", ["name": "new"])
        for _ in 0..<2 { expectRefusal { try context.save() } }
        #expect(context.hasChanges)
        #expect(tables.content == before)
    }

    @Test(arguments: [1, 2000]) func updatesAndDeletionsAreNotSaved(count: Int) throws {
        let context = try openFilled()
        for number in 0..<count { _ = context.insert("Car", ["name": "\(number)"]) }
        try context.save()
        let cars = try context.all("Car")
        try migrate()
        let before = tables.content
        for car in cars { car.setValue("changed", forKey: "name") }
        expectRefusal { try context.save() }
        context.rollback()
        for car in cars { context.delete(car) }
        expectRefusal { try context.save() }
        #expect(tables.content == before)
    }

    @Test func batchRequestsAreNotExecuted() throws {
        let context = try openFilled()
        try migrate()
        let before = tables.content
        let update = NSBatchUpdateRequest(entityName: "Book")
        update.propertiesToUpdate = ["name": "changed"]
        let books = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
        for request in [
            update, NSBatchDeleteRequest(fetchRequest: books),
            NSBatchInsertRequest(entityName: "Book", objects: [["name": "new"]]),
        ] {
            expectRefusal { _ = try context.execute(request) }
        }
        #expect(tables.content == before)
    }

    @Test(arguments: [true, false]) func metadataAreNotWritten(withObjects: Bool) throws {
        let context = try openFilled()
        try migrate()
        let coordinator = try #require(context.persistentStoreCoordinator)
        coordinator.setMetadata(["a": 1], for: coordinator.persistentStores[0])
        if withObjects { _ = context.insert("Book", ["name": "new"]) }
        expectRefusal { try context.save() }
        let stored = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSPostgreSQLStoreType, at: url, options: nil)
        #expect(stored["a"] == nil)
    }

    @Test func fetchesAreRefusedASecondLater() throws {
        let context = try openFilled()
        let object = try #require(try context.all("Book").first)
        try migrate()
        for _ in 0..<2 {
            try expire(context)
            expectRefusal { _ = try context.all("Item") }
        }
        expectRefusal { _ = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Car")) }
        let request = NSFetchRequest<NSDictionary>(entityName: "Car")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["name"]
        expectRefusal { _ = try context.fetch(request) }
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        // Not the rows that are known.
        other.stalenessInterval = 0
        expectRefusal { _ = try other.existingObject(with: object.objectID) }
    }

    /// No second passes: the former model needs a table or column that is gone.
    @Test func aFetchThatFailsSaysThatTheStoreWasMigrated() throws {
        let context = try open(Self.model("Book", adding: "note"))
        _ = context.insert("Book", ["note": "n"])
        try context.save()
        _ = try open(Self.model("Book"))
        expectRefusal { _ = try context.all("Book", "note == 'n'") }
        _ = context.insert("Book", ["note": "n"])
        expectRefusal { try context.save() }
    }

    @Test func theStoreIsGoodAgainOnceItWasAddedWithTheLaterModel() throws {
        let context = try openFilled()
        try migrate()
        let coordinator = try #require(context.persistentStoreCoordinator)
        try expire(context)
        expectRefusal { _ = try context.all("Item") }
        try coordinator.remove(coordinator.persistentStores[0])
        let later = try open(Self.model("Animal", "Book", "Car"))
        _ = later.insert("Animal", ["name": "Ant"])
        try later.save()
        #expect(try later.all("Item", by: "name").map { $0.entity.name } == ["Animal", "Book", "Car"])
    }

    /// As after the tables were restored from a copy.
    @Test func theSameModelWrittenAnewDisturbsNobody() throws {
        let context = try openFilled()
        for number in 0..<3 {
            #expect(tables.execute("UPDATE ocd_model SET content = content"))
            if number == 1 { try expire(context) }
            #expect(try context.all("Item").count == 2 + number)
            _ = context.insert("Car", ["name": "\(number)"])
            if number == 2 {
                let coordinator = try #require(context.persistentStoreCoordinator)
                coordinator.setMetadata(["a": 1], for: coordinator.persistentStores[0])
            }
            try context.save()
        }
        #expect(tables.integer("SELECT count(*) FROM item") == 5)
        let coordinator = try #require(context.persistentStoreCoordinator)
        #expect(tables.execute("UPDATE ocd_model SET content = content"))
        coordinator.setMetadata(["b": 1], for: coordinator.persistentStores[0])
        try context.save()
        let stored = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSPostgreSQLStoreType, at: url, options: nil)
        #expect(stored["b"] as? Int == 1)
    }

    @Test func whoIgnoresVersionsGoesOnWhereTheNumbersAreTheSame() throws {
        let context = try openFilled([NSIgnorePersistentStoreVersioningOption: true])
        _ = try open(Self.model("Book", "Car", adding: "note"))
        try expire(context)
        #expect(try context.all("Item").count == 2)
        _ = context.insert("Car", ["name": "Cat"])
        try context.save()
        // Entities keep their numbers in a migration.
        try migrate()
        try expire(context)
        #expect(try context.all("Item").count == 3)
        #expect(tables.execute("UPDATE ocd_entity SET number = number + 10; UPDATE ocd_model SET content = content"))
        try expire(context)
        expectRefusal { _ = try context.all("Item") }
        _ = context.insert("Car", ["name": "Cat"])
        expectRefusal { try context.save() }
    }

    /// Between the first statement of a save and its last one.
    @Test func aSaveThatWaitsForAMigrationIsRefused() throws {
        let context = try openFilled()
        let holder = PostgreSQLTables(url)
        #expect(holder.execute("BEGIN; LOCK TABLE item IN ACCESS SHARE MODE"))
        let url = url
        let migration = OtherThread { _ = try Self.open(Self.model("Animal", "Book", "Car"), at: url) }
        waitForWaiting(1, migration)
        let save = OtherThread {
            try context.performAndWait {
                _ = context.insert("Book", ["name": "new"])
                try context.save()
            }
        }
        waitForWaiting(2, save)
        #expect(holder.execute("COMMIT"))
        try migration.value()
        expectRefusal { try save.value() }
        #expect(tables.integer("SELECT count(*) FROM item") == 2)
    }
}
