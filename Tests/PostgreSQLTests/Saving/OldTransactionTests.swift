import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// The rows that saves leave behind, so that it can be asked what became of them.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct OldTransactionTests {
    private let warehouse: Warehouse

    init() throws {
        warehouse = try Warehouse()
        try warehouse.context.performAndWait { try save("first") }
        // Thousands of saves of long ago.
        try warehouse.run(
            "UPDATE ocd_transaction SET at = at - interval '3 years' WHERE number = 1; INSERT INTO ocd_transaction "
                + "SELECT n, gen_random_uuid(), now() - interval '31 days' + n * interval '1 second' FROM "
                + "generate_series(2, 5000) AS n; "
                + "INSERT INTO ocd_transaction SELECT n, gen_random_uuid(), now() - interval '29 days' FROM "
                + "generate_series(5001, 6996) AS n; "
                + "UPDATE ocd_store SET last_transaction = 6996")
    }

    private func save(_ name: String) throws {
        _ = warehouse.context.insert("Item", ["name": name])
        try warehouse.context.save()
    }

    private var numbers: [String?] {
        get throws { try warehouse.texts("SELECT min(number) || ' ' || count(*) FROM ocd_transaction") }
    }

    @Test(arguments: ["save", "batch"]) func oneOfAThousandSavesRemovesOldOnes(kind: String) throws {
        try warehouse.context.performAndWait {
            for number in 6997...6999 { try save("\(number)") }
            #expect(try numbers == ["1 6999"])
            if kind == "save" {
                try save("last")
            } else {
                _ = try warehouse.context.execute(NSBatchInsertRequest(entityName: "Item", objects: [["name": "last"]]))
            }
            // Those that somebody may still ask for are there.
            #expect(try numbers == ["5001 2000"])
            try save("next")
            #expect(try numbers == ["5001 2001"])
        }
        #expect(try warehouse.texts("SELECT count(*) FROM item") == ["6"])
        #expect(try warehouse.texts("SELECT max(number) FROM ocd_transaction") == ["7001"])
    }

    /// A role that may not remove rows saves all the same.
    @Test func whoMayNotRemoveThemSaves() throws {
        let role = "\(warehouse.schema)_saver"
        let schema = warehouse.schema
        try warehouse.run(
            "CREATE ROLE \(role) LOGIN; GRANT USAGE ON SCHEMA \(schema) TO \(role); GRANT SELECT, INSERT, UPDATE ON "
                + "ALL TABLES IN SCHEMA "
                + "\(schema) TO \(role)")
        let url = try #require(
            URL(string: warehouse.url.absoluteString.replacingOccurrences(of: "user=app", with: "user=\(role)")))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url)
        let context = coordinator.newContext()
        try context.performAndWait {
            for number in 6997...7001 {
                _ = context.insert("Item", ["name": "\(number)"])
                try context.save()
            }
        }
        #expect(try numbers == ["1 7001"])
    }
}
