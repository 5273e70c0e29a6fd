import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Saves of so many updates that their rows are not locked first, and saves without a way back to
/// before the first write.
@Suite(.long, .enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct LargeUpdateTests {
    private static let count = 1_200

    /// A store with many rows of an entity with constraints (Item) or without (Maker).
    private func filled(_ entity: String, _ key: String) throws -> (Warehouse, [NSManagedObject]) {
        let warehouse = try Warehouse()
        let context = warehouse.context
        let objects = try context.performAndWait {
            let objects = (0..<Self.count).map { context.insert(entity, [key: "\($0)"]) }
            try context.save()
            return objects
        }
        return (warehouse, objects)
    }

    @Test(arguments: [("Item", "name"), ("Maker", "title")])
    func oneRowThatOthersHaveChangedIsTheConflictOfAll(_ entity: String, _ key: String) throws {
        let (warehouse, objects) = try filled(entity, key)
        let table = entity.lowercased()
        try warehouse.run("UPDATE \(table) SET \(key) = 'theirs', version = version + 1 WHERE \(key) = '700'")
        let context = warehouse.context
        try context.performAndWait {
            for object in objects { object.setValue("mine", forKey: key) }
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.code == CocoaError.Code.managedObjectMerge.rawValue)
            let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
            #expect(conflicts?.map(\.sourceObject) == [objects[700]])
            #expect(try warehouse.texts("SELECT count(*) FROM \(table) WHERE \(key) = 'mine'") == ["0"])
            context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
            try context.save()
            #expect(
                try warehouse.texts("SELECT \(key) || count(*) FROM \(table) GROUP BY \(key) ORDER BY 1") == [
                    "mine1199", "theirs1",
                ])
            #expect(try warehouse.texts("SELECT DISTINCT version FROM \(table)") == ["2"])
            #expect(objects[700].value(forKey: key) as? String == "theirs")
            // What was published is what is there: the next save finds its versions.
            for object in objects { object.setValue("again", forKey: key) }
            try context.save()
        }
        #expect(try warehouse.texts("SELECT DISTINCT \(key) || ' ' || version FROM \(table)") == ["again 3"])
        #expect(try warehouse.texts("SELECT max(number) FROM ocd_transaction") == ["3"])
    }

    @Test func aRowThatIsGoneIsAConflict() throws {
        let (warehouse, objects) = try filled("Maker", "title")
        try warehouse.run("DELETE FROM maker WHERE title = '3'")
        let context = warehouse.context
        try context.performAndWait {
            for object in objects { object.setValue("mine", forKey: "title") }
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.code == CocoaError.Code.managedObjectMerge.rawValue)
            context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
            try context.save()
        }
        #expect(try warehouse.texts("SELECT title || count(*) FROM maker GROUP BY title") == ["mine1199"])
    }

    /// No update is lost, whatever the order in which the server locks the rows.
    @Test func writersOfTheSameRowsCountExactly() throws {
        let (warehouse, objects) = try filled("Item", "name")
        let writers = try (0..<3).map { _ in try warehouse.otherProgram() }
        DispatchQueue.concurrentPerform(iterations: 3) { index in
            let context = writers[index]
            context.performAndWait { context.countItems(times: 4, by: index == 1 ? "name" : "objectID") }
        }
        #expect(
            try warehouse.texts("SELECT stock_count || ' ' || count(*) FROM item GROUP BY stock_count") == ["12 1200"])
        withExtendedLifetime(objects) {}
    }

    /// An entity without constraints: what the violation means is found in a new transaction, and
    /// the object gets another key.
    @Test func aKeyThatSomebodyHasTakenIsReplaced() throws {
        let warehouse = try Warehouse()
        let context = warehouse.context
        try context.performAndWait {
            _ = context.insert("Maker", ["title": "first"])
            try context.save()
            // The keys behind it are this store's.
            try warehouse.run("INSERT INTO maker (id, version, title) SELECT max(id) + 1, 1, 'theirs' FROM maker")
            let mine = context.insert("Maker", ["title": "mine"])
            try context.save()
            #expect(mine.objectID.uriRepresentation().lastPathComponent == "p3")
        }
        #expect(
            try warehouse.texts("SELECT id || ' ' || title FROM maker ORDER BY id") == [
                "1 first", "2 theirs", "3 mine",
            ])
    }

    /// Looked at by the commit alone.
    @Test func aDestinationThatIsGoneIsSaid() throws {
        let warehouse = try Warehouse()
        let context = warehouse.context
        try context.performAndWait {
            let maker = context.insert("Maker", ["title": "doomed"])
            let item = context.insert("Item", ["name": "its"])
            try context.save()
            try warehouse.run("DELETE FROM maker")
            item.setValue(maker, forKey: "maker")
            #expect(throws: NSError.self) { try context.save() }
        }
        #expect(try warehouse.texts("SELECT maker_id FROM item") == [nil])
    }

    /// Triggers write rows of one update again while another is made: their versions are nobody
    /// else's.
    @Test func updatesThatDeriveFromEachOtherMeetTheirVersions() throws {
        let total = NSDerivedAttributeDescription()
        total.name = "total"
        total.attributeType = .integer64AttributeType
        total.derivationExpression = NSExpression(format: "sum:(parts.price)")
        let place = NSDerivedAttributeDescription()
        place.name = "place"
        place.attributeType = .stringAttributeType
        place.derivationExpression = NSExpression(format: "bin.name")
        let bin = NSEntityDescription(
            "Bin", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType), total])
        let part = NSEntityDescription(
            "Part", class: "NSManagedObject", [NSAttributeDescription("price", .integer64AttributeType), place])
        relate(bin, "parts", toMany: true, part, inverse: "bin")
        let warehouse = try Warehouse(NSManagedObjectModel([bin, part]))
        let context = warehouse.context
        try context.performAndWait {
            let bins = (0..<700).map { context.insert("Bin", ["name": "bin \($0)"]) }
            let parts = bins.flatMap { bin in (0..<2).map { context.insert("Part", ["price": $0, "bin": bin]) } }
            try context.save()
            for round in 2...3 {
                for bin in bins { bin.setValue("renamed \(round)", forKey: "name") }
                for part in parts { part.setValue(round, forKey: "price") }
                try context.save()
                let sums = "SELECT DISTINCT name || ' ' || total || ' ' || version FROM bin"
                #expect(try warehouse.texts(sums) == ["renamed \(round) \(2 * round) \(round)"])
                #expect(
                    try warehouse.texts("SELECT DISTINCT place || ' ' || version FROM part") == [
                        "renamed \(round) \(round)"
                    ])
                #expect(Set(bins.map { $0.value(forKey: "total") as? Int }) == [2 * round])
                #expect(Set(parts.map { $0.value(forKey: "place") as? String }) == ["renamed \(round)"])
            }
            // One row of others, and nothing of the first attempt is left behind.
            try warehouse.run(
                "UPDATE part SET price = 100, version = version + 1 WHERE id = (SELECT min(id) FROM part)")
            for bin in bins { bin.setValue("last", forKey: "name") }
            for part in parts { part.setValue(9, forKey: "price") }
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect((error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.count == 1)
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            #expect(try warehouse.texts("SELECT DISTINCT name || ' ' || total FROM bin") == ["last 18"])
            #expect(Set(bins.map { $0.value(forKey: "total") as? Int }) == [18])
        }
    }
}
