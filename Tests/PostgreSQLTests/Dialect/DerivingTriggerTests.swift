import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Triggers of derived attributes: whoever writes, under whatever names, and at the same time as
/// others.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"), .needsICU)
struct DerivingTriggerTests {
    private static func derived(_ name: String, _ type: NSAttributeType, _ format: String)
        -> NSDerivedAttributeDescription
    {
        let attribute = NSDerivedAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        attribute.derivationExpression = NSExpression(format: format)
        return attribute
    }

    /// Makers count their items and sum their stock; items have their maker's title, and their own
    /// name in another form.
    private static func model() -> NSManagedObjectModel {
        let model = Warehouse.model()
        model.entitiesByName["Maker"]?.properties += [
            derived("itemCount", .integer64AttributeType, "items.@count"),
            derived("stock", .integer64AttributeType, "items.@sum.stockCount"),
        ]
        model.entitiesByName["Tag"]?.properties += [derived("itemCount", .integer64AttributeType, "items.@count")]
        model.entitiesByName["Item"]?.properties += [
            derived("makerTitle", .stringAttributeType, "maker.title"),
            derived("search", .stringAttributeType, "canonical:(name)"),
        ]
        return model
    }

    private func warehouse() throws -> Warehouse {
        let warehouse = try Warehouse(Self.model())
        try warehouse.context.performAndWait {
            for title in ["first", "second"] {
                let maker = warehouse.context.insert("Maker", ["title": title])
                for number in 0..<2 {
                    let item = warehouse.context.insert(
                        "Item", ["name": "Ä\(title)\(number)", "stockCount": 10, "maker": maker])
                    item.setValue(
                        NSOrderedSet(array: [warehouse.context.insert("Tag", ["label": "\(number)"])]), forKey: "tags")
                }
            }
            try warehouse.context.save()
        }
        return warehouse
    }

    private static let derivedRows = """
        SELECT concat_ws(' ', 'maker', title, item_count, stock) FROM maker UNION ALL \
        SELECT concat_ws(' ', 'item', name, maker_title, search) FROM item ORDER BY 1
        """

    // MARK: Other programs

    /// A program that has another search path, or none, as the restoring of a dump has.
    @Test(arguments: ["public", "''", "other"]) func othersWriteWithTheirOwnSearchPath(path: String) throws {
        let warehouse = try warehouse()
        let path = path == "other" ? "other_\(warehouse.schema)" : path
        let other = try WireConnection.open()
        defer { other.close() }
        if path.hasPrefix("other") {
            try other.run(
                "CREATE SCHEMA \(path); CREATE TABLE \(path).maker AS SELECT id, title || '?' AS title, 0 AS "
                    + "item_count, 0 AS stock "
                    + "FROM \(warehouse.schema).maker; CREATE TABLE \(path).item AS TABLE \(warehouse.schema).item")
        }
        let schema = warehouse.schema
        func maker(_ title: String) -> String { "(SELECT id FROM \(schema).maker WHERE title = '\(title)')" }
        try other.run("SET search_path TO \(path)")
        try other.run(
            "UPDATE \(schema).item SET maker_id = \(maker("second")), version = version + 1 WHERE name = 'Äfirst0'")
        try other.run(
            "INSERT INTO \(schema).item (id, entity, version, name, stock_count, maker_id) "
                + "SELECT 1000, number, 1, 'ÄB', 5, \(maker("first")) FROM \(schema).ocd_entity WHERE name = 'Item'")
        try other.run("UPDATE \(schema).maker SET title = 'third', version = version + 1 WHERE title = 'second'")
        #expect(
            try warehouse.texts(Self.derivedRows) == [
                "item ÄB first ab", "item Äfirst0 third afirst0", "item Äfirst1 first afirst1",
                "item Äsecond0 third asecond0",
                "item Äsecond1 third asecond1", "maker first 2 15", "maker third 3 30",
            ])
        try other.run("DELETE FROM \(schema).maker WHERE title = 'third'; DELETE FROM \(schema).item WHERE id = 1000")
        #expect(
            try warehouse.texts(Self.derivedRows) == [
                "item Äfirst0 afirst0", "item Äfirst1 first afirst1", "item Äsecond0 asecond0",
                "item Äsecond1 asecond1",
                "maker first 1 10",
            ])
        if path.hasPrefix("other") {
            #expect(try other.integers("SELECT sum(item_count + stock) FROM \(path).maker") == [0])
        }
    }

    /// A store of an older version of the package gets what this one makes when it is opened.
    @Test func olderTriggersAreReplaced() throws {
        let warehouse = try warehouse()
        try warehouse.run(
            """
            CREATE OR REPLACE FUNCTION ocd_functions() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 1'; \
            CREATE OR REPLACE FUNCTION item_maker_title_own() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
            NEW.maker_title := (SELECT title FROM maker WHERE id = NEW.maker_id); RETURN NEW; END $$; \
            DROP TRIGGER maker_item_count_insert ON item; CREATE TRIGGER maker_item_count_insert AFTER INSERT ON item \
            REFERENCING NEW TABLE AS now FOR EACH STATEMENT EXECUTE FUNCTION maker_item_count_insert()
            """)
        let other = try warehouse.otherProgram()
        try expectTriggers(in: warehouse.schema)
        try other.performAndWait {
            let maker = try other.all("Maker", "title == 'first'")[0]
            let item = other.insert("Item", ["name": "new", "maker": maker])
            try other.save()
            #expect(maker.value(forKey: "itemCount") as? Int == 3)
            #expect(item.value(forKey: "makerTitle") as? String == "first")
        }
    }

    /// Triggers name their schema, so opening a store under another name makes them anew.
    @Test func triggersFollowASchemaThatIsRenamed() throws {
        let warehouse = try warehouse()
        let name = "Renamed \(warehouse.schema)"
        try warehouse.run("ALTER SCHEMA \(warehouse.schema) RENAME TO \"\(name)\"")
        let url = try WireConnection.server().url(schema: name)
        for _ in 0..<2 {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
            try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url)
            try expectTriggers(in: name)
        }
        #expect(Warnings.all.allSatisfy { !$0.contains(name) })
    }

    /// The triggers compute the derived values for every program that writes.
    private func expectTriggers(in schema: String) throws {
        let other = try WireConnection.open()
        defer { other.close() }
        let query = "SELECT count(*) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal "
        let ofSchema = query + "AND c.relnamespace = to_regnamespace(quote_ident($1))"
        let count = try other.integers(ofSchema, [.text(schema)])
        let ours = try other.integers(
            ofSchema
                + " AND (t.tgnewtable IS NULL OR t.tgnewtable = 'ocd_now') AND (t.tgoldtable IS NULL OR t.tgoldtable "
                + "= 'ocd_former')",
            [.text(schema)])
        #expect(count == ours)
        #expect(count == [5 + 4 * 3])
        try other.run("SET search_path TO ''; UPDATE \"\(schema)\".item SET maker_id = NULL WHERE name = 'Äsecond0'")
        #expect(
            try other.texts(
                "SELECT concat_ws(' ', item_count::text, stock::text) FROM \"\(schema)\".maker WHERE title = 'second'")
                == ["1 10"])
        try other.run(
            "UPDATE \"\(schema)\".item SET maker_id = (SELECT id FROM \"\(schema)\".maker WHERE title = 'second') "
                + "WHERE name = 'Äsecond0'"
        )
    }

    // MARK: At the same time

    /// Rows that two transactions add to one owner are counted both.
    @Test func rowsOfTwoTransactionsAreCounted() throws {
        let warehouse = try warehouse()
        let context = warehouse.context
        let maker = try context.performAndWait { try context.all("Maker", "title == 'first'")[0].objectID }
        let other = try WireConnection.open()
        defer { other.close() }
        try other.run(
            "SET search_path TO \(warehouse.schema); BEGIN; INSERT INTO item (id, entity, version, name, "
                + "stock_count, maker_id) "
                + "SELECT 100000 + n, number, 1, '', 1, maker.id FROM generate_series(1, 500) AS n, ocd_entity, maker "
                + "WHERE ocd_entity.name = 'Item' AND maker.title = 'first'")
        let insertion = OtherThread {
            try context.performAndWait {
                let rows = (0..<500).map { ["name": "\($0)", "stockCount": 1, "maker": maker] as [String: Any] }
                _ = try context.execute(NSBatchInsertRequest(entityName: "Item", objects: rows))
            }
        }
        try other.waitUntilItBlocksAnother()
        try other.run("COMMIT")
        try insertion.value()
        #expect(
            try warehouse.texts("SELECT concat_ws(' ', item_count, stock) FROM maker WHERE title = 'first'") == [
                "1002 1020"
            ])
        #expect(try warehouse.texts("SELECT count(*) FROM item WHERE maker_title = 'first'") == ["1002"])
    }

    @Test func rowsThatTwoTransactionsDeleteAreNotCounted() throws {
        let warehouse = try warehouse()
        let context = warehouse.context
        let other = try WireConnection.open()
        defer { other.close() }
        try other.run("SET search_path TO \(warehouse.schema); BEGIN; DELETE FROM item WHERE name = 'Äfirst0'")
        let deletion = OtherThread {
            try context.performAndWait {
                let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
                request.predicate = NSPredicate(format: "name == 'Äfirst1'")
                _ = try context.execute(NSBatchDeleteRequest(fetchRequest: request))
            }
        }
        try other.waitUntilItBlocksAnother()
        try other.run("COMMIT")
        try deletion.value()
        #expect(
            try warehouse.texts("SELECT concat_ws(' ', item_count, stock) FROM maker WHERE title = 'first'") == ["0 0"])
    }

    @Test func pairsOfTwoTransactionsAreCounted() throws {
        let warehouse = try warehouse()
        let writers = try (0..<2).map { _ in
            let writer = try WireConnection.open()
            try writer.run("SET search_path TO \(warehouse.schema); BEGIN")
            return writer
        }
        let pairs = "INSERT INTO item_tags (item_id, tag_id) SELECT id, (SELECT min(id) FROM tag) FROM item "
        try writers[0].run(pairs + "WHERE name LIKE 'Äfirst%' ON CONFLICT DO NOTHING")
        nonisolated(unsafe) let second = writers[1]
        let insertion = OtherThread {
            try second.run(pairs + "WHERE name LIKE 'Äsecond%' ON CONFLICT DO NOTHING; COMMIT")
        }
        try writers[0].waitUntilItBlocksAnother()
        try writers[0].run("COMMIT")
        try insertion.value()
        #expect(try warehouse.texts("SELECT item_count FROM tag ORDER BY id LIMIT 1") == ["4"])
        for writer in writers { writer.close() }
    }

    // MARK: Names

    /// Attributes and entities that are called as something in the text of a trigger.
    @Test(arguments: ["found", "new", "old", "tgOp", "ocdKeys", "d", "former", "touched"])
    func attributesAreCalledAsTheyLike(name: String) throws {
        let box = NSEntityDescription(
            "Box", class: "NSManagedObject", [NSAttributeDescription(name, .integer64AttributeType)])
        let part = NSEntityDescription(
            "Part", class: "NSManagedObject", [NSAttributeDescription(name, .integer64AttributeType)])
        relate(box, "parts", toMany: true, part, inverse: "box")
        box.properties += [
            Self.derived("sum", .integer64AttributeType, "parts.@sum.\(name)"),
            Self.derived("count", .integer64AttributeType, "parts.@count"),
        ]
        part.properties += [Self.derived("derived", .integer64AttributeType, "box.\(name)")]
        let warehouse = try Warehouse(NSManagedObjectModel([box, part]))
        try check(warehouse, "Box", "Part", name)
    }

    @Test(arguments: [
        "Now", "Former", "D", "New", "Old", "Found", "Touched", "Changed", "OcdNow", "OcdFormer", "OcdSource",
    ])
    func entitiesAreCalledAsTheyLike(name: String) throws {
        for isOwner in [true, false] {
            let box = NSEntityDescription(
                isOwner ? name : "Box", class: "NSManagedObject",
                [NSAttributeDescription("number", .integer64AttributeType)])
            let part = NSEntityDescription(
                isOwner ? "Part" : name, class: "NSManagedObject",
                [NSAttributeDescription("number", .integer64AttributeType)])
            relate(box, "parts", toMany: true, part, inverse: "box")
            box.properties += [
                Self.derived("sum", .integer64AttributeType, "parts.@sum.number"),
                Self.derived("count", .integer64AttributeType, "parts.@count"),
            ]
            part.properties += [Self.derived("derived", .integer64AttributeType, "box.number")]
            let warehouse = try Warehouse(NSManagedObjectModel([box, part]))
            try check(warehouse, isOwner ? name : "Box", isOwner ? "Part" : name, "number")
        }
    }

    /// Boxes with a sum and a count of their parts, which have the number of their box.
    private func check(_ warehouse: Warehouse, _ box: String, _ part: String, _ attribute: String) throws {
        let context = warehouse.context
        try context.performAndWait {
            let boxes = [7, 8].map { context.insert(box, [attribute: $0]) }
            let parts = (0..<3).map { context.insert(part, [attribute: 10 + $0, "box": boxes[0]]) }
            try context.save()
            func values(_ objects: [NSManagedObject], _ keys: String...) -> [[Int?]] {
                objects.map { object in keys.map { object.value(forKey: $0) as? Int } }
            }
            #expect(values(boxes, "sum", "count") == [[33, 3], [0, 0]])
            #expect(values(parts, "derived") == [[7], [7], [7]])
            parts[2].setValue(boxes[1], forKey: "box")
            parts[0].setValue(20, forKey: attribute)
            try context.save()
            #expect(values(boxes, "sum", "count") == [[31, 2], [12, 1]])
            #expect(values(parts, "derived") == [[7], [7], [8]])
            boxes[0].setValue(9, forKey: attribute)
            context.delete(parts[1])
            try context.save()
            context.refreshAllObjects()
            #expect(values(boxes, "sum", "count") == [[20, 1], [12, 1]])
            #expect(values([parts[0], parts[2]], "derived") == [[9], [8]])
        }
    }
}
