import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Transactions that the server ends because they meet others in a way that only trying again can
/// solve.
@Suite(.long, .enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct SerializationFailureTests {
    enum Writing: String, CaseIterable {
        case save
        case copy
        case batchInsertion
        case batchUpdate
        case batchDeletion
    }

    private let warehouse: Warehouse

    init() throws {
        warehouse = try Warehouse()
        try warehouse.context.performAndWait {
            for number in 0..<3 { _ = warehouse.context.insert("Item", ["name": "there \(number)"]) }
            try warehouse.context.save()
        }
    }

    /// Has the first statements that write items fail. A sequence counts also what is rolled back.
    private func failFirst(_ count: Int, _ state: String, atCommit: Bool) throws {
        try warehouse.run(
            """
            CREATE SEQUENCE attempts; \
            CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
            IF nextval('attempts') <= \(count) THEN RAISE EXCEPTION 'met' USING ERRCODE = '\(state)'; END IF; RETURN \
            NULL; END $$; \
            CREATE \(atCommit ? "CONSTRAINT " : "")TRIGGER fail AFTER INSERT OR UPDATE OR DELETE ON item \
            \(atCommit ? "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW" : "FOR EACH STATEMENT") EXECUTE FUNCTION fail()
            """)
    }

    private func write(_ writing: Writing) throws {
        let context = warehouse.context
        try context.performAndWait {
            switch writing {
            case .save:
                _ = context.insert("Item", ["name": "new"])
                try context.save()
            case .copy:
                for number in 0..<70 { _ = context.insert("Item", ["name": "new \(number)"]) }
                try context.save()
            case .batchInsertion:
                try context.execute(NSBatchInsertRequest(entityName: "Item", objects: [["name": "new"]]))
            case .batchUpdate:
                let update = NSBatchUpdateRequest(entityName: "Item")
                update.propertiesToUpdate = ["stockCount": 9]
                update.predicate = NSPredicate(format: "name == 'there 1'")
                try context.execute(update)
            case .batchDeletion:
                let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Item")
                fetch.predicate = NSPredicate(format: "name == 'there 1'")
                try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
            }
        }
    }

    private func content() throws -> String? {
        try warehouse.texts(
            "SELECT count(*) || ' ' || count(DISTINCT name) || ' ' || coalesce(sum(stock_count), 0) FROM item")[0]
    }

    private func expected(_ writing: Writing) -> String {
        switch writing {
        case .save, .batchInsertion: "4 4 0"
        case .copy: "73 73 0"
        case .batchUpdate: "3 3 9"
        case .batchDeletion: "2 2 0"
        }
    }

    @Test(arguments: Writing.allCases, ["40001", "40P01"]) func whatIsEndedIsTriedAgain(
        _ writing: Writing, state: String
    ) throws {
        for atCommit in [false, true] {
            let test = try Self()
            try test.failFirst(3, state, atCommit: atCommit)
            try test.write(writing)
            #expect(try test.content() == expected(writing), "at commit: \(atCommit)")
            // What is copied has a trigger's call for each row at the commit.
            let calls = atCommit && writing == .copy ? 73 : 4
            #expect(
                try test.warehouse.texts("SELECT last_value FROM attempts") == ["\(calls)"], "at commit: \(atCommit)")
            // The numbers of transactions have no gaps: what was rolled back was no transaction.
            #expect(try test.warehouse.texts("SELECT number FROM ocd_transaction ORDER BY 1") == ["1", "2"])
        }
    }

    @Test(arguments: Writing.allCases) func whatIsAlwaysEndedIsGivenUp(_ writing: Writing) throws {
        try failFirst(1_000_000, "40001", atCommit: false)
        let error = try #require(throws: NSError.self) { try write(writing) }
        #expect(error.userInfo["SQLSTATE"] as? String == "40001", "\(error)")
        #expect(try content() == "3 3 0")
        #expect(try warehouse.texts("SELECT last_value FROM attempts") == ["10"])
        // Nothing is lost: when the others are gone the same save succeeds.
        if writing == .save || writing == .copy {
            try warehouse.run("DROP TRIGGER fail ON item")
            try warehouse.context.performAndWait { try warehouse.context.save() }
            #expect(try content() == expected(writing))
        }
    }

    /// Two stores of one coordinator: what the other one has written in the meantime is not written
    /// again.
    @Test(arguments: [false, true]) func aSaveOfSeveralStoresIsDoneOnceOrNotAtAll(isSecond: Bool) throws {
        let other = try Warehouse()
        let store = try warehouse.coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: other.url, options: nil)
        try failFirst(1, "40001", atCommit: isSecond)
        let context = warehouse.context
        context.performAndWait {
            for target in [warehouse.store, store] {
                context.assign(context.insert("Item", ["name": "new"]), to: target)
            }
            var failures = 0
            while context.hasChanges, failures < 3 {
                do { try context.save() } catch {
                    failures += 1
                    #expect((error as NSError).userInfo["SQLSTATE"] as? String == "40001", "\(error)")
                }
            }
            #expect(!context.hasChanges)
        }
        #expect(try content() == "4 4 0")
        #expect(try other.texts("SELECT count(*) FROM item") == ["1"])
    }
}
