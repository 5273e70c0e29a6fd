import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Rows in tables that others have made, as objects.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct ExternalTableTests {
    private let shop: ExternalShop
    private let context: NSManagedObjectContext

    init() throws {
        shop = try ExternalShop()
        context = shop.context
        try shop.fill()
    }

    private func names(_ format: String?, by key: String = "name", ascending: Bool = true) throws -> [String?] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Product")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: ascending)]
        return try context.performAndWait { try context.fetch(request).map { $0.text("name") } }
    }

    @Test func valuesOfOthersAreRead() throws {
        try context.performAndWait {
            let anvil = try #require(try context.all("Product", "sku == 'A1'").first)
            #expect(anvil.text("name") == "anvil")
            #expect(anvil.value(forKey: "price") as? NSDecimalNumber == NSDecimalNumber(string: "9.99"))
            #expect(anvil.value(forKey: "stock") as? Int == 3)
            #expect(anvil.value(forKey: "isSold") as? Bool == true)
            #expect(anvil.value(forKey: "madeAt") as? Date == Date(timeIntervalSince1970: 1_577_876_400))
            #expect(anvil.value(forKey: "code") as? UUID == UUID(uuidString: "00000000-0000-0000-0000-00000000000A"))
            #expect(anvil.value(forKey: "picture") as? Data == Data([1, 2]))
            #expect(anvil.value(forKey: "weight") as? Double == 2.5)
            // Rails keeps times in UTC, in columns that know no zone; a text of a fixed length ends
            // where its blanks begin.
            let maker = try #require(anvil.value(forKey: "maker") as? NSManagedObject)
            #expect(maker.value(forKey: "updatedAt") as? Date == Date(timeIntervalSince1970: 1_580_702_706.789))
            #expect(maker.text("country") == "DE")
            let tags = try #require(anvil.value(forKey: "tags") as? Set<NSManagedObject>)
            #expect(Set(tags.compactMap { $0.text("label") }) == ["new", "old"])
        }
    }

    @Test(arguments: [
        ("price < 9.995", ["Cog*", "anvil"]), ("price >= 9.99 AND stock > 5", ["Bolt"]), ("price == 10", ["Bolt"]),
        ("name == 'anvil'", ["anvil"]), ("name < 'a'", ["Bolt", "Cog*"]), ("name BEGINSWITH 'an'", ["anvil"]),
        ("name CONTAINS 'ol'", ["Bolt"]), ("name ENDSWITH 'l'", ["anvil"]), ("name LIKE '*o*'", ["Bolt", "Cog*"]),
        (#"name LIKE 'Cog\\*'"#, ["Cog*"]), ("name MATCHES '[A-Z].*'", ["Bolt", "Cog*"]),
        ("name IN {'anvil', 'Cog*', 'x', 'y'}", ["Cog*", "anvil"]),
        ("sku == nil", ["Cog*"]), ("isSold == YES", ["anvil"]), ("maker.name == 'Acme'", ["Bolt", "anvil"]),
        ("maker.country == 'DE'", ["Bolt", "anvil"]), ("maker == nil", ["Cog*"]),
        ("ANY tags.label == 'old'", ["anvil"]), ("tags.@count == 1", ["Bolt"]),
        ("SUBQUERY(tags, $t, $t.label == 'new' AND $t.products.@count == 2).@count == 1", ["Bolt", "anvil"]),
        ("maker.products.@count == 2 AND NOT (name == 'Bolt')", ["anvil"]),
    ]) func predicatesAreAnswered(format: String, expected: [String]) throws {
        // In the order of code points, though the column has that of a language.
        #expect(try names(format) == expected)
    }

    @Test func rowsAreOrderedByCodePoints() throws {
        #expect(try names(nil) == ["Bolt", "Cog*", "anvil"])
        #expect(try names(nil, ascending: false) == ["anvil", "Cog*", "Bolt"])
        #expect(try names(nil, by: "price") == ["Cog*", "anvil", "Bolt"])
        #expect(try names("maker.name <= 'Acme'", by: "maker.country").count == 2)
    }

    /// Rails keeps times without a zone, which are those of UTC, whatever the server or the session
    /// has.
    @Test func timesWithoutAZoneAreThoseOfUTC() throws {
        let time = Date(timeIntervalSince1970: 1_580_702_706.789)
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Maker")
            request.predicate = NSPredicate(
                format: "updatedAt == %@ AND updatedAt > %@", time as NSDate, (time - 0.001) as NSDate)
            let maker = try #require(try context.fetch(request).first)
            maker.setValue(nil, forKey: "updatedAt")
            let other = context.insert("Maker", ["name": "new", "updatedAt": time])
            try context.save()
            #expect(other.value(forKey: "updatedAt") as? Date == time)
        }
        #expect(try shop.texts("SELECT updated_at FROM makers WHERE name = 'new'") == ["2020-02-03 04:05:06.789"])
    }

    @Test func whatNeedsFunctionsOfTheLibraryIsRefused() throws {
        for format in [
            "name ==[c] 'ANVIL'", "name CONTAINS[d] 'a'", "price * weight > 1", "uppercase(name) == 'ANVIL'",
        ] {
            let error = try #require(throws: NSError.self) { try names(format) }
            #expect(error.localizedDescription.contains("none of this library's functions"), "\(format): \(error)")
        }
    }

    @Test func relationshipsArePrefetched() throws {
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Maker")
            request.relationshipKeyPathsForPrefetching = ["products.tags"]
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let makers = try context.fetch(request)
            // Nobody asks the server any more.
            try shop.run("DELETE FROM products_tags")
            let labels = try #require(makers[0].value(forKeyPath: "products.tags.label") as? Set<Set<String>>)
            #expect(labels == [["new", "old"], ["new"]])
        }
    }

    @Test func dictionariesAreFetched() throws {
        let request = NSFetchRequest<NSDictionary>(entityName: "Product")
        request.resultType = .dictionaryResultType
        let total = NSExpressionDescription(
            "total", NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "price")]),
            .decimalAttributeType)
        let last = NSExpressionDescription(
            "last", NSExpression(forFunction: "max:", arguments: [NSExpression(forKeyPath: "name")]),
            .stringAttributeType)
        request.propertiesToFetch = ["maker.country", total, last]
        request.propertiesToGroupBy = ["maker.country"]
        request.sortDescriptors = [NSSortDescriptor(key: "maker.country", ascending: true)]
        try context.performAndWait {
            let rows = try context.fetch(request)
            #expect(rows.map { $0["maker.country"] as? String } == [nil, "DE"])
            #expect(
                rows.map { $0["total"] as? NSDecimalNumber } == [
                    NSDecimalNumber(string: "0.5"), NSDecimalNumber(string: "19.99"),
                ])
            #expect(rows.map { $0["last"] as? String } == ["Cog*", "anvil"])
            let distinct = NSFetchRequest<NSDictionary>(entityName: "Product")
            distinct.resultType = .dictionaryResultType
            distinct.propertiesToFetch = ["name"]
            distinct.returnsDistinctResults = true
            distinct.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
            #expect(try context.fetch(distinct).map { $0["name"] as? String } == ["anvil", "Cog*", "Bolt"])
        }
    }

    /// The store is the same one whoever opens it, and object IDs that were kept lead to their
    /// rows.
    @Test func theStoreHasALastingIdentity() throws {
        let uri = try context.performAndWait {
            try context.all("Product", "sku == 'B1'")[0].objectID.uriRepresentation()
        }
        let other = try shop.otherProgram()
        let coordinator = try #require(other.persistentStoreCoordinator)
        #expect(coordinator.persistentStores[0].identifier == shop.store.identifier)
        #expect(UUID(uuidString: shop.store.identifier ?? "") != nil)
        let objectID = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
        let name = try other.performAndWait { try other.existingObject(with: objectID).text("name") }
        #expect(name == "Bolt")
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSPostgreSQLStoreType, at: shop.url, options: ExternalShop.options)
        #expect(metadata[NSStoreUUIDKey] as? String == shop.store.identifier)
        let another = try ExternalShop()
        #expect(another.store.identifier != shop.store.identifier)
    }

    @Test func aHierarchyHasNumbersOfTheModel() throws {
        let shop = try ExternalShop(
            sql: ExternalShop.sql
                + "; ALTER TABLE tags ADD COLUMN kind smallint NOT NULL DEFAULT 7, ADD COLUMN worth integer; "
                + "INSERT INTO tags (label, kind, worth) VALUES ('plain', 7, NULL), ('dear', 9, 5), ('unknown', 8, "
                + "NULL)"
        ) { model in
            let dear = NSEntityDescription(
                "DearTag", class: "NSManagedObject", [NSAttributeDescription("worth", .integer32AttributeType)])
            dear.userInfo = ["ocd.entityNumber": 9]
            model.entitiesByName["Tag"]?.userInfo = [
                "ocd.table": "tags", "ocd.entity": "kind", "ocd.entityNumber": "7",
            ]
            model.entitiesByName["Tag"]?.subentities = [dear]
            model.entities += [dear]
        }
        try shop.context.performAndWait {
            #expect(try shop.context.all("Tag").map { $0.entity.name } == ["Tag", "DearTag"])
            #expect(try shop.context.all("DearTag", "worth == 5").map { $0.text("label") } == ["dear"])
            _ = shop.context.insert("DearTag", ["label": "dearer", "worth": 6])
            try shop.context.save()
        }
        #expect(try shop.texts("SELECT kind FROM tags WHERE label = 'dearer'") == ["9"])
    }
}
