import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// How often a request waits for the server.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct ServerRoundTripTests {
    private let proxy: PostgreSQLProxy
    private let warehouse: Warehouse
    private let context: NSManagedObjectContext

    /// A connection is open, keys are at hand, and the statements that every request needs were run
    /// once.
    init() throws {
        proxy = try PostgreSQLProxy(WireConnection.server())
        warehouse = try Warehouse(through: proxy)
        context = warehouse.context
        let context = context
        try context.performAndWait {
            let tags = (0..<3).map { context.insert("Tag", ["label": "\($0)"]) }
            for number in 0..<20 {
                let item = context.insert("Item", ["name": "\(number)"])
                item.setValue(NSOrderedSet(array: tags), forKey: "tags")
            }
            try context.save()
        }
    }

    /// How often a block waits for the server.
    private func roundTrips(_ body: (NSManagedObjectContext) throws -> Void) throws -> Int {
        try context.performAndWait {
            proxy.roundTrips = 0
            try body(context)
            return proxy.roundTrips
        }
    }

    @Test func aFetchTakesOne() throws {
        #expect(try roundTrips { _ = try $0.all("Item") } == 1)
        #expect(try roundTrips { _ = try $0.all("Item", "name BEGINSWITH '1' AND stockCount < 5") } == 1)
        #expect(try roundTrips { _ = try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Kit")) } == 1)
        let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Item")
        dictionaries.resultType = .dictionaryResultType
        #expect(try roundTrips { _ = try $0.fetch(dictionaries) } == 1)
    }

    @Test func aFetchWithARelationshipTakesTwo() throws {
        context.performAndWait { context.reset() }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.relationshipKeyPathsForPrefetching = ["tags"]
        let trips = try roundTrips { context in
            for item in try context.fetch(request) {
                #expect((item.value(forKey: "tags") as? NSOrderedSet)?.count == 3)
            }
        }
        #expect(trips == 2)
    }

    /// A trigger of one's own before each row leaves out none.
    @Test func anInsertionWithDerivedAttributesTakesOne() throws {
        let model = Warehouse.model()
        let title = NSDerivedAttributeDescription("makerTitle", .stringAttributeType, from: "maker.title")
        model.entitiesByName["Item"]?.properties.append(title)
        let warehouse = try Warehouse(model, through: proxy)
        let context = warehouse.context
        try context.performAndWait {
            for name in ["first", "second"] {
                let item = context.insert("Item", ["name": name, "maker": context.insert("Maker", ["title": "ACME"])])
                proxy.roundTrips = 0
                try context.save()
                #expect(name == "first" || proxy.roundTrips == 1)
                #expect(item.text("makerTitle") == "ACME")
            }
        }
    }

    @Test func aSmallSaveTakesTwo() throws {
        let items = try context.performAndWait { try context.all("Item") }
        let update = try roundTrips { context in
            items[0].setValue("other", forKey: "name")
            try context.save()
        }
        #expect(update == 2)
        let deletion = try roundTrips { context in
            context.delete(items[1])
            try context.save()
        }
        #expect(deletion <= 2)
        // Keys of makers are at hand, too.
        try context.performAndWait {
            _ = context.insert("Maker", ["title": "first"])
            try context.save()
        }
        let mixed = try roundTrips { context in
            items[2].setValue("another", forKey: "name")
            context.delete(items[3])
            _ = context.insert("Item", ["name": "new"])
            _ = context.insert("Maker", ["title": "new"])
            try context.save()
        }
        #expect(mixed <= 2)
    }

    @Test func aSaveThatOnlyInsertsTakesOne() throws {
        let trips = try roundTrips { context in
            _ = context.insert("Item", ["name": "new"])
            try context.save()
        }
        #expect(trips == 1)
    }

    /// A save of any size takes at most a dozen.
    @Test func aLargeSaveTakesFew() throws {
        let count = LongTests.areEnabled ? 50_000 : 3_000
        var items: [NSManagedObject] = []
        let insertion = try roundTrips { context in
            items = (0..<count).map { context.insert("Item", ["name": "\($0)", "stockCount": $0]) }
            try context.save()
        }
        #expect(insertion <= 12)
        let update = try roundTrips { context in
            for item in items { item.setValue(-1, forKey: "stockCount") }
            try context.save()
        }
        #expect(update <= 12)
        let deletion = try roundTrips { context in
            for item in items { context.delete(item) }
            try context.save()
        }
        #expect(deletion <= 12)
    }

    /// Rows that lead to others, have a unique value, and of which triggers make another.
    ///
    /// New ones take one for their keys, one for what begins the transaction, two for the copy,
    /// which the server has to allow, and one for the commit, with which rows are read as triggers
    /// have left them. Where the server gives these before all has been sent, that counts once
    /// more.
    @Test func aLargeSaveOfRowsWithDerivedAndUniqueValuesTakesFew() throws {
        let count = LongTests.areEnabled ? 50_000 : 3_000
        let model = Warehouse.model()
        let title = NSDerivedAttributeDescription("makerTitle", .stringAttributeType, from: "maker.title")
        model.entitiesByName["Item"]?.properties.append(title)
        let warehouse = try Warehouse(model, through: proxy)
        let context = warehouse.context
        func savingTrips() throws -> Int {
            proxy.roundTrips = 0
            try context.save()
            return proxy.roundTrips
        }
        let right =
            "SELECT count(*) FROM item i JOIN maker m ON m.id = i.maker_id WHERE i.maker_title = m.title AND i.code "
            + "IS NOT NULL"
        try context.performAndWait {
            let makers = (0..<10).map { context.insert("Maker", ["title": "Maker \($0)"]) }
            try context.save()
            let items = (0..<count).map { number in
                context.insert(
                    "Item", ["name": "\(number)", "stockCount": number, "code": UUID(), "maker": makers[number % 10]])
            }
            let insertion = try savingTrips()
            #expect(insertion <= 12)
            let inserted = try warehouse.texts(right)
            #expect(inserted == ["\(count)"])
            for (number, item) in items.enumerated() {
                item.setValue(makers[(number + 1) % 10], forKey: "maker")
                item.setValue(UUID(), forKey: "code")
            }
            let update = try savingTrips()
            #expect(update <= 12)
            let updated = try warehouse.texts(right)
            #expect(updated == ["\(count)"])
            for item in items { context.delete(item) }
            let deletion = try savingTrips()
            #expect(deletion <= 12)
            let left = try warehouse.texts("SELECT count(*) FROM item")
            #expect(left == ["0"])
        }
    }

    /// Delete rules read at once for all objects of an entity: the rows, a statement for each
    /// relationship, and the same for the objects deleted with them.
    @Test func manyDeletionsTakeFew() throws {
        try context.performAndWait {
            for item in try context.all("Item") {
                item.setValue(context.insert("Maker", ["title": "of one"]), forKey: "maker")
            }
            try context.save()
            context.reset()
        }
        let trips = try roundTrips { context in
            for maker in try context.all("Maker") { context.delete(maker) }
            for item in try context.all("Item") { context.delete(item) }
            try context.save()
        }
        #expect(trips <= 8)
        #expect(
            try warehouse.texts("SELECT count(*) FROM item_tags UNION ALL SELECT count(*) FROM item") == ["0", "0"])
    }
}
