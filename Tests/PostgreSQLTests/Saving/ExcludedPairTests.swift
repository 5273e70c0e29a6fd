import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Rows that the server leaves out, beside what else a save may meet.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct ExcludedPairTests {
    private let warehouse: Warehouse

    /// The trigger is there before the store is opened.
    private static let trigger = """
        CREATE FUNCTION keep_out() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE r record; BEGIN \
        r := coalesce(NEW, OLD); IF r.name = 'kept out' THEN RETURN NULL; END IF; RETURN r; END $$; \
        CREATE TRIGGER keep_out BEFORE INSERT OR UPDATE OR DELETE ON item FOR EACH ROW EXECUTE FUNCTION keep_out()
        """

    init() throws {
        warehouse = try Warehouse()
        try warehouse.context.performAndWait {
            for number in 0..<4 {
                _ = warehouse.context.insert("Item", ["name": "\(number)", "code": Self.code(number)])
            }
            try warehouse.context.save()
        }
        try warehouse.run(Self.trigger)
    }

    private static func code(_ number: Int) -> UUID {
        UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number)))
    }

    private func names(_ warehouse: Warehouse) throws -> [String?] {
        try warehouse.texts("SELECT name FROM item ORDER BY name")
    }

    /// Both stores or none, whichever is written last.
    @Test(arguments: [0, 1], [NSPostgreSQLStoreType, NSSQLiteStoreType, NSInMemoryStoreType])
    func ofSeveralStoresNoneIsWritten(place: Int, type: String) throws {
        let plain = try Warehouse()
        let folder = try TemporaryFolder()
        let url = type == NSPostgreSQLStoreType ? plain.url : folder.url.appendingPathComponent("plain.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        var stores: [NSPersistentStore] = []
        for (kind, url) in place == 0
            ? [(NSPostgreSQLStoreType, warehouse.url), (type, url)]
            : [(type, url), (NSPostgreSQLStoreType, warehouse.url)]
        {
            stores.append(
                try coordinator.addPersistentStore(
                    ofType: kind, configurationName: nil, at: kind == NSInMemoryStoreType ? nil : url, options: nil))
        }
        let context = coordinator.newContext()
        try context.performAndWait {
            context.assign(context.insert("Item", ["name": "kept out"]), to: stores[place])
            context.assign(context.insert("Item", ["name": "new"]), to: stores[1 - place])
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.localizedDescription.contains("Of 1 rows of 'Item' to be inserted"), "\(error)")
            #expect(try context.fetchedNames("new", in: stores[1 - place]) == 0)
            try warehouse.run("DROP TRIGGER keep_out ON item")
            try context.save()
            #expect(try context.fetchedNames("new", in: stores[1 - place]) == 1)
        }
        #expect(try names(warehouse) == ["0", "1", "2", "3", "kept out"])
    }

    /// A unique value that somebody has, and another row that is left out: nothing is saved before
    /// both are settled.
    @Test func aViolationMayStandInTheSameSave() throws {
        let context = try warehouse.otherProgram()
        try context.performAndWait {
            _ = context.insert("Item", ["name": "kept out"])
            _ = context.insert("Item", ["name": "again", "code": Self.code(1)])
            var error = try #require(throws: NSError.self) { try context.save() }
            #expect(
                error.code == NSManagedObjectConstraintMergeError
                    || error.localizedDescription.contains("to be inserted"), "\(error)")
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.localizedDescription.contains("rows of 'Item' to be inserted"), "\(error)")
            #expect(try names(warehouse) == ["0", "1", "2", "3"])
            try warehouse.run("DROP TRIGGER keep_out ON item")
            try context.save()
        }
        #expect(try names(warehouse) == ["0", "2", "3", "again", "kept out"])
    }

    /// Rows of upserts that are changed, and such that are new.
    @Test(arguments: [2, 70]) func anUpsertThatIsNotWrittenWholeIsNone(count: Int) throws {
        try warehouse.run(
            "ALTER TABLE item DISABLE TRIGGER keep_out; UPDATE item SET name = 'kept out' WHERE name = '1'; "
                + "ALTER TABLE item ENABLE TRIGGER keep_out")
        let context = try warehouse.otherProgram()
        try context.performAndWait {
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let objects = (0..<count).map { number in
                ["name": number == 1 ? "kept out" : "upsert \(number)", "code": Self.code(number), "stockCount": 7]
                    as [String: Any]
            }
            let error = try #require(throws: NSError.self) {
                try context.execute(NSBatchInsertRequest(entityName: "Item", objects: objects))
            }
            #expect(error.localizedDescription.contains("rows of 'Item' to be changed"), "\(error)")
        }
        #expect(try names(warehouse) == ["0", "2", "3", "kept out"])
    }

    /// Copying a store into one whose tables leave out rows.
    @Test func aCopyThatIsNotWholeIsNone() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        let source = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = coordinator.newContext()
        try context.performAndWait {
            for number in 0..<70 { _ = context.insert("Item", ["name": number == 30 ? "kept out" : "copy \(number)"]) }
            try context.save()
        }
        let error = try #require(throws: NSError.self) {
            try coordinator.migratePersistentStore(source, to: warehouse.url, withType: NSPostgreSQLStoreType)
        }
        #expect(error.localizedDescription.contains("rows of 'Item' to be inserted"), "\(error)")
        #expect(try names(warehouse).filter { $0?.hasPrefix("copy") == true }.isEmpty)
    }

    @Test(.enabled(if: Pooler.program != nil, "needs PgBouncer")) func aPoolerStandsBetween() throws {
        let server = try WireConnection.server()
        let pooler = try Pooler(server)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        _ = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: pooler.url(schema: warehouse.schema),
            options: nil)
        let context = coordinator.newContext()
        try context.performAndWait {
            for item in try context.all("Item", nil, by: "name") { item.setValue(5, forKey: "stockCount") }
            try context.save()
            _ = context.insert("Item", ["name": "kept out"])
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.localizedDescription.contains("Nothing was saved"), "\(error)")
        }
        #expect(try warehouse.texts("SELECT count(*) || ' ' || sum(stock_count) FROM item") == ["4 20"])
        withExtendedLifetime(pooler) {}
    }

    /// The answer to a commit is lost beside what is looked at before it.
    @Test(arguments: [false, true]) func aLostAnswerIsLookedUp(arrives: Bool) throws {
        let proxy = try PostgreSQLProxy(WireConnection.server())
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: proxy.url(schema: warehouse.schema), options: nil
        )
        let context = coordinator.newContext()
        try context.performAndWait {
            let new = context.insert("Item", ["name": "new"])
            try context.obtainPermanentIDs(for: [new])
            if arrives { proxy.conduct.losesCommit = true } else { proxy.conduct.dropsCommit = true }
            try context.save()
            #expect(proxy.cuts == 1)
        }
        #expect(try names(warehouse) == ["0", "1", "2", "3", "new"])
    }
}

extension NSManagedObjectContext {
    /// How many items of a name a store has.
    fileprivate func fetchedNames(_ name: String, in store: NSPersistentStore) throws -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = NSPredicate(format: "name == %@", name)
        request.affectedStores = [store]
        request.includesPendingChanges = false
        return try count(for: request)
    }
}
