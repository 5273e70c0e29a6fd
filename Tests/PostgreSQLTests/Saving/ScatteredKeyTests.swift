import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Keys that are made by the program and lie anywhere.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct ScatteredKeyTests {
    private func open(_ schema: String, _ keys: String?) throws -> NSManagedObjectContext {
        let text = try WireConnection.server().url(schema: schema).absoluteString
        let url = try #require(URL(string: keys.map { text + "&ocd.keys=\($0)" } ?? text))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        _ = try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url)
        return coordinator.newContext()
    }

    private func keys(_ objects: [NSManagedObject]) -> [Int64] {
        objects.compactMap { Int64($0.objectID.uriRepresentation().lastPathComponent.dropFirst()) }
    }

    @Test func eachSaveHasKeysOfItsOwn() throws {
        let warehouse = try Warehouse()
        let context = try open(warehouse.schema, "scattered")
        try context.performAndWait {
            var starts: [Int64] = []
            var all: Set<Int64> = []
            for round in 0..<8 {
                let maker = context.insert("Maker", ["title": "\(round)"])
                let items = (0..<60).map {
                    context.insert("Item", ["name": "\(round) \($0)", "stockCount": $0, "maker": maker])
                }
                try context.save()
                let keys = keys(items).sorted()
                try #require(keys.count == 60)
                #expect(keys.last == keys[0] + 59)
                #expect(keys[0] > 0)
                #expect(keys[59] < 1 << 62)
                starts.append(keys[0])
                all.formUnion(keys)
            }
            #expect(all.count == 480)
            // Anywhere: eight random numbers lie neither in order nor near each other.
            let distances = zip(starts.sorted(), starts.sorted().dropFirst()).map { $1 - $0 }
            #expect(distances.allSatisfy { $0 > 1 << 40 })
            #expect(try warehouse.texts("SELECT DISTINCT last_key FROM ocd_entity") == ["0"])
        }
        let reader = try open(warehouse.schema, "scattered")
        try reader.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Maker")
            request.relationshipKeyPathsForPrefetching = ["items"]
            let makers = try reader.fetch(request)
            #expect(
                makers.map { ($0.value(forKey: "items") as? Set<NSManagedObject>)?.count }
                    == Array(repeating: 60, count: 8))
            for item in try reader.all("Item", "stockCount < 30") { reader.delete(item) }
            try reader.save()
            let insertion = NSBatchInsertRequest(entityName: "Item", objects: (0..<20).map { ["name": "batch \($0)"] })
            insertion.resultType = .objectIDs
            let result = try reader.execute(insertion) as? NSBatchInsertResult
            #expect((result?.result as? [NSManagedObjectID])?.count == 20)
        }
        #expect(try warehouse.texts("SELECT count(*) FROM item") == ["260"])
        #expect(try warehouse.texts("SELECT last_key FROM ocd_entity WHERE name = 'Item'") == ["0"])
    }

    @Test func thoseWhoCountGoOnBehindThem() throws {
        let warehouse = try Warehouse()
        let scattering = try open(warehouse.schema, "scattered")
        try scattering.performAndWait {
            for _ in 0..<3 { _ = scattering.insert("Tag", ["label": "scattered"]) }
            try scattering.save()
        }
        for keys in [nil, "counted"] {
            let counting = try open(warehouse.schema, keys)
            try counting.performAndWait {
                for _ in 0..<40 {
                    _ = counting.insert("Tag", ["label": "counted"])
                    try counting.save()
                }
            }
        }
        try scattering.performAndWait {
            _ = scattering.insert("Tag", ["label": "scattered"])
            try scattering.save()
        }
        let counts = try warehouse.texts("SELECT label || count(DISTINCT id) FROM tag GROUP BY label ORDER BY 1")
        #expect(counts == ["counted80", "scattered4"])
        #expect(try warehouse.texts("SELECT count(*) FROM tag WHERE id <= 0") == ["0"])
    }

    @Test func aKeyThatSomebodyHasIsReplaced() throws {
        let warehouse = try Warehouse()
        let context = try open(warehouse.schema, "scattered")
        try context.performAndWait {
            let tag = context.insert("Tag", ["label": "mine"])
            try context.obtainPermanentIDs(for: [tag])
            let key = try #require(keys([tag]).first)
            try warehouse.run("INSERT INTO tag (id, version, label) VALUES (\(key), 1, 'theirs')")
            try context.save()
            #expect(keys([tag]) != [key])
        }
        #expect(try warehouse.texts("SELECT label FROM tag ORDER BY label") == ["mine", "theirs"])
    }

    @Test func whatMeansNothingIsRefused() throws {
        let error = try #require(throws: NSError.self) {
            try open(try WireConnection.server().newSchemaName(), "random")
        }
        #expect(error.localizedDescription.contains("ocd.keys=random"))
        #expect(error.localizedRecoverySuggestion?.contains("scattered") == true)
    }

    @Test(arguments: [1, 2, 1000, Int.max]) func theyArePositiveAndLeaveRoom(count: Int) {
        for _ in 0..<100 {
            let first = PostgreSQLKeys.scattered(count)
            #expect(first > 0)
            #expect(first < 1 << 62)
        }
    }
}
