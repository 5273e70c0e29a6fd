import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Columns of versions of eight bytes, which some programs fill with times.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct WideVersionTests {
    private let shop: ExternalShop
    private var context: NSManagedObjectContext { shop.context }

    init() throws {
        let sql = ExternalShop.sql.replacingOccurrences(of: "lock_version integer", with: "lock_version bigint")
        #expect(sql != ExternalShop.sql)
        shop = try ExternalShop(sql: sql)
    }

    private static let bases: [Int64] = [
        0, 1_764_104_320_123, .init(UInt32.max) - 1, .init(UInt32.max), -1, -(1 << 40), 1 << 62,
    ]

    @Test(arguments: bases) func theWholeNumberIsRaised(base: Int64) throws {
        try shop.run("INSERT INTO makers (name, lock_version) SELECT 'm' || n, \(base) FROM generate_series(1, 3) AS n")
        try context.performAndWait {
            let makers = try context.all("Maker")
            for round in 1...3 {
                for maker in makers { maker.setValue("round \(round)", forKey: "name") }
                try context.save()
                #expect(try shop.texts("SELECT DISTINCT lock_version FROM makers") == ["\(base + Int64(round))"])
            }
            // Others are noticed, and what they have written stays.
            try shop.run("UPDATE makers SET name = 'theirs', lock_version = lock_version + 1 WHERE id = 2")
            for maker in makers { maker.setValue("ours", forKey: "name") }
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect((error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.count == 1)
            #expect(try shop.texts("SELECT name FROM makers ORDER BY id") == ["round 3", "theirs", "round 3"])
            context.mergePolicy = NSMergePolicy.overwrite
            try context.save()
            #expect(
                try shop.texts("SELECT name || ' ' || lock_version FROM makers ORDER BY id") == [
                    "ours \(base + 4)", "ours \(base + 5)", "ours \(base + 4)",
                ])
            context.delete(makers[0])
            try context.save()
            #expect(try shop.texts("SELECT count(*) FROM makers") == ["2"])
        }
    }

    /// The rows are so many that their update checks the versions itself, without locks before it.
    @Test(arguments: bases) func manyAreChangedWithoutLocks(base: Int64) throws {
        try shop.run(
            "INSERT INTO makers (name, lock_version) SELECT 'm' || n, \(base) FROM generate_series(1, 1500) AS n")
        try context.performAndWait {
            let makers = try context.all("Maker")
            for maker in makers { maker.setValue("first", forKey: "name") }
            try context.save()
            #expect(
                try shop.texts("SELECT DISTINCT name || ' ' || lock_version || ' ' || count(*) OVER () FROM makers")
                    == [
                        "first \(base + 1) 1500"
                    ])
            try shop.run("UPDATE makers SET name = 'theirs', lock_version = lock_version + 1 WHERE id = 700")
            for maker in makers { maker.setValue("second", forKey: "name") }
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect((error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.count == 1)
            #expect(try shop.texts("SELECT count(*) FROM makers WHERE name = 'second'") == ["0"])
        }
    }

    /// The version that others have written last counts, though the last bits of its number are
    /// smaller.
    @Test func whatWasReadLastCounts() throws {
        try shop.run("INSERT INTO makers (name, lock_version) VALUES ('old', \(UInt32.max))")
        try context.performAndWait {
            let maker = try #require(try context.all("Maker").first)
            #expect(maker.text("name") == "old")
            try shop.run("UPDATE makers SET name = 'new', lock_version = lock_version + 5")
            context.stalenessInterval = 0
            context.refresh(maker, mergeChanges: false)
            #expect(maker.text("name") == "new")
            maker.setValue("newer", forKey: "name")
            try context.save()
        }
        #expect(try shop.texts("SELECT name || ' ' || lock_version FROM makers") == ["newer \(Int64(UInt32.max) + 6)"])
    }

    /// Batches raise the whole number too, and objects notice that.
    @Test(arguments: bases) func batchesRaiseTheWholeNumber(base: Int64) throws {
        try shop.run("INSERT INTO makers (name, lock_version) SELECT 'm' || n, \(base) FROM generate_series(1, 3) AS n")
        try context.performAndWait {
            let makers = try context.all("Maker", nil, by: "name")
            #expect(makers.map { $0.text("name") } == ["m1", "m2", "m3"])
            let update = NSBatchUpdateRequest(entityName: "Maker")
            update.propertiesToUpdate = ["country": "GB"]
            try context.execute(update)
            #expect(try shop.texts("SELECT DISTINCT lock_version FROM makers") == ["\(base + 1)"])
            makers[0].setValue("ours", forKey: "name")
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect((error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.count == 1)
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            #expect(
                try shop.texts("SELECT concat_ws(' ', name, trim(country), lock_version) FROM makers ORDER BY id")[0]
                    == "ours GB \(base + 2)")
        }
    }

    /// An upsert changes rows whose versions are wide, or none at all.
    @Test(arguments: bases.map(Optional.some) + [nil]) func upsertsRaiseTheWholeNumber(base: Int64?) throws {
        let start = base.map(String.init) ?? "NULL"
        try shop.run(
            """
            ALTER TABLE makers ADD UNIQUE (name); ALTER TABLE makers ALTER lock_version DROP NOT NULL; \
            INSERT INTO makers (name, lock_version) SELECT 'm' || n, \(start) FROM generate_series(1, 3) AS n
            """)
        let model = ExternalShop.model()
        model.entitiesByName["Maker"]?.uniquenessConstraints = [["name"]]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: shop.url, options: ExternalShop.options)
        let context = coordinator.newContext()
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.performAndWait {
            let objects = [["name": "m2", "country": "FR"], ["name": "new", "country": "IT"]]
            try context.execute(NSBatchInsertRequest(entityName: "Maker", objects: objects))
            let maker = try #require(try context.all("Maker", "name == 'm2'").first)
            maker.setValue("m2 ours", forKey: "name")
            try context.save()
        }
        let found = try shop.texts(
            "SELECT name || ' ' || trim(country) || ' ' || lock_version FROM makers WHERE country IS NOT NULL ORDER "
                + "BY id"
        )
        #expect(found.first == "m2 ours FR \((base ?? 0) + 2)")
        #expect(found.last??.hasPrefix("new IT ") == true)
    }
}
