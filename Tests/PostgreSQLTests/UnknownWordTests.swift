import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Servers that refuse what others do which speak PostgreSQL's protocol: whatever it is, a store that does not need it works.
///
/// A word that a server does not know arrives there misspelt: what it says is what it says of things that it has never heard of.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct UnknownWordTests {
    /// What YugabyteDB and CockroachDB do not know, or have learned late.
    static let words = [
        "xmin", "ctid", "text COLLATE \"C\"", "DEFERRABLE", "SET CONSTRAINTS", "pg_notify", "LISTEN ", "LOCK TABLE", "hashtextextended",
        "pg_advisory_xact_lock", "LANGUAGE plpgsql", "CREATE COLLATION", "SET STORAGE", "starts_with", "row_security_active",
        "pg_listening_channels",
    ]

    /// All of them at once, or one by itself. A server that has constraints of both kinds knows how to choose between them.
    static let servers = [words] + words.filter { $0 != "SET CONSTRAINTS" }.map { [$0] }

    private static func proxy(_ words: [String], commitsAtOnce: Bool = false) throws -> PostgreSQLProxy {
        let proxy = try PostgreSQLProxy(WireConnection.server())
        var conduct = PostgreSQLProxy.Conduct()
        conduct.unknownWords = words
        conduct.commitsAtOnce = commitsAtOnce
        proxy.conduct = conduct
        return proxy
    }

    private static var following: [AnyHashable: Any] { [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true] }

    @Test(arguments: servers) func aStoreIsMadeReadAndWritten(words: [String]) throws {
        let proxy = try Self.proxy(words)
        let warehouse = try Warehouse(options: Self.following, through: proxy)
        let context = warehouse.context
        let code = UUID()
        let other = try warehouse.otherProgram()
        try context.performAndWait {
            let makers = ["Ada", "Bo"].map { context.insert("Maker", ["title": $0]) }
            let tags = ["new", "old"].map { context.insert("Tag", ["label": $0]) }
            for index in 0..<60 {
                let item = context.insert(
                    index % 7 == 0 ? "Kit" : "Item",
                    ["name": "item \(index)", "stockCount": index, "maker": makers[index % 2], "tags": NSOrderedSet(array: tags)])
                if index == 0 { item.setValue(code, forKey: "code") }
                if index % 20 == 0 { item.setValue(Data(repeating: UInt8(index), count: 300_000), forKey: "data") }
            }
            try context.save()
            #expect(try context.all("Item", "name BEGINSWITH 'item 1'").count == 11)
            #expect(try context.all("Item", "stockCount > 50 AND maker.title == 'Ada'").count == 4)
            #expect(try context.all("Maker", "SUBQUERY(items, $i, $i.stockCount == 59).@count == 1").count == 1)
            let byName = try context.all("Item", by: "name").compactMap { $0.value(forKey: "name") as? String }
            #expect(
                byName == (0..<60).map { "item \($0)" }.sorted { Array($0.unicodeScalars).lexicographicallyPrecedes($1.unicodeScalars) })
            // What takes functions is refused by name where there are none.
            let hasFunctions = PostgreSQLServer.hasICU && !words.contains("LANGUAGE plpgsql")
            var folded: [NSManagedObject] = []
            let folding = errorThrown { folded = try context.all("Item", "name ==[cd] 'ITÉM 1'") }
            #expect(folded.count == (hasFunctions ? 1 : 0))
            #expect((folding == nil) == hasFunctions, "\(String(describing: folding))")
            if PostgreSQLServer.hasICU, let folding { #expect(folding.localizedDescription.contains("functions")) }
            // A change, a deletion, and a value that others have.
            let items = try context.all("Item", by: "stockCount")
            items[1].setValue("changed", forKey: "name")
            context.delete(items[2])
            try context.save()
            let twin = context.insert("Item", ["name": "twin", "code": code])
            #expect(try #require(errorThrown { try context.save() }).code == NSManagedObjectConstraintMergeError)
            context.delete(twin)
            context.delete(makers[0])
            try context.save()
            #expect(try warehouse.texts("SELECT count(*) FROM item WHERE maker_id IS NULL") == ["29"])
        }
        try other.performAndWait {
            let item = try #require(try other.all("Item", "name == 'changed'").first)
            item.setValue(1000, forKey: "stockCount")
            try other.save()
            #expect((item.value(forKey: "tags") as? NSOrderedSet)?.count == 2)
        }
        try context.performAndWait {
            let item = try #require(try context.all("Item", "name == 'changed'").first)
            context.stalenessInterval = 0
            item.setValue("again", forKey: "name")
            try other.performAndWait {
                try #require(try other.all("Item", "name == 'changed'").first).setValue(1001, forKey: "stockCount")
                try other.save()
            }
            #expect(try #require(errorThrown { try context.save() }).code == NSManagedObjectMergeError)
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            #expect(item.value(forKey: "stockCount") as? Int == 1001)
        }
        #expect(try warehouse.texts("SELECT count(*) FROM ocd_transaction") == ["6"])
    }

    @Test(arguments: servers) func batchesWriteRows(words: [String]) throws {
        let proxy = try Self.proxy(words)
        let warehouse = try Warehouse(through: proxy)
        let context = warehouse.context
        let codes = (0..<100).map { _ in UUID() }
        try context.performAndWait {
            let insertion = NSBatchInsertRequest(
                entityName: "Item",
                objects: codes.enumerated().map { ["name": "n\($0.offset)", "stockCount": $0.offset, "code": $0.element] })
            insertion.resultType = .count
            #expect((try context.execute(insertion) as? NSBatchInsertResult)?.result as? Int == 100)
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let upsert = NSBatchInsertRequest(
                entityName: "Item", objects: (codes[..<10] + [UUID()]).map { ["name": "upserted", "stockCount": -1, "code": $0] })
            try context.execute(upsert)
            #expect(try context.all("Item", "stockCount == -1").count == 11)
            let update = NSBatchUpdateRequest(entityName: "Item")
            update.predicate = NSPredicate(format: "stockCount > 89")
            update.propertiesToUpdate = ["stockCount": NSExpression(forConstantValue: 7)]
            update.resultType = .updatedObjectsCountResultType
            #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 10)
            let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
            fetch.predicate = NSPredicate(format: "stockCount == 7 OR stockCount == -1")
            let deletion = NSBatchDeleteRequest(fetchRequest: fetch)
            deletion.resultType = .resultTypeCount
            #expect((try context.execute(deletion) as? NSBatchDeleteResult)?.result as? Int == 21)
        }
        #expect(try warehouse.texts("SELECT count(*) FROM item") == ["80"])
        // What leads to rows that a batch deletes leads nowhere afterwards, whether there are foreign keys or not.
        try context.performAndWait {
            let maker = context.insert("Maker", ["title": "Ada"])
            let tag = context.insert("Tag", ["label": "new"])
            for item in try context.all("Item").prefix(5) {
                item.setValue(maker, forKey: "maker")
                item.setValue(NSOrderedSet(object: tag), forKey: "tags")
            }
            try context.save()
            for entity in ["Maker", "Tag"] {
                try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: entity)))
            }
        }
        #expect(try warehouse.texts("SELECT count(maker_id) FROM item") == ["0"])
        #expect(try warehouse.texts("SELECT count(*) FROM item_tags") == ["0"])
    }

    @Test(arguments: servers) func othersAreFollowed(words: [String]) throws {
        let proxy = try Self.proxy(words)
        let warehouse = try Warehouse(options: Self.following, through: proxy)
        let context = warehouse.context
        context.automaticallyMergesChangesFromParent = true
        let tag = try context.performAndWait {
            let tag = context.insert("Tag", ["label": "before"])
            try context.save()
            return tag
        }
        let other = try warehouse.otherProgram()
        try other.performAndWait {
            try other.all("Tag")[0].setValue("after", forKey: "label")
            try other.save()
        }
        let follows = wait(upTo: 20) { context.performAndWait { tag.value(forKey: "label") as? String == "after" } }
        #expect(follows)
    }

    /// Whoever has a store open that another program migrates is told so, by whatever a server tells one content from another.
    @Test(arguments: servers) func aStoreIsMigratedWhileItIsOpen(words: [String]) throws {
        let proxy = try Self.proxy(words)
        let shelves = try Warehouse(through: proxy)
        try shelves.context.performAndWait {
            for index in 0..<5 { _ = shelves.context.insert("Item", ["name": "\(index)", "code": UUID()]) }
            try shelves.context.save()
        }
        let newer = Warehouse.model()
        let item = try #require(newer.entitiesByName["Item"])
        item.properties += [NSAttributeDescription("remarks", .stringAttributeType)]
        let thumbnail = NSAttributeDescription("thumbnail", .binaryDataAttributeType)
        thumbnail.allowsExternalBinaryDataStorage = true
        item.properties += [thumbnail]
        item.uniquenessConstraints = [["code"], ["remarks"]]
        let owner = NSEntityDescription("Owner", class: "NSManagedObject", [NSAttributeDescription("title", .stringAttributeType)])
        newer.entities += [owner]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: newer)
        let options = [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
        let store = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: shelves.url, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let items = try context.all("Item", by: "name")
            #expect(items.count == 5)
            items[0].setValue("unique", forKey: "remarks")
            _ = context.insert("Owner", ["title": "of nothing"])
            try context.save()
        }
        shelves.context.performAndWait {
            _ = shelves.context.insert("Tag", ["label": "too late"])
            let error = errorThrown { try shelves.context.save() }
            #expect(error?.code == CocoaError.persistentStoreIncompatibleVersionHash.rawValue)
        }
        try coordinator.remove(store)
        try coordinator.destroyPersistentStore(at: shelves.url, ofType: NSPostgreSQLStoreType, options: nil)
        #expect(try shelves.texts("SELECT count(*) FROM pg_namespace WHERE nspname = '\(shelves.schema)'") == ["0"])
    }

    @Test(arguments: servers) func aFileMovesToTheServerAndIsCopiedThere(words: [String]) throws {
        let server = try WireConnection.server()
        let proxy = try Self.proxy(words)
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        let file = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.url.appendingPathComponent("a.sqlite"), options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let maker = context.insert("Maker", ["title": "Ada"])
            for index in 0..<300 { _ = context.insert("Item", ["name": "\(index)", "maker": maker]) }
            try context.save()
        }
        let schemas = [server.newSchemaName(), server.newSchemaName()]
        let moved = try coordinator.migratePersistentStore(
            file, to: proxy.url(schema: schemas[0]), options: nil, withType: NSPostgreSQLStoreType)
        try coordinator.remove(moved)
        try coordinator.replacePersistentStore(
            at: proxy.url(schema: schemas[1]), destinationOptions: nil, withPersistentStoreFrom: proxy.url(schema: schemas[0]),
            sourceOptions: nil, ofType: NSPostgreSQLStoreType)
        let copied = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: proxy.url(schema: schemas[1]), options: nil)
        try context.performAndWait {
            let maker = try #require(try context.all("Maker").first)
            #expect((maker.value(forKey: "items") as? Set<NSManagedObject>)?.count == 300)
        }
        try coordinator.remove(copied)
    }

    // MARK: Tables of others

    private static let wordsOfOthers = [
        "xmin", "SET CONSTRAINTS", "pg_current_xact_id", "pg_control_system", "pg_postmaster_start_time", "pg_advisory_xact_lock",
        "LOCK TABLE", "row_security_active", "starts_with",
    ]

    /// Tables of others have columns of versions there.
    @Test(arguments: [wordsOfOthers] + wordsOfOthers.map { [$0] }) func tablesOfOthersAreReadAndWritten(words: [String]) throws {
        let proxy = try Self.proxy(words)
        let columns = ["tags", "products"].map { "ALTER TABLE \($0) ADD lock_version integer NOT NULL DEFAULT 0;" }.joined()
        let shop = try GivenShop(sql: GivenShop.sql + columns, through: proxy) { model in
            for entity in model.entities { entity.userInfo?["ocd.version"] = "lock_version" }
        }
        let context = shop.context
        try context.performAndWait {
            let maker = context.insert("Maker", ["name": "Ada"])
            let tag = context.insert("Tag", ["label": "new"])
            for index in 0..<3 {
                let product = context.insert("Product", ["name": "product \(index)", "sku": "s\(index)", "maker": maker])
                product.setValue(NSSet(object: tag), forKey: "tags")
            }
            try context.save()
            #expect(try context.all("Product", "name BEGINSWITH 'prod' AND maker.name == 'Ada' AND ANY tags.label == 'new'").count == 3)
        }
        let other = try shop.otherProgram()
        try other.performAndWait {
            try #require(try other.all("Product", "sku == 's1'").first).setValue("theirs", forKey: "name")
            try other.save()
        }
        try context.performAndWait {
            let product = try #require(try context.all("Product", "sku == 's1'").first)
            product.setValue("mine", forKey: "name")
            #expect(try #require(errorThrown { try context.save() }).code == NSManagedObjectMergeError)
            context.rollback()
            let update = NSBatchUpdateRequest(entityName: "Product")
            update.propertiesToUpdate = ["stock": NSExpression(forConstantValue: 7)]
            update.resultType = .updatedObjectsCountResultType
            #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 3)
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let upsert = NSBatchInsertRequest(
                entityName: "Product", objects: [["name": "again", "sku": "s2"], ["name": "other", "sku": "s9"]])
            try context.execute(upsert)
            context.reset()
            #expect(
                try context.all("Product", by: "sku").map { $0.value(forKey: "name") as? String } == [
                    "product 0", "theirs", "again", "other",
                ])
        }
    }

    // MARK: Servers whose changes of tables stay

    /// The tables in a schema.
    private func tables(_ schema: String) throws -> [String?] {
        let connection = try WireConnection.open(WireConnection.server().connectionString())
        defer { connection.close() }
        return try connection.texts(
            "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = to_regnamespace('\(schema)')")
    }

    @Test func aStoreIsMadeWhereTablesStay() throws {
        let server = try WireConnection.server()
        let proxy = try Self.proxy(Self.words, commitsAtOnce: true)
        let schema = server.newSchemaName()
        let opened = Counter()
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            do {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
                try coordinator.addPersistentStore(
                    ofType: NSPostgreSQLStoreType, configurationName: nil, at: proxy.url(schema: schema), options: nil)
                opened.increase()
            } catch { Issue.record("\(error)") }
        }
        #expect(opened.value == 4)
        let proxied = try Self.proxy(Self.words)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: proxied.url(schema: schema), options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            _ = context.insert("Item", ["name": "a", "maker": context.insert("Maker", ["title": "b"])])
            try context.save()
            #expect(try context.all("Item", "maker.title == 'b'").count == 1)
        }
        try coordinator.destroyPersistentStore(at: proxy.url(schema: schema), ofType: NSPostgreSQLStoreType, options: nil)
        let connection = try WireConnection.open(server.connectionString())
        defer { connection.close() }
        #expect(try connection.texts("SELECT nspname::text FROM pg_namespace WHERE nspname = '\(schema)'") == [])
    }

    /// What was made before the server refused something does not stay.
    @Test(arguments: [true, false]) func derivedAttributesAreRefusedByName(commitsAtOnce: Bool) throws {
        let server = try WireConnection.server()
        let proxy = try Self.proxy(["CREATE TRIGGER"], commitsAtOnce: commitsAtOnce)
        let model = Warehouse.model()
        let count = NSDerivedAttributeDescription()
        count.name = "itemCount"
        count.attributeType = .integer64AttributeType
        count.derivationExpression = NSExpression(format: "items.@count")
        let maker = try #require(model.entitiesByName["Maker"])
        maker.properties += [count]
        let schema = server.newSchemaName()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let error = errorThrown {
            try coordinator.addPersistentStore(
                ofType: NSPostgreSQLStoreType, configurationName: nil, at: proxy.url(schema: schema), options: nil)
        }
        #expect(error?.localizedDescription.contains("'itemCount' of 'Maker'") == true, "\(String(describing: error))")
        #expect(try tables(schema) == [])
        // The next program makes a store there.
        let plain = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        try plain.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: proxy.url(schema: schema), options: nil)
        #expect(try tables(schema).count == 8)
    }

    /// Whoever was stopped while a store was made has left what nobody can use, and nothing is done to it.
    @Test func anUnfinishedStoreIsSaidToBeOne() throws {
        let server = try WireConnection.server()
        let schema = server.newSchemaName()
        let connection = try WireConnection.open(server.connectionString())
        defer { connection.close() }
        try connection.run("CREATE SCHEMA \(schema); SET search_path TO \(schema); \(PostgreSQLHousekeeping.statements[0])")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        let error = errorThrown {
            try coordinator.addPersistentStore(
                ofType: NSPostgreSQLStoreType, configurationName: nil, at: server.url(schema: schema),
                options: [NSPersistentStoreTimeoutOption: 0.5])
        }
        #expect(error?.localizedDescription.contains("is not finished") == true, "\(String(describing: error))")
        #expect(try tables(schema) == ["ocd_store"])
    }

    @Test func aStoreIsNotMigratedWhereTablesStay() throws {
        let warehouse = try Warehouse()
        try warehouse.context.performAndWait {
            _ = warehouse.context.insert("Item", ["name": "a"])
            try warehouse.context.save()
        }
        let before = try tables(warehouse.schema)
        let newer = Warehouse.model()
        newer.entitiesByName["Item"]?.properties += [NSAttributeDescription("remarks", .stringAttributeType)]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: newer)
        let proxy = try Self.proxy([], commitsAtOnce: true)
        let options = [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
        let error = errorThrown {
            try coordinator.addPersistentStore(
                ofType: NSPostgreSQLStoreType, configurationName: nil, at: proxy.url(schema: warehouse.schema), options: options)
        }
        #expect(error?.code == CocoaError.migration.rawValue, "\(String(describing: error))")
        #expect(error?.localizedDescription.contains("does not undo changes of tables") == true)
        #expect(try tables(warehouse.schema) == before)
        #expect(try warehouse.context.performAndWait { try warehouse.context.all("Item").count } == 1)
    }

    /// A store is copied to where there is none, with indexes that have all its rows, and one that is there is not touched.
    @Test func aStoreIsNotReplacedWhereTablesStay() throws {
        let warehouse = try Warehouse()
        try warehouse.context.performAndWait {
            for index in 0..<50 { _ = warehouse.context.insert("Item", ["name": "\(index)", "code": UUID()]) }
            try warehouse.context.save()
        }
        let server = try WireConnection.server()
        let proxy = try Self.proxy(["DEFERRABLE"], commitsAtOnce: true)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        let url = proxy.url(schema: server.newSchemaName())
        func replace() throws {
            try coordinator.replacePersistentStore(
                at: url, destinationOptions: nil, withPersistentStoreFrom: warehouse.url, sourceOptions: nil, ofType: NSPostgreSQLStoreType)
        }
        try replace()
        let error = errorThrown { try replace() }
        #expect(error?.localizedDescription.contains("does not undo changes of tables") == true, "\(String(describing: error))")
        try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        #expect(try context.performAndWait { try context.all("Item", "name == '7'").count } == 1)
    }
}
