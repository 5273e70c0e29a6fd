import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Many new rows for what the server takes no copies into: views without triggers, and tables whose
/// rows have policies.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct UncopiedTableTests {
    /// More than a statement inserts.
    private static let many = 2_300

    private static let view = """
        ; ALTER TABLE tags RENAME TO all_tags; CREATE VIEW tags AS SELECT id, label, xmin AS written FROM all_tags
        """
    private static let trigger = """
        ; CREATE FUNCTION take() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
        INSERT INTO all_tags (id, label) OVERRIDING SYSTEM VALUE VALUES (NEW.id, NEW.label || '!'); RETURN NEW; END \
        $$; \
        CREATE TRIGGER take INSTEAD OF INSERT ON tags FOR EACH ROW EXECUTE FUNCTION take()
        """

    private func insertBatch(_ entity: String, _ key: String, _ count: Int, into context: NSManagedObjectContext) throws
    {
        let request = NSBatchInsertRequest(entityName: entity, objects: (0..<count).map { [key: "batch \($0)"] })
        request.resultType = .count
        #expect((try context.execute(request) as? NSBatchInsertResult)?.result as? Int == count)
    }

    @Test(arguments: [false, true]) func manyRowsGoIntoAView(hasTrigger: Bool) throws {
        let shop = try ExternalShop(sql: ExternalShop.sql + Self.view + (hasTrigger ? Self.trigger : "")) {
            $0.entitiesByName["Tag"]?.userInfo = [
                "ocd.table": "tags", "ocd.version": "written", "ocd.sequence": "tags_id_seq",
            ]
        }
        try shop.context.performAndWait {
            for number in 0..<Self.many { _ = shop.context.insert("Tag", ["label": "save \(number)"]) }
            try shop.context.save()
            try insertBatch("Tag", "label", Self.many, into: shop.context)
        }
        let kinds = try shop.texts(
            "SELECT split_part(label, ' ', 1) || count(DISTINCT label) FROM all_tags GROUP BY split_part(label, ' ', "
                + "1) ORDER BY 1"
        )
        #expect(kinds == ["batch\(Self.many)", "save\(Self.many)"])
        #expect(
            try shop.texts("SELECT count(*) FROM all_tags WHERE label LIKE '%!'") == [
                hasTrigger ? "\(2 * Self.many)" : "0"
            ])
        #expect(try shop.texts("SELECT last_value FROM tags_id_seq") == ["\(2 * Self.many)"])
    }

    private static let policies = [(table: "item", policy: "USING (true) WITH CHECK (name <> 'forbidden')")]

    @Test func manyRowsGoIntoATableWithPolicies() throws {
        let guarded = try GuardedWarehouse(Warehouse.model(), policies: Self.policies)
        let context = try guarded.program(Warehouse.model())
        try context.performAndWait {
            let maker = context.insert("Maker", ["title": "ACME"])
            for number in 0..<Self.many {
                _ = context.insert("Item", ["name": "save \(number)", "maker": maker, "stockCount": number])
            }
            for number in 0..<60 { _ = context.insert("Kit", ["name": "kit \(number)"]) }
            try context.save()
            try insertBatch("Item", "name", 70, into: context)
            #expect(try context.all("Item", "name BEGINSWITH 'save' AND maker.title == 'ACME'").count == Self.many)
            for _ in 0..<60 { _ = context.insert("Item", ["name": "forbidden"]) }
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.userInfo["SQLSTATE"] as? String == "42501", "\(error)")
        }
        let all = "SELECT count(*) || ' ' || count(DISTINCT name) || ' ' || sum(stock_count) FROM item"
        let count = Self.many + 60 + 70
        #expect(guarded.tables.value(all) == "\(count) \(count) \(Self.many * (Self.many - 1) / 2)")
    }

    /// Objects that are moved there are written in blocks.
    @Test func aStoreIsCopiedIntoATableWithPolicies() throws {
        let warehouse = try Warehouse()
        try warehouse.context.performAndWait {
            for number in 0..<Self.many { _ = warehouse.context.insert("Item", ["name": "\(number)"]) }
            try warehouse.context.save()
        }
        let guarded = try GuardedWarehouse(Warehouse.model(), policies: Self.policies)
        try warehouse.coordinator.migratePersistentStore(
            warehouse.store, to: guarded.url, options: guarded.options, withType: NSPostgreSQLStoreType)
        #expect(guarded.tables.value("SELECT count(DISTINCT name) FROM item") == "\(Self.many)")
    }
}
