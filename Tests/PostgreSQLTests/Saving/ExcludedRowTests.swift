import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Rows that policies and triggers of the server leave out, of which it says nothing but how many
/// it has written.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct ExcludedRowTests {
    /// Something to save, and what is then to be said.
    enum Case: CaseIterable {
        case insertion
        case copy
        case update
        case manyUpdates
        case deletion

        var kind: String {
            switch self {
            case .insertion, .copy: "INSERT"
            case .update, .manyUpdates: "UPDATE"
            case .deletion: "DELETE"
            }
        }

        var complaint: String {
            switch self {
            case .insertion: "Of 3 rows of 'Item' to be inserted in the table 'item'"
            case .copy: "Of 80 rows of 'Item' to be inserted in the table 'item'"
            case .update: "Of 2 rows of 'Item' to be changed in the table 'item'"
            case .manyUpdates: "Of 1200 rows of 'Item' to be changed in the table 'item'"
            case .deletion: "Of 2 rows of 'Item' to be deleted in the table 'item'"
            }
        }

        var written: String {
            switch self {
            case .insertion: "inserted 2"
            case .copy: "inserted 79"
            case .update: "changed 1"
            case .manyUpdates: "changed 1199"
            case .deletion: "deleted 1"
            }
        }

        func change(_ context: NSManagedObjectContext) throws {
            switch self {
            case .insertion:
                for number in 0..<3 { _ = context.insert("Item", ["name": number == 1 ? "kept out" : "\(number)"]) }
            case .copy:
                for number in 0..<80 { _ = context.insert("Item", ["name": number == 1 ? "kept out" : "\(number)"]) }
            case .update:
                for item in try context.all("Item", "name IN {'kept out', 'first'}") {
                    item.setValue(7, forKey: "stockCount")
                }
            case .manyUpdates:
                for item in try context.all("Item", nil).prefix(1200) { item.setValue(7, forKey: "stockCount") }
            case .deletion:
                for item in try context.all("Item", "name IN {'kept out', 'first'}") { context.delete(item) }
            }
        }
    }

    private static func trigger(_ kind: String, _ table: String = "item", column: String = "name") -> String {
        """
        CREATE FUNCTION keep_out() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE r record; BEGIN \
        IF TG_OP = 'INSERT' THEN r := NEW; ELSE r := OLD; END IF; \
        IF r.\(column) = 'kept out' THEN RETURN NULL; ELSIF TG_OP = 'DELETE' THEN RETURN OLD; ELSE RETURN NEW; END \
        IF; END $$; \
        CREATE TRIGGER keep_out BEFORE \(kind) ON \(table) FOR EACH ROW EXECUTE FUNCTION keep_out()
        """
    }

    private func fill(_ warehouse: Warehouse, _ count: Int = 1_300) throws {
        try warehouse.context.performAndWait {
            for name in ["kept out", "first"] { _ = warehouse.context.insert("Item", ["name": name]) }
            for number in 0..<count { _ = warehouse.context.insert("Item", ["name": "other \(number)"]) }
            try warehouse.context.save()
        }
    }

    private func rows(_ warehouse: Warehouse) throws -> [String?] {
        try warehouse.texts("SELECT count(*) || ' ' || sum(stock_count) || ' ' || sum(version) FROM item")
    }

    @Test(arguments: Case.allCases) func aSaveThatTheServerDoesNotMakeWholeIsNone(_ change: Case) throws {
        let warehouse = try Warehouse()
        try fill(warehouse)
        try warehouse.run(Self.trigger(change.kind))
        let before = try rows(warehouse)
        let other = try warehouse.otherProgram()
        try other.performAndWait {
            try change.change(other)
            let error = try #require(throws: NSError.self) { try other.save() }
            #expect(error.localizedDescription.contains(change.complaint), "\(error)")
            #expect(error.localizedDescription.contains(change.written), "\(error)")
            #expect(error.localizedDescription.contains("Nothing was saved"), "\(error)")
            #expect(try rows(warehouse) == before)
            // Nothing is lost: the same save succeeds when the trigger is gone.
            try warehouse.run("DROP TRIGGER keep_out ON item")
            try other.save()
            #expect(try rows(warehouse) != before)
            #expect(!other.hasChanges)
        }
    }

    /// A row policy that was made after the store was opened is noticed after the commit.
    @Test func whatIsNoticedTooLateIsSaid() throws {
        let warehouse = try Warehouse()
        try fill(warehouse, 0)
        try warehouse.run(Self.trigger("UPDATE"))
        let context = warehouse.context
        try context.performAndWait {
            for item in try context.all("Item") { item.setValue(5, forKey: "stockCount") }
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(
                error.localizedDescription.contains("Of 2 rows of 'Item' to be changed in the table 'item'"), "\(error)"
            )
            #expect(error.localizedDescription.contains("All else was saved"), "\(error)")
            #expect(error.localizedRecoverySuggestion?.contains("Reset the context") == true, "\(error)")
            #expect(try warehouse.texts("SELECT name || stock_count FROM item ORDER BY id") == ["kept out0", "first5"])
            // Who reads again sees what was saved, and the next save looks before its commit.
            context.reset()
            let items = try context.all("Item", by: "name")
            #expect(items.map { $0.value(forKey: "stockCount") as? Int } == [5, 0])
            for item in items { item.setValue(6, forKey: "stockCount") }
            let second = try #require(throws: NSError.self) { try context.save() }
            #expect(second.localizedDescription.contains("Nothing was saved"), "\(second)")
        }
        #expect(try warehouse.texts("SELECT name || stock_count FROM item ORDER BY id") == ["kept out0", "first5"])
    }

    @Test(arguments: [2, 80]) func aBatchThatIsNotInsertedWholeIsNone(count: Int) throws {
        let warehouse = try Warehouse()
        try warehouse.run(Self.trigger("INSERT"))
        let other = try warehouse.otherProgram()
        try other.performAndWait {
            let objects = (0..<count).map { ["name": $0 == 1 ? "kept out" : "\($0)"] }
            let error = try #require(throws: NSError.self) {
                try other.execute(NSBatchInsertRequest(entityName: "Item", objects: objects))
            }
            #expect(error.localizedDescription.contains("Of \(count) rows of 'Item' to be inserted"), "\(error)")
        }
        #expect(try warehouse.texts("SELECT count(*) FROM item") == ["0"])
    }

    // MARK: Tables of others

    @Test(arguments: ["INSERT", "UPDATE", "DELETE"]) func tablesOfOthersAreLookedAtToo(kind: String) throws {
        let shop = try ExternalShop()
        try shop.fill()
        try shop.run("UPDATE tags SET label = 'kept out' WHERE label = 'old'; DELETE FROM products_tags")
        try shop.run(Self.trigger(kind, "tags", column: "label"))
        let context = shop.context
        try context.performAndWait {
            switch kind {
            case "INSERT": for label in ["more", "kept out"] { _ = context.insert("Tag", ["label": label]) }
            case "UPDATE":
                for tag in try context.all("Tag") { tag.setValue("\(tag.text("label") ?? "")!", forKey: "label") }
            default: for tag in try context.all("Tag") { context.delete(tag) }
            }
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.localizedDescription.contains("rows of 'Tag' to be"), "\(error)")
            #expect(error.localizedDescription.contains("in the table 'tags'"), "\(error)")
        }
        #expect(try shop.texts("SELECT label FROM tags ORDER BY id") == ["new", "kept out"])
    }

    /// Policies show a row that they do not let anybody delete.
    @Test func whatAPolicyKeepsIsNotReportedAsDeleted() throws {
        let shop = try ExternalShop()
        try shop.fill()
        try shop.run(
            """
            DELETE FROM products_tags; ALTER TABLE tags ENABLE ROW LEVEL SECURITY; CREATE POLICY all_rows ON tags FOR \
            SELECT USING (true); \
            CREATE POLICY all_updates ON tags FOR UPDATE USING (true); CREATE POLICY new_ones ON tags FOR DELETE \
            USING (label = 'new')
            """)
        let context = shop.context
        try context.performAndWait {
            for tag in try context.all("Tag") { context.delete(tag) }
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(
                error.localizedDescription.contains("Of 2 rows of 'Tag' to be deleted in the table 'tags'"), "\(error)")
        }
        #expect(try shop.texts("SELECT label FROM tags ORDER BY id") == ["new", "old"])
    }

    /// A trigger that writes a row into another table of the same hierarchy, as partitions were
    /// made before PostgreSQL had them.
    @Test func aTriggerMayWriteRowsInItsOwnWay() throws {
        let shop = try ExternalShop()
        try shop.run(
            """
            CREATE TABLE recent_tags () INHERITS (tags); CREATE FUNCTION turn() RETURNS trigger LANGUAGE plpgsql \
            SECURITY DEFINER AS $$ BEGIN \
            INSERT INTO recent_tags VALUES (NEW.*); RETURN NULL; END $$; \
            CREATE TRIGGER turn BEFORE INSERT ON tags FOR EACH ROW EXECUTE FUNCTION turn(); \
            ALTER FUNCTION turn() SET search_path TO \(shop.schema)
            """)
        let context = shop.context
        try context.performAndWait {
            for label in ["a", "b"] { _ = context.insert("Tag", ["label": label]) }
            try context.save()
            for number in 0..<60 { _ = context.insert("Tag", ["label": "\(number)"]) }
            try context.save()
        }
        #expect(try shop.texts("SELECT count(*) FROM recent_tags") == ["62"])
    }
}
