import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreDataPostgreSQL

/// Changes of many rows in a database, looked at by a connection past the store.
@Suite(.long, .enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct PostgreSQLBatchTests {
    /// A store of parts in bins; each part has a key, and a code where it has one, that no other
    /// has.
    private final class Depot: @unchecked Sendable {
        // Sendable: constants, but for contexts, which one thread asks for.

        let coordinator: NSPersistentStoreCoordinator
        let context: NSManagedObjectContext
        let wire: LibPQConnection
        private let url: URL

        init(_ other: Depot? = nil) throws {
            let server = try WireConnection.server()
            let schema = server.newSchemaName()
            url = other?.url ?? server.url(schema: schema)
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
            _ = try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url)
            context = coordinator.newContext()
            wire = try WireConnection.open()
            let path = try other?.wire.texts("SELECT current_schema()::text").first ?? schema
            try wire.run("SET search_path TO \(path ?? "")")
        }

        private static func model() -> NSManagedObjectModel {
            let upper =
                PostgreSQLServer.hasICU
                ? NSDerivedAttributeDescription("upper", .stringAttributeType, from: "uppercase:(note)")
                : NSAttributeDescription("upper", .stringAttributeType)
            let part = NSEntityDescription(
                "Part", class: "NSManagedObject",
                [
                    NSAttributeDescription("key", .stringAttributeType, optional: false),
                    NSAttributeDescription("code", .integer64AttributeType),
                    NSAttributeDescription("stock", .integer32AttributeType, default: 0),
                    NSAttributeDescription("note", .stringAttributeType),
                    NSAttributeDescription("price", .decimalAttributeType), upper,
                ])
            part.uniquenessConstraints = [["key"], ["code"]]
            let count = NSDerivedAttributeDescription("partCount", .integer64AttributeType, from: "parts.@count")
            let bin = NSEntityDescription(
                "Bin", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType), count])
            relate(bin, "parts", toMany: true, deleteRule: .noActionDeleteRule, part, inverse: "bin")
            return NSManagedObjectModel([part, bin])
        }

        @discardableResult
        func insert(
            _ rows: [[String: Any]], _ policy: NSMergePolicy = .error, of entity: String = "Part"
        ) throws -> [NSManagedObjectID] {
            context.mergePolicy = policy
            let request = NSBatchInsertRequest(entityName: entity, objects: rows)
            request.resultType = .objectIDs
            return try #require((context.execute(request) as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
        }

        func parts() throws -> [String?] {
            try wire.texts("SELECT concat_ws(' ', key, code, stock, note, 'v' || version) FROM part ORDER BY key")
        }

        func integer(_ sql: String) throws -> Int { try wire.integers("SELECT (\(sql))::int8")[0] }
    }

    // MARK: Many rows

    private func tenThousand() -> [[String: Any]] {
        (0..<10_000).map { ["key": "k\($0)", "stock": 2] }
    }

    private func depotWithOneOfThem() throws -> Depot {
        let depot = try Depot()
        try depot.insert([["key": "k5000", "stock": 1, "note": "old"]])
        return depot
    }

    @Test func aDuplicateAmongTenThousandRowsRefusesThemAll() throws {
        let depot = try depotWithOneOfThem()
        let error = #expect(throws: NSError.self) { try depot.insert(tenThousand()) }
        #expect(error?.code == 133021)
        let conflict = (error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first
        #expect(conflict?.constraint == ["key"])
        #expect(conflict?.constraintValues["key"] as? String == "k5000")
        #expect(conflict?.databaseObject?.value(forKey: "note") as? String == "old")
        #expect(try depot.parts() == ["k5000 1 old v1"])
    }

    @Test func aRowThatIsThereStaysAmongTenThousand() throws {
        let depot = try depotWithOneOfThem()
        #expect(try depot.insert(tenThousand(), .rollback).count == 9_999)
        #expect(try depot.integer("SELECT count(*) FROM part") == 10_000)
        #expect(try depot.parts().filter { $0?.hasSuffix("old v1") == true } == ["k5000 1 old v1"])
    }

    @Test(.needsICU) func aRowThatIsThereGetsTheGivenValuesAmongTenThousand() throws {
        let depot = try depotWithOneOfThem()
        let again: [[String: Any]] = [["key": "k7000", "stock": 3], ["key": "k7000", "note": "twice"]]
        #expect(Set(try depot.insert(tenThousand() + again, .mergeByPropertyObjectTrump)).count == 10_000)
        #expect(try depot.integer("SELECT count(*) FROM part") == 10_000)
        #expect(try depot.integer("SELECT sum(stock) FROM part") == 20_001)
        #expect(
            try depot.wire.texts(
                "SELECT concat_ws(' ', key, stock, note, upper, version) FROM part WHERE note IS NOT NULL ORDER BY key")
                == ["k5000 2 old OLD 2", "k7000 3 twice TWICE 3"])
    }

    @Test func aRowThatIsThereGetsAllValuesAmongTenThousand() throws {
        let depot = try depotWithOneOfThem()
        try depot.insert(tenThousand(), .overwrite)
        #expect(
            try depot.integer("SELECT count(*) FROM part WHERE stock = 2 AND note IS NULL AND upper IS NULL") == 10_000)
    }

    @Test(.needsICU) func derivedValuesFollowCopiedRows() throws {
        let depot = try Depot()
        let bins = try depot.insert([["name": "A"], ["name": "B"]], of: "Bin")
        try depot.insert((0..<1_000).map { ["key": "k\($0)", "note": "n\($0)", "bin": bins[$0 % 4 == 0 ? 0 : 1]] })
        #expect(try depot.wire.texts("SELECT part_count::text FROM bin ORDER BY name") == ["250", "750"])
        #expect(try depot.integer("SELECT count(*) FROM part WHERE upper = upper(note)") == 1_000)
        let update = NSBatchUpdateRequest(entityName: "Part")
        update.predicate = NSPredicate(format: "bin.name == 'B' AND stock == 0")
        update.propertiesToUpdate = ["bin": bins[0], "note": "moved"]
        try depot.context.execute(update)
        #expect(try depot.wire.texts("SELECT part_count::text FROM bin ORDER BY name") == ["1000", "0"])
        #expect(try depot.integer("SELECT count(*) FROM part WHERE upper = 'MOVED'") == 750)
        let delete = NSFetchRequest<any NSFetchRequestResult>(entityName: "Part")
        delete.predicate = NSPredicate(format: "note == 'moved'")
        try depot.context.execute(NSBatchDeleteRequest(fetchRequest: delete))
        #expect(try depot.wire.texts("SELECT part_count::text FROM bin ORDER BY name") == ["250", "0"])
    }

    // MARK: Several constraints

    private func depotOfTwo() throws -> Depot {
        let depot = try Depot()
        try depot.insert([["key": "a", "code": 1], ["key": "b", "code": 2]])
        return depot
    }

    @Test func aRowThatWouldHaveTheUniqueValuesOfTwoIsRefused() throws {
        let depot = try depotOfTwo()
        let error = #expect(throws: NSError.self) {
            try depot.insert([["key": "c", "code": 3], ["key": "a", "code": 2]], .mergeByPropertyObjectTrump)
        }
        #expect(error?.code == 133021)
        let conflict = (error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first
        #expect(conflict?.constraint == ["code"])
        #expect(try depot.parts() == ["a 1 0 v1", "b 2 0 v1"])
    }

    @Test func uniqueValuesMoveBetweenRowsOfOneBatch() throws {
        let depot = try depotOfTwo()
        try depot.insert(
            [
                ["key": "a", "code": 3], ["key": "b", "code": 1], ["key": "c", "code": 2],
                ["key": "d", "code": NSNull()],
            ],
            .mergeByPropertyObjectTrump)
        #expect(try depot.parts() == ["a 3 0 v2", "b 1 0 v2", "c 2 0 v1", "d 0 v1"])
    }

    @Test func anUpsertByOneConstraintLeavesTheOthersToRefuse() throws {
        let depot = try depotOfTwo()
        var rows: [(String, Int)] = []
        func upsert() throws -> (inserted: Int, updated: Int) {
            let entity = try #require(depot.coordinator.managedObjectModel.entitiesByName["Part"])
            return try depot.context.insertRows(of: "Part", updatingBy: ["key"], ["stock"]) {
                guard let (key, code) = rows.popLast() else { return nil }
                let object = NSManagedObject(entity: entity, insertInto: nil)
                object.setValuesForKeys(["key": key, "code": code, "stock": 7])
                return object
            }
        }
        rows = [("a", 1), ("c", 3)]
        #expect(throws: NSError.self) {
            rows = [("d", 2)]
            _ = try upsert()
        }
        #expect(try depot.parts() == ["a 1 0 v1", "b 2 0 v1"])
        rows = [("a", 9), ("c", 3)]
        let counts = try upsert()
        #expect(counts.inserted == 1)
        #expect(counts.updated == 1)
        #expect(try depot.parts() == ["a 1 7 v2", "b 2 0 v1", "c 3 7 v1"])
    }

    // MARK: Others

    @Test func twoWritersUpsertTheSameKeysAndEveryRowIsInsertedOnce() throws {
        let first = try Depot()
        let second = try Depot(first)
        let (keys, rounds) = (120, 6)
        let threads = (0..<8).map { number in
            let coordinator = number % 2 == 0 ? first.coordinator : second.coordinator
            return OtherThread { () throws -> [Int] in
                var generator = SeededGenerator(seed: UInt64(number) + 1)
                let context = coordinator.newContext()
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                var inserted: Set<NSManagedObjectID> = []
                var written = 0
                for round in 0..<rounds {
                    // New keys in each round, so that all meet while they are new, in another order
                    // each.
                    let rows = (0..<keys).shuffled(using: &generator).map {
                        ["key": "r\(round) k\($0)", "note": "\(number)"]
                    }
                    let request = NSBatchInsertRequest(entityName: "Part", objects: rows)
                    request.resultType = .objectIDs
                    let objectIDs =
                        (try context.execute(request) as? NSBatchInsertResult)?.result as? [NSManagedObjectID] ?? []
                    written += objectIDs.count
                    inserted.formUnion(objectIDs)
                    let update = NSBatchUpdateRequest(entityName: "Part")
                    update.predicate = NSPredicate(format: "key BEGINSWITH %@", "r\(round) ")
                    update.propertiesToUpdate = ["stock": NSExpression(format: "stock + 1")]
                    update.resultType = .updatedObjectsCountResultType
                    #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == keys)
                }
                return [inserted.count, written]
            }
        }
        for thread in threads { #expect(try thread.value() == [keys * rounds, keys * rounds]) }
        #expect(try first.integer("SELECT count(*) FROM part") == keys * rounds)
        #expect(try first.integer("SELECT sum(stock) FROM part") == keys * rounds * 8)
        // Inserted once; changed by seven others, and counted up by all.
        #expect(try first.integer("SELECT count(*) FROM part WHERE version <> 1 + 7 + 8") == 0)
        #expect(try first.integer("SELECT count(*) FROM ocd_transaction") == 8 * rounds * 2)
        #expect(try first.integer("SELECT max(number) FROM ocd_transaction") == 8 * rounds * 2)
        withExtendedLifetime((first, second)) {}
    }

    @Test func deletingAndUpdatingAtTheSameTimeLeavesNothingHalfDone() throws {
        let depot = try Depot()
        let bins = try depot.insert((0..<20).map { ["name": "\($0)"] }, of: "Bin")
        try depot.insert((0..<400).map { ["key": "k\($0)", "bin": bins[$0 % 20]] })
        let coordinator = depot.coordinator
        let threads = (0..<4).map { number in
            OtherThread { () throws -> Int in
                let context = coordinator.newContext()
                var deleted = 0
                for bin in 0..<20 {
                    let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: number % 2 == 0 ? "Part" : "Bin")
                    fetch.predicate = NSPredicate(format: number % 2 == 0 ? "bin.name == '\(bin)'" : "name == '\(bin)'")
                    if bin % 2 == 1 { fetch.predicate = NSPredicate(value: false) }
                    let request = NSBatchDeleteRequest(fetchRequest: fetch)
                    request.resultType = .resultTypeCount
                    deleted += (try context.execute(request) as? NSBatchDeleteResult)?.result as? Int ?? 0
                    let update = NSBatchUpdateRequest(entityName: "Part")
                    update.propertiesToUpdate = ["stock": NSExpression(format: "stock + 1")]
                    try context.execute(update)
                }
                return deleted
            }
        }
        _ = try threads.map { try $0.value() }
        #expect(try depot.integer("SELECT count(*) FROM bin") == 10)
        // Who deleted a bin first took its parts out of it.
        #expect(
            try depot.integer(
                "SELECT count(*) FROM part WHERE bin_id IS NOT NULL AND bin_id NOT IN (SELECT id FROM bin)") == 0)
        #expect(try depot.integer("SELECT count(*) FROM part WHERE bin_id IN (SELECT id FROM bin)") == 200)
        #expect(try depot.integer("SELECT min(stock) FROM part") == 80)
    }

    // MARK: Foreign keys, what is required, transactions

    @Test func rowsThatLeadToNoneAreRefusedWithTheWholeBatch() throws {
        let depot = try Depot()
        let bins = try depot.insert([["name": "A"], ["name": "B"]], of: "Bin")
        try depot.context.execute(NSBatchDeleteRequest(objectIDs: [bins[1]]))
        let rows: [[String: Any]] = (0..<100).map { ["key": "k\($0)", "bin": bins[$0 == 77 ? 1 : 0]] }
        for rows in [rows, Array(rows[70..<80])] {
            let error = #expect(throws: NSError.self) { try depot.insert(rows) }
            #expect(error?.code == CocoaError.Code.managedObjectReferentialIntegrity.rawValue, "\(error as Any)")
        }
        try depot.insert([["key": "there", "bin": bins[0]]])
        let update = NSBatchUpdateRequest(entityName: "Part")
        update.propertiesToUpdate = ["bin": bins[1]]
        #expect(throws: NSError.self) { try depot.context.execute(update) }
        #expect(try depot.integer("SELECT count(*) FROM part WHERE bin_id IS NOT NULL") == 1)
        #expect(try depot.integer("SELECT count(*) FROM part") == 1)
    }

    @Test func aRowThatIsDeletedTakesItselfOutOfOthersWhateverTheRule() throws {
        let depot = try Depot()
        let bins = try depot.insert([["name": "A"]], of: "Bin")
        try depot.insert((0..<3).map { ["key": "k\($0)", "bin": bins[0]] })
        try depot.context.execute(NSBatchDeleteRequest(objectIDs: bins))
        #expect(try depot.integer("SELECT count(*) FROM part WHERE bin_id IS NULL") == 3)
    }

    @Test func whatIsRequiredAndWhatNoColumnCanHoldIsRefused() throws {
        let depot = try Depot()
        for (rows, message) in [
            ([["stock": 1]], "Part.key is required"), ([["key": "a\0b"]], "U+0000"),
            ((0..<60).map { $0 == 30 ? ["stock": 1] : ["key": "k\($0)"] }, "Part.key is required"),
        ] as [([[String: Any]], String)] {
            let error = #expect(throws: NSError.self) { try depot.insert(rows) }
            #expect(error?.localizedDescription.contains(message) == true, "\(error as Any)")
        }
        #expect(try depot.integer("SELECT count(*) FROM part") == 0)
    }

    @Test func eachBatchIsATransactionThatIsTold() throws {
        let depot = try Depot()
        try depot.wire.run("DO $$ BEGIN EXECUTE format('LISTEN %I', 'ocd_' || md5(current_schema())); END $$")
        depot.context.transactionAuthor = "importer"
        depot.context.name = "night"
        try depot.insert([["key": "a"]])
        let update = NSBatchUpdateRequest(entityName: "Part")
        update.propertiesToUpdate = ["stock": 3]
        try depot.context.execute(update)
        try depot.context.execute(
            NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Part")))
        // There is nothing left to do.
        try depot.context.execute(update)
        try depot.context.execute(
            NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Part")))
        try depot.insert([])
        #expect(
            try depot.wire.texts(
                "SELECT concat_ws(' ', number, author, context_name) FROM ocd_transaction ORDER BY number")
                == ["1 importer night", "2 importer night", "3 importer night"])
        var payloads: [String] = []
        while payloads.count < 3 {
            let told = try depot.wire.notifications(within: 10)
            if told.isEmpty { break }
            payloads += told.map(\.payload)
        }
        #expect(payloads.map { $0.prefix { $0 != " " } } == ["1", "2", "3"])
    }

    @Test func aCommitWhoseAnswerIsLostIsNotRepeated() throws {
        let depot = try Depot()
        // The backend ends itself while the commit is on its way, as late as can be.
        try depot.wire.run(
            """
            CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
            IF (SELECT count(*) FROM part) = 60 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF; RETURN \
            NULL; END $$; \
            CREATE CONSTRAINT TRIGGER leave AFTER INSERT ON ocd_transaction DEFERRABLE INITIALLY DEFERRED FOR EACH \
            ROW EXECUTE FUNCTION leave()
            """)
        #expect(throws: NSError.self) { try depot.insert((0..<60).map { ["key": "k\($0)"] }) }
        #expect(try depot.integer("SELECT count(*) FROM part") == 0)
        try depot.wire.run("DROP TRIGGER leave ON ocd_transaction")
        try depot.insert((0..<60).map { ["key": "k\($0)"] })
        #expect(try depot.integer("SELECT count(*) FROM part") == 60)
    }
}
