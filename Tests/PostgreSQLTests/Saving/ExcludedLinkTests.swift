import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Pairs, positions and keys of owners that policies and triggers of the server leave out.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct ExcludedLinkTests {
    /// A trigger that leaves out all that a program writes into a table, and one that looks on.
    private static func trigger(_ kind: String, _ table: String, leavesOut: Bool = true, _ columns: String = "")
        -> String
    {
        let result = leavesOut ? "NULL" : "coalesce(NEW, OLD)"
        return """
            CREATE FUNCTION keep_out() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN \(result); END $$; \
            CREATE TRIGGER keep_out BEFORE \(kind) \(columns) ON \(table) FOR EACH ROW EXECUTE FUNCTION keep_out()
            """
    }

    /// Something to do with the tags of an item that has the first two of three.
    enum Change: String, CaseIterable {
        case addition = "INSERT"
        case removal = "DELETE"
        case order = "UPDATE"
        case deletionOfTheItem
        case deletionOfATag

        var kind: String { rawValue.hasPrefix("deletion") ? "DELETE" : rawValue }

        func make(_ context: NSManagedObjectContext, _ item: NSManagedObject, _ tags: [NSManagedObject]) {
            switch self {
            case .addition: item.setValue(NSOrderedSet(array: tags), forKey: "tags")
            case .removal: item.setValue(NSOrderedSet(array: [tags[0]]), forKey: "tags")
            case .order: item.setValue(NSOrderedSet(array: [tags[1], tags[0]]), forKey: "tags")
            case .deletionOfTheItem: context.delete(item)
            case .deletionOfATag: context.delete(tags[0])
            }
        }
    }

    private func fill(_ context: NSManagedObjectContext) throws {
        try context.performAndWait {
            let tags = ["a", "b", "c"].map { context.insert("Tag", ["label": $0]) }
            context.insert("Item", ["name": "tagged"]).setValue(
                NSOrderedSet(array: Array(tags.prefix(2))), forKey: "tags")
            try context.save()
        }
    }

    private static let pairs =
        "SELECT item_id || ' ' || tag_id || ' ' || t FROM (SELECT item_id, tag_id, item_tags::text t FROM item_tags) "
        + "q ORDER BY 1"

    @Test(arguments: Change.allCases) func pairsAndPositionsAreLookedAt(change: Change) throws {
        let warehouse = try Warehouse()
        try fill(warehouse.context)
        try warehouse.run(Self.trigger(change.kind, "item_tags"))
        let before = try warehouse.texts(Self.pairs)
        let context = try warehouse.otherProgram()
        try context.performAndWait {
            let (item, tags) = (try context.all("Item")[0], try context.all("Tag", by: "label"))
            change.make(context, item, tags)
            item.isDeleted ? () : item.setValue(5, forKey: "stockCount")
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.localizedDescription.contains("In the table 'item_tags'"), "\(error)")
            #expect(error.localizedDescription.contains("'tags' of 'Item'"), "\(error)")
            #expect(error.localizedDescription.contains("Nothing was saved"), "\(error)")
            #expect(try warehouse.texts(Self.pairs) == before)
            #expect(try warehouse.texts("SELECT stock_count || ' ' || count(*) OVER () FROM item") == ["0 1"])
            // Nothing is lost: the same save succeeds when the trigger is gone.
            try warehouse.run("DROP TRIGGER keep_out ON item_tags")
            try context.save()
            #expect(try warehouse.texts(Self.pairs) != before)
        }
    }

    /// A trigger that leaves out nothing is in nobody's way.
    @Test(arguments: Change.allCases) func whoLooksOnLeavesOutNothing(change: Change) throws {
        let (watched, plain) = (try Warehouse(), try Warehouse())
        for warehouse in [watched, plain] {
            try fill(warehouse.context)
            if warehouse === watched {
                try warehouse.run(Self.trigger("INSERT OR UPDATE OR DELETE", "item_tags", leavesOut: false))
            }
            let context = try warehouse.otherProgram()
            try context.performAndWait {
                change.make(context, try context.all("Item")[0], try context.all("Tag", by: "label"))
                try context.save()
            }
        }
        #expect(try watched.texts(Self.pairs) == plain.texts(Self.pairs))
    }

    // MARK: Keys without an inverse

    private static func boxes(ordered: Bool) -> NSManagedObjectModel {
        let box = NSEntityDescription(
            "Box", class: "NSManagedObject", [NSAttributeDescription("label", .stringAttributeType)])
        let thing = NSEntityDescription(
            "Thing", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        let things = NSRelationshipDescription()
        (things.name, things.destinationEntity, things.maxCount, things.isOrdered) = ("things", thing, 0, ordered)
        box.properties += [things]
        return NSManagedObjectModel([box, thing])
    }

    @Test(arguments: [false, true], ["give", "take", "delete", "swap"])
    func keysOfOwnersAreLookedAt(ordered: Bool, change: String) throws {
        if change == "swap", !ordered { return }
        let warehouse = try Warehouse(Self.boxes(ordered: ordered))
        try warehouse.context.performAndWait {
            let things = ["a", "b", "c"].map { warehouse.context.insert("Thing", ["name": $0]) }
            let some = Array(things.prefix(2))
            let held: Any = ordered ? NSOrderedSet(array: some) : NSSet(array: some)
            warehouse.context.insert("Box", ["label": "full"]).setValue(held, forKey: "things")
            try warehouse.context.save()
        }
        let rows = "SELECT thing::text FROM thing ORDER BY id"
        let before = try warehouse.texts(rows)
        try warehouse.run(Self.trigger("UPDATE", "thing"))
        let context = try warehouse.otherProgram()
        try context.performAndWait {
            let (box, things) = (try context.all("Box")[0], try context.all("Thing", by: "name"))
            func hold(_ things: [NSManagedObject]) {
                box.setValue(ordered ? NSOrderedSet(array: things) : NSSet(array: things), forKey: "things")
            }
            switch change {
            case "give": hold(things)
            case "take": hold([things[1]])
            case "swap": hold([things[1], things[0]])
            default: context.delete(box)
            }
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.localizedDescription.contains("In the table 'thing'"), "\(error)")
            #expect(error.localizedDescription.contains("'things' of 'Box'"), "\(error)")
            #expect(try warehouse.texts(rows) == before)
            try warehouse.run("DROP TRIGGER keep_out ON thing")
            try context.save()
            #expect(try warehouse.texts(rows) != before)
        }
    }

    // MARK: Tables of others

    @Test(arguments: ["INSERT", "DELETE"]) func pairsInTablesOfOthersAreLookedAt(kind: String) throws {
        let shop = try ExternalShop()
        try shop.fill()
        try shop.run(Self.trigger(kind, "products_tags"))
        let context = try shop.otherProgram()
        try context.performAndWait {
            let product = try context.all("Product", "sku == 'B1'")[0]
            product.setValue(Set(kind == "INSERT" ? try context.all("Tag") : []), forKey: "tags")
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.localizedDescription.contains("1 row of the relationship 'tags' of 'Product'"), "\(error)")
            #expect(error.localizedDescription.contains("In the table 'products_tags'"), "\(error)")
        }
        #expect(
            try shop.texts("SELECT product_id || ' ' || tag_id FROM products_tags ORDER BY 1") == ["1 1", "1 2", "2 1"])
    }

    /// Pairs that others have written and removed in the meantime are as the save wants them, which
    /// is all that counts.
    @Test func whatOthersHaveDoneAlreadyIsDone() throws {
        let shop = try ExternalShop()
        try shop.fill()
        try shop.run(Self.trigger("INSERT OR DELETE", "products_tags", leavesOut: false))
        let context = try shop.otherProgram()
        try context.performAndWait {
            let product = try context.all("Product", "sku == 'B1'")[0]
            product.setValue(Set(try context.all("Tag", "label == 'old'")), forKey: "tags")
            try shop.run("DELETE FROM products_tags WHERE product_id = 2; INSERT INTO products_tags VALUES (2, 2)")
            try context.save()
        }
        #expect(
            try shop.texts("SELECT product_id || ' ' || tag_id FROM products_tags ORDER BY 1") == ["1 1", "1 2", "2 2"])
    }

    /// An update that is left out is not taken for done because another statement of the save has
    /// written the row.
    @Test func aRowThatIsWrittenTwiceIsLookedAtTwice() throws {
        let model = Self.boxes(ordered: false)
        for name in ["Box", "Thing"] { model.entitiesByName[name]?.userInfo = ["ocd.table": name.lowercased()] }
        model.entitiesByName["Box"]?.relationshipsByName["things"]?.userInfo = ["ocd.column": "box"]
        let sql = """
            CREATE TABLE box (id bigserial PRIMARY KEY, label text); CREATE TABLE thing (id bigserial PRIMARY KEY, \
            name text, box bigint); \
            INSERT INTO box (label) VALUES ('full'); INSERT INTO thing (name) VALUES ('a'); \
            \(Self.trigger("UPDATE", "thing", "OF name"))
            """
        let firm = try ExternalShop(sql: sql, model: model)
        let context = firm.context
        try context.performAndWait {
            let thing = try context.all("Thing")[0]
            thing.setValue("renamed", forKey: "name")
            try context.all("Box")[0].setValue(NSSet(object: thing), forKey: "things")
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.localizedDescription.contains("Of 1 rows of 'Thing' to be changed"), "\(error)")
        }
        #expect(try firm.texts("SELECT name || coalesce(box::text, '') FROM thing") == ["a"])
    }

    /// A row that something else of the same save deletes is not taken for changed.
    @Test func aRowThatIsGoneIsNoRowThatWasChanged() throws {
        let shop = try ExternalShop(
            sql: ExternalShop.sql + "; ALTER TABLE products ADD COLUMN tag bigint REFERENCES tags ON DELETE CASCADE")
        try shop.fill()
        try shop.run("DELETE FROM products_tags; UPDATE products SET tag = 1 WHERE product_id = 1")
        let context = shop.context
        try context.performAndWait {
            context.delete(try context.all("Tag", "label == 'new'")[0])
            try context.all("Product", "sku == 'A1'")[0].setValue(77, forKey: "stock")
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.localizedDescription.contains("Of 1 rows of 'Product' to be changed"), "\(error)")
        }
        #expect(try shop.texts("SELECT stock FROM products WHERE product_id = 1") == ["3"])
    }

    // MARK: Rows that are written elsewhere

    private static let view =
        "; ALTER TABLE tags RENAME TO all_tags; CREATE VIEW tags AS SELECT id, label, xmin AS written FROM all_tags"

    private func shopWithView(_ triggers: String) throws -> ExternalShop {
        try ExternalShop(sql: ExternalShop.sql + Self.view + triggers) {
            $0.entitiesByName["Tag"]?.userInfo = [
                "ocd.table": "tags", "ocd.version": "written", "ocd.sequence": "tags_id_seq",
            ]
        }
    }

    /// A trigger in place of a change may say that nothing is left to do, which the server takes
    /// for a row left out.
    @Test func aTriggerMayChangeAndDeleteRowsInItsOwnWay() throws {
        let shop = try shopWithView(
            """
            ; ALTER TABLE all_tags ADD COLUMN gone boolean NOT NULL DEFAULT false; \
            CREATE OR REPLACE VIEW tags AS SELECT id, label, xmin AS written FROM all_tags WHERE NOT gone; \
            CREATE FUNCTION turn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
            IF TG_OP = 'UPDATE' THEN UPDATE all_tags SET label = NEW.label WHERE id = OLD.id; \
            ELSE UPDATE all_tags SET gone = true WHERE id = OLD.id; END IF; RETURN NULL; END $$; \
            CREATE TRIGGER turn INSTEAD OF UPDATE OR DELETE ON tags FOR EACH ROW EXECUTE FUNCTION turn()
            """)
        try shop.run("INSERT INTO all_tags (label) VALUES ('first'), ('second'), ('third')")
        let context = shop.context
        try context.performAndWait {
            let tags = try context.all("Tag", by: "label")
            tags[0].setValue("changed", forKey: "label")
            context.delete(tags[1])
            try context.save()
            tags[0].setValue("changed again", forKey: "label")
            try context.save()
        }
        #expect(
            try shop.texts("SELECT label || ' ' || gone FROM all_tags ORDER BY id") == [
                "changed again false", "second true", "third false",
            ])
    }

    @Test(arguments: ["UPDATE", "DELETE"]) func aTriggerThatDoesNothingIsNoticed(kind: String) throws {
        let shop = try shopWithView(
            """
            ; CREATE FUNCTION turn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$; \
            CREATE TRIGGER turn INSTEAD OF \(kind) ON tags FOR EACH ROW EXECUTE FUNCTION turn()
            """)
        try shop.run("INSERT INTO all_tags (label) VALUES ('first')")
        let context = shop.context
        try context.performAndWait {
            let tag = try context.all("Tag")[0]
            if kind == "UPDATE" { tag.setValue("changed", forKey: "label") } else { context.delete(tag) }
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.localizedDescription.contains("Of 1 rows of 'Tag' to be"), "\(error)")
        }
        #expect(try shop.texts("SELECT label FROM all_tags") == ["first"])
    }
}
