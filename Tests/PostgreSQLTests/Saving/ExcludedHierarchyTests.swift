import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Rows of one entity of a hierarchy that policies and triggers leave out, and rows that go or
/// change with others.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct ExcludedHierarchyTests {
    // MARK: Policies

    /// A store of a role that policies are for, with two items and two kits, which lie in one
    /// table.
    private struct Guarded {
        let url: URL
        let tables: PostgreSQLTables
        let password: String

        /// - Parameter policies: made when the rows are there; `KIT` stands for the number of the
        ///   entity.
        init(_ policies: [String]) throws {
            let server = try WireConnection.server()
            let schema = server.newSchemaName()
            tables = PostgreSQLTables(server.url(schema: schema))
            password = server.password
            let text = server.url(schema: schema).absoluteString.replacingOccurrences(
                of: "user=\(server.user)", with: "user=\(server.scramUser)")
            url = try #require(URL(string: text))
            _ = try tables.result("CREATE SCHEMA \(schema) AUTHORIZATION \(server.scramUser)")
            let context = try open()
            try context.performAndWait {
                for number in 0..<2 {
                    _ = context.insert("Item", ["name": "item \(number)"])
                    _ = context.insert("Kit", ["name": "kit \(number)"])
                }
                try context.save()
            }
            let kit = try #require(tables.value("SELECT number FROM ocd_entity WHERE name = 'Kit'"))
            _ = try tables.result("ALTER TABLE item ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
            for (index, policy) in policies.enumerated() {
                _ = try tables.result(
                    "CREATE POLICY p\(index) ON item \(policy.replacingOccurrences(of: "KIT", with: kit))")
            }
        }

        func open() throws -> NSManagedObjectContext {
            let password = password
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
            try coordinator.addPersistentStore(
                ofType: NSPostgreSQLStoreType, configurationName: nil, at: url,
                options: [NSPostgreSQLPasswordProviderKey: NSPostgreSQLPasswordProvider { password }])
            return coordinator.newContext()
        }

        var rows: [String?] {
            tables.column("SELECT name || ' ' || stock_count || ' ' || version FROM item ORDER BY id")
        }
    }

    private func names(_ entity: String, _ context: NSManagedObjectContext) throws -> [String?] {
        try context.performAndWait { try context.all(entity, by: "name").map { $0.value(forKey: "name") as? String } }
    }

    @Test func anEntityWhoseRowsAPolicyHidesHasNoObjects() throws {
        let guarded = try Guarded(["USING (entity <> KIT)"])
        let context = try guarded.open()
        #expect(try names("Item", context) == ["item 0", "item 1"])
        #expect(try names("Kit", context) == [])
        let before = guarded.rows
        try context.performAndWait {
            // Neither is a row of it made, nor what was to be saved beside it.
            _ = context.insert("Item", ["name": "item 2"])
            _ = context.insert("Kit", ["name": "kit 2"])
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.domain == NSCocoaErrorDomain, "\(error)")
            #expect(guarded.rows == before)
            for kit in context.insertedObjects where kit.entity.name == "Kit" { context.delete(kit) }
            try context.save()
        }
        #expect(guarded.rows.count == before.count + 1)
    }

    @Test(arguments: [true, false]) func aBatchChangesWhatAPolicyShows(deletes: Bool) throws {
        let guarded = try Guarded(["USING (entity <> KIT)"])
        let context = try guarded.open()
        let count = try context.performAndWait {
            if deletes {
                let request = NSBatchDeleteRequest(
                    fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Item"))
                request.resultType = .resultTypeCount
                return (try context.execute(request) as? NSBatchDeleteResult)?.result as? Int
            }
            let request = NSBatchUpdateRequest(entityName: "Item")
            request.propertiesToUpdate = ["stockCount": 7]
            request.resultType = .updatedObjectsCountResultType
            return (try context.execute(request) as? NSBatchUpdateResult)?.result as? Int
        }
        #expect(count == 2)
        let kits = ["kit 0 0 1", "kit 1 0 1"]
        let left = guarded.rows.compactMap { $0 }.sorted()
        #expect(left == (deletes ? kits : ["item 0 7 2", "item 1 7 2"] + kits))
    }

    /// Everybody sees the kits, and may not change them.
    @Test(arguments: ["error", "object", "overwrite"]) func whatAPolicyKeepsFromBeingChangedFailsTheWholeSave(
        policy: String
    ) throws {
        let guarded = try Guarded([
            "FOR SELECT USING (true)", "FOR INSERT WITH CHECK (true)", "FOR DELETE USING (true)",
            "FOR UPDATE USING (entity <> KIT)",
        ])
        let before = guarded.rows
        let context = try guarded.open()
        try context.performAndWait {
            switch policy {
            case "object": context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            case "overwrite": context.mergePolicy = NSMergePolicy.overwrite
            default: context.mergePolicy = NSMergePolicy.error
            }
            for item in try context.all("Item") { item.setValue(5, forKey: "stockCount") }
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.domain == NSCocoaErrorDomain, "\(error)")
        }
        #expect(guarded.rows == before)
        // The others can be saved without them.
        try context.performAndWait {
            context.reset()
            for item in try context.all("Item") where item.entity.name == "Item" {
                item.setValue(5, forKey: "stockCount")
            }
            try context.save()
        }
        #expect(guarded.rows.compactMap { $0 }.sorted() == ["item 0 5 2", "item 1 5 2", "kit 0 0 1", "kit 1 0 1"])
    }

    @Test func whatAPolicyKeepsFromBeingDeletedFailsTheWholeSave() throws {
        let guarded = try Guarded([
            "FOR SELECT USING (true)", "FOR INSERT WITH CHECK (true)", "FOR UPDATE USING (true)",
            "FOR DELETE USING (entity <> KIT)",
        ])
        let before = guarded.rows
        let context = try guarded.open()
        try context.performAndWait {
            for item in try context.all("Item") { context.delete(item) }
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(
                error.localizedDescription.contains("Of 4 rows of 'Item' to be deleted in the table 'item'"), "\(error)"
            )
            #expect(error.localizedDescription.contains("deleted 2"), "\(error)")
        }
        #expect(guarded.rows == before)
    }

    // MARK: Rows that go or change with others

    /// The delete rule from makers to items.
    enum Rule: CaseIterable, Sendable {
        case cascade, nullify

        var kind: String { self == .cascade ? "DELETE" : "UPDATE" }
        var participle: String { self == .cascade ? "deleted" : "changed" }
    }

    private static func model(_ rule: Rule) -> NSManagedObjectModel {
        let model = Warehouse.model()
        let items = model.entitiesByName["Maker"]?.relationshipsByName["items"]
        items?.deleteRule = rule == .cascade ? .cascadeDeleteRule : .nullifyDeleteRule
        return model
    }

    /// A trigger that leaves out some of the rows of items.
    private static func trigger(_ kind: String, when condition: String) -> String {
        """
        CREATE FUNCTION keep_out() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$; \
        CREATE TRIGGER keep_out BEFORE \(kind) ON item FOR EACH ROW WHEN (\(condition)) EXECUTE FUNCTION keep_out()
        """
    }

    /// A maker of two items and two kits, and one of an item.
    private func fill(_ warehouse: Warehouse) throws {
        let context = warehouse.context
        try context.performAndWait {
            let makers = ["doomed", "other"].map { context.insert("Maker", ["title": $0]) }
            let tag = context.insert("Tag", ["label": "tag"])
            for (index, entity) in ["Item", "Kit", "Item", "Kit", "Item"].enumerated() {
                let item = context.insert(entity, ["name": "\(entity) \(index)", "maker": makers[index / 4]])
                item.setValue(NSOrderedSet(object: tag), forKey: "tags")
            }
            try context.save()
        }
    }

    private static let state = """
        SELECT i.name || ' ' || coalesce(m.title, '-') || ' ' || (SELECT count(*) FROM item_tags t WHERE t.item_id = \
        i.id) \
        FROM item i LEFT JOIN maker m ON m.id = i.maker_id ORDER BY 1
        """

    /// The rows of one entity, or one row of the other.
    @Test(arguments: Rule.allCases, ["entity", "name"])
    func whatIsLeftOutOfAMakersItemsKeepsTheMaker(rule: Rule, column: String) throws {
        let warehouse = try Warehouse(Self.model(rule))
        try fill(warehouse)
        let kit = try warehouse.texts("SELECT number FROM ocd_entity WHERE name = 'Kit'")[0] ?? ""
        try warehouse.run(
            Self.trigger(rule.kind, when: column == "entity" ? "OLD.entity = \(kit)" : "OLD.name = 'Item 2'"))
        let before = try warehouse.texts(Self.state)
        #expect(before.count == 5)
        let context = try warehouse.otherProgram()
        try context.performAndWait {
            context.delete(try context.all("Maker", "title == 'doomed'")[0])
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.localizedDescription.contains("to be \(rule.participle) in the table 'item'"), "\(error)")
            #expect(error.localizedDescription.contains("Nothing was saved"), "\(error)")
            let after = try warehouse.texts(Self.state)
            #expect(after == before)
            // Nothing is lost: the same save succeeds when the trigger is gone.
            try warehouse.run("DROP TRIGGER keep_out ON item")
            try context.save()
        }
        let others = rule == .cascade ? [] : ["Item 0 - 1", "Item 2 - 1", "Kit 1 - 1", "Kit 3 - 1"]
        let left = try warehouse.texts(Self.state).compactMap { $0 }
        #expect(left.sorted() == (["Item 4 other 1"] + others).sorted())
        #expect(try warehouse.texts("SELECT title FROM maker") == ["other"])
    }
}
