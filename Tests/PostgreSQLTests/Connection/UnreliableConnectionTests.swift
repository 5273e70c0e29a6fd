import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// A network that passes on what is said late, in pieces, or not to the end.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct UnreliableConnectionTests {
    private let proxy: PostgreSQLProxy
    private let warehouse: Warehouse
    private let context: NSManagedObjectContext

    init() throws {
        proxy = try PostgreSQLProxy(WireConnection.server())
        warehouse = try Warehouse(through: proxy)
        context = warehouse.context
    }

    private func names() throws -> [String] {
        try warehouse.texts("SELECT name FROM item ORDER BY name").compactMap { $0 }
    }

    /// Saves some objects: a few by a statement, many by a copy.
    private func save(_ name: String, count: Int) throws {
        for _ in 0..<count { _ = context.insert("Item", ["name": name, "data": Data(repeating: 7, count: 50)]) }
        do { try context.save() } catch {
            context.reset()
            throw error
        }
    }

    @Test func messagesInPiecesAreRead() throws {
        try context.performAndWait {
            proxy.conduct.largestPiece = 11
            try save("few", count: 3)
            try save("many", count: 70)
            context.reset()
            #expect(
                try context.all("Item").map { $0.value(forKey: "data") as? Data }
                    == Array(repeating: Data(repeating: 7, count: 50), count: 73))
        }
    }

    @Test func aSlowConnectionIsWaitedFor() throws {
        try context.performAndWait {
            proxy.conduct.delay = 0.05
            try save("slow", count: 3)
            context.reset()
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) == 3)
        }
    }

    /// The connection ends after any byte: a save that was reported as done is there, once, and one
    /// that was reported as failed is not.
    @Test(arguments: 0..<(LongTests.areEnabled ? 40 : 1)) func aSaveThatIsCutIsDoneOnceOrNotAtAll(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        var saved: [String] = []
        context.performAndWait {
            for number in 0..<30 {
                let count = number % 3 == 0 ? 60 : 1
                proxy.conduct.bytesUntilCut = Int.random(in: 0...(number % 3 == 0 ? 9_000 : 1_500), using: &generator)
                do {
                    try save("\(number)", count: count)
                    saved += Array(repeating: "\(number)", count: count)
                } catch {
                    #expect((error as NSError).domain == NSCocoaErrorDomain, "\(error)")
                }
            }
            proxy.conduct.bytesUntilCut = nil
        }
        #expect(proxy.cuts > 10)
        #expect(try names() == saved.sorted())
        // The connection is lost once for each save, and what has not been committed is done again.
        #expect(saved.count > 300)
    }

    /// A fetch gives all rows, or an error: no part of them.
    @Test(arguments: 0..<(LongTests.areEnabled ? 20 : 1)) func aFetchThatIsCutGivesAllRows(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        try context.performAndWait {
            try save("row", count: 500)
            for _ in 0..<30 {
                context.reset()
                proxy.conduct.bytesUntilCut = Int.random(in: 0...80_000, using: &generator)
                #expect(try context.all("Item").count == 500)
            }
        }
        #expect(proxy.cuts > 5)
    }

    /// Changes arrive after any number of cuts, also those that the listener has missed.
    @Test func followingGoesOnAfterCuts() throws {
        let other = try PostgreSQLProxy(WireConnection.server())
        let follower = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        _ = try follower.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: other.url(schema: warehouse.schema),
            options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
        let following = follower.newContext()
        following.automaticallyMergesChangesFromParent = true
        let item = try context.performAndWait {
            let item = context.insert("Item", ["name": "0"])
            try context.save()
            return item
        }
        let theirs = try following.performAndWait { try following.all("Item")[0] }
        for round in 1...10 {
            other.conduct.bytesUntilCut = round * 150
            try context.performAndWait {
                item.setValue("\(round)", forKey: "name")
                try context.save()
            }
            func hasFollowed() -> Bool {
                following.performAndWait { theirs.value(forKey: "name") as? String == "\(round)" }
            }
            #expect(wait(upTo: 20) { hasFollowed() }, "round \(round)")
        }
    }

    /// Objects have the values that triggers have computed, also where the answer to the commit is
    /// lost.
    @Test func aSaveWhoseAnswerIsLostHasItsDerivedValues() throws {
        let model = Warehouse.model()
        let count = NSDerivedAttributeDescription("itemCount", .integer64AttributeType, from: "items.@count")
        model.entitiesByName["Maker"]?.properties += [count]
        let title = NSDerivedAttributeDescription("makerTitle", .stringAttributeType, from: "maker.title")
        model.entitiesByName["Item"]?.properties += [title]
        let warehouse = try Warehouse(model, through: proxy)
        let context = warehouse.context
        try context.performAndWait {
            let old = context.insert("Maker", ["title": "old"])
            let item = context.insert("Item", ["name": "old", "maker": old])
            let bystander = context.insert("Item", ["name": "bystander", "maker": old])
            try context.save()
            for round in 1...3 {
                let cuts = proxy.cuts
                proxy.conduct.losesCommit = true
                let maker = context.insert("Maker", ["title": "new"])
                let items = (0..<(round == 2 ? 60 : 2)).map {
                    context.insert("Item", ["name": "\($0)", "maker": maker])
                }
                item.setValue(maker, forKey: "maker")
                old.setValue("old \(round)", forKey: "title")
                try context.save()
                #expect(proxy.cuts == cuts + 1)
                #expect(maker.value(forKey: "itemCount") as? Int == items.count + 1)
                #expect(old.value(forKey: "itemCount") as? Int == 1)
                #expect((items + [item]).allSatisfy { $0.value(forKey: "makerTitle") as? String == "new" })
                // One that was not saved has it as soon as it is read.
                context.refresh(bystander, mergeChanges: false)
                #expect(bystander.value(forKey: "makerTitle") as? String == "old \(round)")
                // No conflict with what was published.
                for object in items + [maker] {
                    object.setValue("changed", forKey: object.entity.name == "Item" ? "name" : "title")
                }
                try context.save()
            }
        }
        #expect(try warehouse.texts("SELECT count(*) FROM maker") == ["4"])
        #expect(try warehouse.texts("SELECT max(number) FROM ocd_transaction") == ["7"])
    }

    @Test func aStoreThatCannotBeMovedGoesOnThoughItsServerWasAwayMeanwhile() throws {
        try context.performAndWait {
            try save("before", count: 1)
            let place = try #require(warehouse.store.url)
            proxy.conduct.bytesUntilCut = 0
            let elsewhere = try #require(URL(string: place.absoluteString + "&ocd.unknown=1"))
            #expect(!warehouse.coordinator.setURL(elsewhere, for: warehouse.store))
            proxy.conduct.bytesUntilCut = nil
            #expect(warehouse.store.url == place)
            try save("after", count: 1)
            #expect(try names() == ["after", "before"])
        }
    }
}
