import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Stores whose triggers tell of what programs without the package write.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct OtherWriterTests {
    private static let telling = [NSPostgreSQLTellsOfAllWritersOption: true]
    private static let following = [
        NSPostgreSQLTellsOfAllWritersOption: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
    ]

    private func lastTransaction(_ tables: PostgreSQLTables) -> Int {
        tables.integer("SELECT COALESCE(max(number), 0) FROM ocd_transaction") ?? -1
    }

    @Test func contextsThatMergeShowWhatOthersHaveWritten() throws {
        let warehouse = try Warehouse(options: Self.following)
        let context = warehouse.context
        context.automaticallyMergesChangesFromParent = true
        let item = try context.performAndWait {
            let item = context.insert("Item", ["name": "before"])
            try context.save()
            return item
        }
        // Each further change is told too, should the listener have begun after the first.
        var number = 0
        let follows = try wait(upTo: 20) {
            number += 1
            try warehouse.run("UPDATE item SET name = 'after', stock_count = \(number)")
            return wait(upTo: 1) { context.performAndWait { item.value(forKey: "name") as? String == "after" } }
        }
        #expect(follows)
    }

    @Test func aTransactionOfOthersIsRecordedOnceWhenItIsCommitted() throws {
        let warehouse = try Warehouse(options: Self.telling)
        let tables = PostgreSQLTables(warehouse.url)
        #expect(lastTransaction(tables) == 0)
        _ = try tables.result(
            "BEGIN; INSERT INTO maker (title) VALUES ('a'), ('b'); UPDATE maker SET title = 'c'; DELETE FROM maker "
                + "WHERE id = 1"
        )
        #expect(lastTransaction(tables) == 0)
        _ = try tables.result("COMMIT")
        #expect(lastTransaction(tables) == 1)
        _ = try tables.result("BEGIN; UPDATE maker SET title = 'd'; ROLLBACK")
        _ = try tables.result("UPDATE maker SET title = 'e' WHERE id = -1")
        #expect(lastTransaction(tables) == 1)
        _ = try tables.result("DELETE FROM maker")
        #expect(lastTransaction(tables) == 2)
    }

    @Test func savesAreRecordedOnce() throws {
        let warehouse = try Warehouse(options: Self.telling)
        let context = warehouse.context
        try context.performAndWait {
            let item = context.insert(
                "Item", ["name": "a", "tags": NSOrderedSet(object: context.insert("Tag", ["label": "t"]))])
            try context.save()
            item.setValue("b", forKey: "name")
            try context.save()
            let update = NSBatchUpdateRequest(entityName: "Item")
            update.propertiesToUpdate = ["name": "c"]
            _ = try context.execute(update)
        }
        let tables = PostgreSQLTables(warehouse.url)
        #expect(lastTransaction(tables) == 3)
        #expect(tables.rows("SELECT name, version FROM item") == [["c", "3"]])
    }

    @Test func theVersionsOfRowsThatOthersChangeAreRaised() throws {
        let warehouse = try Warehouse(options: Self.telling)
        let context = warehouse.context
        try context.performAndWait {
            let item = context.insert("Item", ["name": "mine"])
            try context.save()
            let tables = PostgreSQLTables(warehouse.url)
            _ = try tables.result("UPDATE item SET name = 'theirs'")
            #expect(tables.value("SELECT version FROM item") == "2")
            _ = try tables.result("UPDATE item SET name = 'raised by hand', version = version + 1")
            #expect(tables.value("SELECT version FROM item") == "3")
            item.setValue("late", forKey: "name")
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.code == NSManagedObjectMergeError)
        }
    }

    /// The triggers stay where they are, and an option that comes later makes them too.
    @Test func aStoreThatIsThereGetsTheTriggersWithTheOption() throws {
        let warehouse = try Warehouse()
        let tables = PostgreSQLTables(warehouse.url)
        let count =
            "SELECT count(*) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE relnamespace = "
            + "current_schema()::regnamespace AND tgname = 'ocd_tell'"
        #expect(tables.integer(count) == 0)
        _ = try warehouse.otherProgram(options: Self.telling)
        _ = try warehouse.otherProgram(options: Self.telling)
        #expect(tables.integer(count) == 4)
        _ = try tables.result(
            "INSERT INTO item (entity, name, stock_count) SELECT number, 'by hand', 1 FROM ocd_entity WHERE name = "
                + "'Item'"
        )
        #expect(lastTransaction(tables) == 1)
    }

    @Test func whoDoesNotOwnTheTablesIsToldSo() throws {
        let warehouse = try Warehouse()
        let tables = PostgreSQLTables(warehouse.url)
        let role = "user_\(warehouse.schema)"
        _ = try tables.result(
            "CREATE ROLE \(role) LOGIN; GRANT USAGE ON SCHEMA \(warehouse.schema) TO \(role); "
                + "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(warehouse.schema) TO \(role)")
        let url = try #require(
            URL(string: warehouse.url.absoluteString.replacingOccurrences(of: "user=app", with: "user=\(role)")))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        _ = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: url, options: Self.telling)
        #expect(
            Warnings.all.contains { $0.contains(warehouse.schema) && $0.contains(NSPostgreSQLTellsOfAllWritersOption) })
    }
}
