import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// A role that owns a store and one that only uses it, with the rights that the article on stores
/// in PostgreSQL gives them.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"), .needsICU)
struct RoleTests {
    private let server: PostgreSQLServer
    private let schema: String
    private let tables: PostgreSQLTables

    init() throws {
        server = try WireConnection.server()
        schema = server.newSchemaName()
        tables = PostgreSQLTables(server.url(schema: schema))
        try grant(0)
        // What everybody may do unless somebody forbids it.
        _ = try tables.result(
            "ALTER DEFAULT PRIVILEGES FOR ROLE \(schema)_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC")
    }

    /// Runs one of the article's lists of statements, for this schema's roles.
    private func grant(_ index: Int) throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/CoreData/CoreData.docc/PostgreSQL.md")
        let article = try String(contentsOf: file, encoding: .utf8)
        let section = try #require(
            article.components(separatedBy: "### Roles\n").last?.components(separatedBy: "\n### ").first)
        let lists = section.components(separatedBy: "```sql\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        try #require(lists.count == 2)
        _ = try tables.result(lists[index].replacingOccurrences(of: "shop", with: schema))
    }

    /// Opens the store as one of the two roles.
    private func open(
        as role: String, _ model: NSManagedObjectModel = Warehouse.model(), _ options: [AnyHashable: Any] = [:]
    ) throws -> NSManagedObjectContext {
        let text = server.url(schema: schema).absoluteString.replacingOccurrences(
            of: "user=\(server.user)", with: "user=\(schema)_\(role)")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: URL(string: text),
            options: options.merging([
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            ]) { $1 })
        let context = coordinator.newContext()
        return context
    }

    /// The same store with one more attribute and one more entity, whose rows have tables of their
    /// own.
    private static func second() -> NSManagedObjectModel {
        let model = Warehouse.model()
        model.entitiesByName["Tag"]?.properties += [NSAttributeDescription("color", .stringAttributeType)]
        let shelf = NSEntityDescription(
            "Shelf", class: "NSManagedObject", [NSAttributeDescription("title", .stringAttributeType)])
        if let tag = model.entitiesByName["Tag"] {
            relate(shelf, "tags", toMany: true, tag, inverse: "shelves", inverseToMany: true)
        }
        model.entities += [shelf]
        return model
    }

    // MARK: What it may do

    /// Everything that a program does with a store.
    private func work(_ context: NSManagedObjectContext) throws {
        try context.performAndWait {
            let maker = context.insert("Maker", ["title": "Müller"])
            let tag = context.insert("Tag", ["label": "new"])
            let code = UUID()
            let item = context.insert("Item", ["name": "Äpfel", "maker": maker, "code": code])
            item.setValue(NSOrderedSet(object: tag), forKey: "tags")
            try context.save()
            for number in 0..<70 { _ = context.insert("Kit", ["name": "kit \(number)"]) }
            item.setValue("Ärger", forKey: "name")
            try context.save()
            let found = try context.all(
                "Item", "name BEGINSWITH[cd] 'arg' AND maker.title ==[c] 'MÜLLER' AND ANY tags.label LIKE 'n*'")
            #expect(found == [item])
            // Two rows with one value: the conflict is found, and settled.
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            _ = context.insert("Item", ["name": "Zebra", "code": code])
            try context.save()
            #expect(try context.all("Item", "name == 'Zebra'").count == 1)
            let sorted = NSFetchRequest<NSManagedObject>(entityName: "Item")
            sorted.sortDescriptors = [
                NSSortDescriptor(key: "name", ascending: true, selector: Selector("localizedStandardCompare:"))
            ]
            #expect(try context.fetch(sorted).first?.value(forKey: "name") as? String == "kit 0")
            let update = NSBatchUpdateRequest(entityName: "Kit")
            update.propertiesToUpdate = ["stockCount": 7]
            try context.execute(update)
            try context.execute(NSBatchInsertRequest(entityName: "Tag", objects: [["label": "batch"]]))
            let deletion = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
            deletion.predicate = NSPredicate(format: "stockCount == 7")
            try context.execute(NSBatchDeleteRequest(fetchRequest: deletion))
            context.reset()
            #expect(try context.all("Item").count == 1)
            #expect(try context.all("Tag").count == 2)
            for tag in try context.all("Tag") { context.delete(tag) }
            try context.save()
        }
    }

    @Test func whoUsesAStoreNeedsNoMoreThanRowsAndFunctions() throws {
        _ = try open(as: "owner")
        try work(open(as: "app"))
        let tables = tables
        #expect(
            tables.column("SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = '\(schema)'") == [
                "\(schema)_owner"
            ])
        #expect(tables.integer("SELECT count(*) FROM tag") == 0)
    }

    @Test func whoUsesAStoreFollowsOthers() throws {
        let owner = try open(as: "owner")
        let user = try open(
            as: "app", Warehouse.model(), [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
        let told = DispatchSemaphore(value: 0)
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: user.persistentStoreCoordinator, queue: nil
        ) { _ in told.signal() }
        defer { NotificationCenter.default.removeObserver(token) }
        try owner.performAndWait {
            _ = owner.insert("Tag", ["label": "theirs"])
            try owner.save()
        }
        #expect(told.wait(timeout: .now() + 60) == .success)
        #expect(try user.performAndWait { try user.all("Tag").count } == 1)
    }

    /// A role that may not read the number of the last transaction is told of changes by
    /// notifications alone.
    @Test func whoMayNotReadTransactionsIsToldOfThem() throws {
        let owner = try open(as: "owner")
        _ = try tables.result("REVOKE SELECT ON ocd_transaction FROM \(schema)_app")
        let user = try open(
            as: "app", Warehouse.model(), [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
        let told = Counter()
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: user.persistentStoreCoordinator, queue: nil
        ) { _ in told.increase() }
        defer { NotificationCenter.default.removeObserver(token) }
        // The listener may not have begun yet.
        let isTold = try wait {
            try owner.performAndWait {
                _ = owner.insert("Tag", ["label": "theirs"])
                try owner.save()
            }
            return wait(upTo: 1) { told.value > 0 }
        }
        #expect(isTold)
    }

    @Test func rightsAreGivenToAStoreThatIsThere() throws {
        // Made without them.
        _ = try tables.result(
            "ALTER DEFAULT PRIVILEGES FOR ROLE \(schema)_owner IN SCHEMA \(schema) REVOKE ALL ON TABLES FROM "
                + "\(schema)_app; "
                + "ALTER DEFAULT PRIVILEGES FOR ROLE \(schema)_owner IN SCHEMA \(schema) REVOKE ALL ON FUNCTIONS "
                + "FROM \(schema)_app"
        )
        _ = try open(as: "owner")
        let error = try #require(throws: NSError.self) { try open(as: "app") }
        #expect(error.localizedDescription.contains("ocd_store"), "\(error)")
        try grant(1)
        try work(open(as: "app"))
    }

    // MARK: What it may not

    @Test func whoUsesAStoreCannotMigrateIt() throws {
        _ = try open(as: "owner")
        let before = tables.content
        let error = try #require(throws: NSError.self) { try open(as: "app", Self.second()) }
        #expect(error.code == NSMigrationError)
        #expect(error.localizedDescription.contains("'\(schema)_app'"))
        #expect(error.localizedDescription.contains("'\(schema)_owner'"))
        #expect(error.localizedRecoverySuggestion?.contains("as '\(schema)_owner' once") == true)
        #expect(tables.content == before)
    }

    @Test func whatAMigrationMakesCanBeUsed() throws {
        let owner = try open(as: "owner")
        try owner.performAndWait {
            _ = owner.insert("Tag", ["label": "old"])
            try owner.save()
        }
        _ = try open(as: "owner", Self.second())
        let user = try open(as: "app", Self.second())
        try user.performAndWait {
            let tag = try user.all("Tag")[0]
            tag.setValue("red", forKey: "color")
            let shelf = user.insert("Shelf", ["title": "top"])
            shelf.setValue(Set([tag]), forKey: "tags")
            try user.save()
            user.reset()
            #expect(try user.all("Tag", "color ==[c] 'RED' AND ANY shelves.title == 'top'").count == 1)
        }
    }

    @Test func whoMayMakeNothingIsToldSo() throws {
        let error = try #require(throws: NSError.self) { try open(as: "app") }
        #expect(error.localizedDescription.contains("permission denied for schema \(schema)"), "\(error)")
    }

    @Test(arguments: [
        ("SELECT ON item", "item"), ("INSERT ON item", "item"), ("UPDATE ON ocd_store", "ocd_store"),
        ("UPDATE ON ocd_entity", "ocd_entity"), ("INSERT ON ocd_transaction", "ocd_transaction"),
        ("EXECUTE ON FUNCTION ocd_fold", "ocd_fold"), ("SELECT ON item_tags", "item_tags"),
    ])
    func whatARoleLacksIsNamed(right: String, name: String) throws {
        _ = try open(as: "owner")
        _ = try tables.result("REVOKE \(right) FROM \(schema)_app")
        let error = try #require(throws: NSError.self) { try work(open(as: "app")) }
        #expect(error.localizedDescription.contains("permission denied for"), "\(error)")
        #expect(error.localizedDescription.contains(" \(name) "), "\(error)")
        #expect(error.localizedRecoverySuggestion?.contains("Grant the role") == true)
    }
}
