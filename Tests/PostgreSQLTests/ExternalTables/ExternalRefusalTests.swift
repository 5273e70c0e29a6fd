import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Refusals of a store over external tables, and their errors.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct ExternalRefusalTests {
    // MARK: Opening

    /// A change of the tables, and what the error says of it.
    private static let misfits: [(sql: String, words: [String])] = [
        ("DROP TABLE products_tags", ["no table 'products_tags'", "'Product.tags'"]),
        ("ALTER TABLE products DROP COLUMN title", ["no column 'products.title'", "'Product.name'"]),
        ("ALTER TABLE products_tags RENAME tag_id TO tag", ["no column 'products_tags.tag_id'"]),
        ("ALTER TABLE makers DROP COLUMN lock_version", ["no column 'makers.lock_version'", "'Maker'"]),
        ("ALTER TABLE makers RENAME TO producers", ["no table 'makers'", "'Maker'"]),
        ("ALTER TABLE products ALTER stock TYPE text", ["'products.stock'", "text", "'Product.stock'", "Integer 64"]),
        ("ALTER TABLE products ALTER stock TYPE numeric", ["'products.stock'", "numeric", "Integer 64"]),
        ("ALTER TABLE products ALTER weight TYPE real", ["'products.weight'", "real", "a Double"]),
        ("ALTER TABLE products ALTER made_at TYPE date", ["'products.made_at'", "date", "a Date"]),
        ("ALTER TABLE products ALTER uid TYPE text", ["'products.uid'", "a UUID"]),
        ("ALTER TABLE products ALTER sku TYPE integer USING NULL", ["'products.sku'", "integer", "a String"]),
        (
            "ALTER TABLE makers ALTER lock_version DROP DEFAULT, ALTER lock_version TYPE text",
            ["'makers.lock_version'", "text"]
        ),
        (
            "ALTER TABLE products_tags DROP COLUMN tag_id; ALTER TABLE tags DROP COLUMN id, ADD COLUMN id uuid",
            ["'tags.id'", "uuid", "integer", "'products_tags.tag_id'"]
        ),
        (
            "ALTER TABLE products DROP CONSTRAINT products_sku_key",
            ["'products'", "'sku' is unique", "sku of 'Product'"]
        ),
        ("ALTER TABLE products DROP CONSTRAINT products_sku_key, ADD UNIQUE (sku, title)", ["'sku' is unique"]),
        (
            "ALTER TABLE products DROP CONSTRAINT products_sku_key; CREATE UNIQUE INDEX ON products (sku) INCLUDE "
                + "(title) WHERE sold",
            ["'sku' is unique"]
        ),
        ("ALTER TABLE makers DROP CONSTRAINT makers_pkey CASCADE", ["'makers.id' is no key", "UNIQUE"]),
        (
            "ALTER TABLE tags RENAME TO t; CREATE VIEW tags AS SELECT * FROM t",
            ["'tags' is no table", "ocd.version", "'Tag'"]
        ),
    ]

    @Test(arguments: misfits.indices) func tablesThatDoNotFitAreRefused(number: Int) throws {
        let misfit = Self.misfits[number]
        let error = try ExternalShop.refusal(sql: ExternalShop.sql + ";" + misfit.sql)
        #expect(error.code == CocoaError.Code.persistentStoreIncompatibleSchema.rawValue)
        for word in misfit.words { #expect(error.localizedDescription.contains(word), "\(error.localizedDescription)") }
    }

    @Test func twoPropertiesWithOneColumnAreRefused() throws {
        func give(_ column: String, to attribute: String, _ model: NSManagedObjectModel) {
            model.entitiesByName["Product"]?.attributesByName[attribute]?.userInfo = ["ocd.column": column]
        }
        let error = try ExternalShop.refusal { give("product_id", to: "stock", $0) }
        #expect(
            error.localizedDescription.contains(
                "'Product.stock' has the column 'products.product_id', which is that of the keys"))
        let other = try ExternalShop.refusal { give("title", to: "sku", $0) }
        #expect(other.localizedDescription.contains("'products.title', which is that of 'Product."))
    }

    @Test func aVersionInTheColumnOfKeysIsRefused() throws {
        let error = try ExternalShop.refusal {
            $0.entitiesByName["Tag"]?.userInfo = ["ocd.table": "tags", "ocd.version": "id"]
        }
        #expect(
            error.localizedDescription.contains(
                "the versions of 'Tag' have the column 'tags.id', which is that of the keys"))
    }

    @Test func twoEntitiesWithOneTableAreRefused() throws {
        let error = try ExternalShop.refusal { $0.entitiesByName["Tag"]?.userInfo = ["ocd.table": "makers"] }
        #expect(error.localizedDescription.contains("makers"))
    }

    @Test func aHierarchyNeedsNumbers() throws {
        func add(_ userInfo: [AnyHashable: Any]?, to model: NSManagedObjectModel) {
            let dear = NSEntityDescription("DearTag", class: "NSManagedObject", [NSAttributeDescription]())
            dear.userInfo = userInfo
            model.entitiesByName["Tag"]?.userInfo = ["ocd.table": "tags", "ocd.entityNumber": 1]
            model.entitiesByName["Tag"]?.subentities = [dear]
            model.entities += [dear]
        }
        let without = try ExternalShop.refusal { add(nil, to: $0) }
        #expect(without.localizedDescription.contains("'DearTag'"))
        #expect(without.localizedDescription.contains("ocd.entityNumber"))
        let twice = try ExternalShop.refusal { add(["ocd.entityNumber": 1], to: $0) }
        #expect(twice.localizedDescription.contains("'Tag' and 'DearTag' have the same ocd.entityNumber, 1"))
        let noColumn = try ExternalShop.refusal { add(["ocd.entityNumber": 2], to: $0) }
        #expect(noColumn.localizedDescription.contains("no column 'tags.entity'"))
    }

    @Test func aSequenceThatIsNoneIsRefused() throws {
        let error = try ExternalShop.refusal {
            $0.entitiesByName["Tag"]?.userInfo = ["ocd.table": "tags", "ocd.sequence": "nothing"]
        }
        #expect(error.localizedDescription.contains("'nothing'"))
        #expect(error.localizedDescription.contains("'Tag'"))
    }

    // MARK: Working

    /// Types of other names that lose nothing.
    @Test func typesThatLoseNothingAreTaken() throws {
        let shop = try ExternalShop(
            sql: ExternalShop.sql
                + "; CREATE DOMAIN label AS varchar(30); ALTER TABLE tags ALTER label TYPE label; ALTER TABLE "
                + "products ALTER stock TYPE smallint, "
                + "ALTER sku TYPE char(12), ALTER made_at TYPE timestamp; ALTER TABLE makers ALTER lock_version TYPE "
                + "bigint"
        )
        try shop.fill()
        try shop.context.performAndWait {
            let product = try #require(try shop.context.all("Product", "sku == 'A1' AND ANY tags.label == 'old'").first)
            #expect(product.text("sku") == "A1")
            let time = Date(timeIntervalSince1970: 0)
            for number in 0..<60 {
                _ = shop.context.insert(
                    "Product", ["name": "\(number)", "stock": number, "sku": "S\(number)", "madeAt": time])
                _ = shop.context.insert("Tag", ["label": "\(number)"])
                _ = shop.context.insert("Maker", ["name": "\(number)"])
            }
            try shop.context.save()
            #expect(
                try shop.context.all("Product", "sku == 'S7'").map { $0.value(forKey: "madeAt") as? Date } == [time])
        }
        #expect(try shop.texts("SELECT DISTINCT made_at FROM products WHERE sku LIKE 'S%'") == ["1970-01-01 00:00:00"])
    }

    /// Texts that the others compare without regard to case are compared as predicates do.
    @Test func textsWithoutCaseHaveTheirCase() throws {
        let extensions = "SELECT name::text FROM pg_available_extensions WHERE name = 'citext'"
        if try WireConnection.open().texts(extensions).isEmpty { return }
        let shop = try ExternalShop(
            sql: "CREATE EXTENSION IF NOT EXISTS citext SCHEMA public; " + ExternalShop.sql
                + "; ALTER TABLE tags ALTER label TYPE public.citext")
        try shop.run("INSERT INTO tags (label) VALUES ('b'), ('C'), ('a')")
        try shop.context.performAndWait {
            func labels(_ format: String?) throws -> [String?] {
                try shop.context.all("Tag", format, by: "label").map { $0.text("label") }
            }
            #expect(try labels(nil) == ["C", "a", "b"])
            #expect(try labels("label == 'B'") == [])
            #expect(try labels("label == 'b'") == ["b"])
            #expect(try labels("label IN {'A', 'b', 'c', 'C'}") == ["C", "b"])
            #expect(try labels("label < 'a'") == ["C"])
            #expect(try labels("label BEGINSWITH 'c'") == [])
            #expect(try labels("label BETWEEN {'a', 'b'}") == ["a", "b"])
            _ = shop.context.insert("Tag", ["label": "d"])
            try shop.context.save()
            // For the others it is there.
            _ = shop.context.insert("Tag", ["label": "D"])
            let error = try #require(throws: NSError.self) { try shop.context.save() }
            #expect(error.userInfo["constraint"] as? String == "tags_label_key")
        }
    }

    /// A view shows the tables in another form; the transaction that has written a row can be one
    /// of its columns.
    @Test func aViewIsATable() throws {
        let shop = try ExternalShop(
            sql: ExternalShop.sql + "; ALTER TABLE tags RENAME TO all_tags; "
                + "CREATE VIEW tags AS SELECT id, label, xmin AS written FROM all_tags WHERE label <> 'hidden'"
        ) {
            $0.entitiesByName["Tag"]?.userInfo = [
                "ocd.table": "tags", "ocd.version": "written", "ocd.sequence": "tags_id_seq",
            ]
        }
        try shop.run("INSERT INTO all_tags (label) VALUES ('one'), ('hidden')")
        try shop.context.performAndWait {
            let tag = try shop.context.all("Tag")[0]
            tag.setValue("two", forKey: "label")
            _ = shop.context.insert("Tag", ["label": "three"])
            try shop.context.save()
            tag.setValue("four", forKey: "label")
            try shop.context.save()
            tag.setValue("five", forKey: "label")
            try shop.run("UPDATE all_tags SET label = 'other' WHERE label = 'four'")
            #expect(throws: NSError.self) { try shop.context.save() }
        }
        #expect(try shop.texts("SELECT label FROM all_tags ORDER BY id") == ["other", "hidden", "three"])
    }

    @Test func rowsWithoutASequenceAreNotInserted() throws {
        let shop = try ExternalShop(
            sql: ExternalShop.sql + "; ALTER TABLE tags ALTER id DROP IDENTITY; INSERT INTO tags VALUES (5, 'five')")
        try shop.context.performAndWait {
            try shop.context.all("Tag")[0].setValue("six", forKey: "label")
            try shop.context.save()
            _ = shop.context.insert("Tag", ["label": "new"])
            let error = try #require(throws: NSError.self) { try shop.context.save() }
            #expect(error.localizedDescription.contains("'tags.id'"), "\(error)")
            #expect(error.localizedDescription.contains("no sequence"), "\(error)")
            #expect(error.localizedRecoverySuggestion?.contains("ocd.sequence") == true)
        }
    }

    @Test func theStoreIsNotDestroyed() throws {
        let shop = try ExternalShop()
        try shop.fill()
        for options in [
            ExternalShop.options, ExternalShop.options.merging([NSPersistentStoreForceDestroyOption: true]) { $1 },
        ] {
            let error = try #require(throws: NSError.self) {
                try shop.coordinator.destroyPersistentStore(
                    at: shop.url, ofType: NSPostgreSQLStoreType, options: options)
            }
            #expect(error.localizedDescription.contains("others'"), "\(error)")
        }
        #expect(throws: NSError.self) {
            try shop.coordinator.replacePersistentStore(
                at: shop.url, destinationOptions: ExternalShop.options,
                withPersistentStoreFrom: WireConnection.server().url(schema: "nothing"),
                sourceOptions: nil, ofType: NSPostgreSQLStoreType)
        }
        #expect(try shop.texts("SELECT count(*) FROM products") == ["3"])
    }

    @Test func metadataAreNotWritten() throws {
        let shop = try ExternalShop()
        shop.coordinator.setMetadata(["colour": "red"], for: shop.store)
        try shop.context.performAndWait {
            _ = shop.context.insert("Tag", ["label": "new"])
            let error = try #require(throws: NSError.self) { try shop.context.save() }
            #expect(error.localizedDescription.contains("Metadata"), "\(error)")
        }
        #expect(throws: NSError.self) {
            try NSPersistentStoreCoordinator.setMetadata(
                ["colour": "red"], forPersistentStoreOfType: NSPostgreSQLStoreType, at: shop.url,
                options: ExternalShop.options)
        }
        #expect(try shop.texts("SELECT count(*) FROM tags") == ["0"])
    }

    @Test func followingIsSaidToHaveNoEffect() throws {
        _ = try ExternalShop(options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
        #expect(Warnings.all.contains { $0.contains("not followed") })
    }

    /// A store for reading needs no versions: views of any kind are tables then.
    @Test func anyViewIsReadByAStoreForReading() throws {
        let sql =
            ExternalShop.sql
            + "; ALTER TABLE tags RENAME TO t; CREATE VIEW tags AS SELECT max(id) AS id, upper(label) AS label FROM "
            + "t GROUP BY 2"
        #expect(throws: NSError.self) { try ExternalShop(sql: sql) }
        let shop = try ExternalShop(sql: sql, options: [NSReadOnlyPersistentStoreOption: true])
        try shop.run("INSERT INTO t (label) VALUES ('a'), ('b'), ('A')")
        try shop.context.performAndWait {
            #expect(try shop.context.all("Tag", "label < 'b'").map { $0.text("label") } == ["B", "A"])
            let tag = try shop.context.all("Tag")[0]
            try shop.run("UPDATE t SET label = 'c' WHERE label = 'b'")
            shop.context.refresh(tag, mergeChanges: false)
            #expect(try shop.context.all("Tag", "label == 'C'") == [tag])
            #expect(tag.text("label") == "C")
        }
    }

    @Test func aStoreOpenedForReadingIsNotWritten() throws {
        let shop = try ExternalShop(options: [NSReadOnlyPersistentStoreOption: true])
        try shop.fill()
        try shop.context.performAndWait {
            #expect(try shop.context.all("Product").count == 3)
            try shop.context.all("Product")[0].setValue("x", forKey: "name")
            #expect(throws: NSError.self) { try shop.context.save() }
        }
    }
}
