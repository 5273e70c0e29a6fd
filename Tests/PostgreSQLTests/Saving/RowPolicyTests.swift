import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Rows that a role may read, but neither change nor delete: the server leaves them out of
/// statements without a word.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct RowPolicyTests {
    /// Items named "kept" are to be read and made only.
    private static let policies = [
        (table: "item", policy: "FOR SELECT USING (true)"), (table: "item", policy: "FOR INSERT WITH CHECK (true)"),
        (table: "item", policy: "FOR UPDATE USING (name <> 'kept')"),
        (table: "item", policy: "FOR DELETE USING (name <> 'kept')"),
    ]
    private let model: NSManagedObjectModel
    private let guarded: GuardedWarehouse
    private let context: NSManagedObjectContext

    init() throws {
        model = Warehouse.model()
        model.entitiesByName["Maker"]?.relationshipsByName["items"]?.deleteRule = .cascadeDeleteRule
        guarded = try GuardedWarehouse(model, policies: Self.policies)
        context = try guarded.program(model)
        let context = context
        try context.performAndWait {
            let (maker, tag) = (context.insert("Maker", ["title": "maker"]), context.insert("Tag", ["label": "tag"]))
            for name in ["a", "b", "kept"] {
                let item = context.insert("Item", ["name": name, "maker": maker])
                item.setValue(NSOrderedSet(object: tag), forKey: "tags")
            }
            try context.save()
        }
    }

    /// Each item with the title of its maker and the number of its tags, as the server has them.
    private var state: [String?] {
        guarded.tables.column(
            """
            SELECT i.name || ' ' || i.stock_count || ' ' || coalesce(m.title, '-') || ' ' \
            || (SELECT count(*) FROM item_tags t WHERE t.item_id = i.id) FROM item i LEFT JOIN maker m ON m.id = \
            i.maker_id ORDER BY 1
            """)
    }

    private static let untouched = ["a 0 maker 1", "b 0 maker 1", "kept 0 maker 1"]

    private func item(_ name: String) throws -> NSManagedObject {
        try #require(try context.all("Item", "name == '\(name)'").first)
    }

    /// A row that may not be changed is no conflict: the save fails at once with an error of its
    /// own, whatever the merge policy.
    @Test(arguments: [
        NSMergePolicy.error, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback,
    ])
    func aChangeIsRefusedByName(policy: NSMergePolicy) throws {
        try context.performAndWait {
            context.mergePolicy = policy
            try item("a").setValue(1, forKey: "stockCount")
            try item("kept").setValue(1, forKey: "stockCount")
            try requireRefusal("changed")
            #expect(context.updatedObjects.count == 2)
            context.refresh(try item("kept"), mergeChanges: false)
            try context.save()
            #expect(state == ["a 1 maker 1", "b 0 maker 1", "kept 0 maker 1"])
        }
    }

    @Test func whatIsOnlyLookedAtIsRefusedToo() throws {
        try context.performAndWait {
            try item("a").setValue(1, forKey: "stockCount")
            context.detectConflicts(for: try item("kept"))
            try requireRefusal("changed")
        }
    }

    private func requireRefusal(_ participle: String) throws {
        let error = try #require(errorThrown { try context.save() })
        #expect(error.code == NSPersistentStoreOperationError, "\(error)")
        #expect(error.userInfo["entity"] as? String == "Item")
        #expect(error.userInfo["table"] as? String == "item")
        #expect(error.localizedDescription.contains("to be \(participle)"), "\(error)")
        #expect(state == Self.untouched)
    }

    @Test func aDeletionThatIsRefusedDeletesNothing() throws {
        try context.performAndWait {
            context.delete(try item("a"))
            context.delete(try item("kept"))
            try requireRefusal("deleted")
            #expect(context.deletedObjects.count == 2)
        }
    }

    @Test func aCascadeThatIsRefusedDeletesNothing() throws {
        try context.performAndWait {
            for maker in try context.all("Maker") { context.delete(maker) }
            try requireRefusal("deleted")
            context.rollback()
            #expect(try item("kept").value(forKeyPath: "maker.title") as? String == "maker")
        }
    }

    @Test(arguments: ["Item", "Maker"]) func aBatchDeletionIsReportedAsItIs(entity: String) throws {
        let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: entity))
        request.resultType = .resultTypeCount
        let outcome = Result {
            try context.performAndWait { (try context.execute(request) as? NSBatchDeleteResult)?.result as? Int }
        }
        switch outcome {
        case .failure: #expect(state == Self.untouched)
        case .success(let count):
            #expect(entity == "Item")
            #expect(count == 2)
            #expect(state == ["kept 0 maker 1"])
        }
        #expect(guarded.tables.value("SELECT count(*) FROM maker") == "1")
        // No pair leads to a row that is gone.
        #expect(
            guarded.tables.value(
                "SELECT count(*) FROM item_tags t WHERE NOT EXISTS (SELECT FROM item i WHERE i.id = t.item_id)") == "0")
    }

    @Test(arguments: [NSBatchUpdateRequestResultType.updatedObjectIDsResultType, .updatedObjectsCountResultType])
    func aBatchUpdateIsReportedAsItIs(resultType: NSBatchUpdateRequestResultType) throws {
        let request = NSBatchUpdateRequest(entityName: "Item")
        request.propertiesToUpdate = ["stockCount": 7]
        request.resultType = resultType
        let outcome = Result {
            try context.performAndWait { (try context.execute(request) as? NSBatchUpdateResult)?.result }
        }
        switch outcome {
        case .failure: #expect(state == Self.untouched)
        case .success(let result):
            #expect((result as? [NSManagedObjectID])?.count ?? result as? Int == 2)
            #expect(state == ["a 7 maker 1", "b 7 maker 1", "kept 0 maker 1"])
        }
    }

    /// Rows that nobody sees are not there: fetches, relationships and deletions pass them by, and
    /// what leads to them reads as nil.
    @Test func whatMayNotBeReadIsNotThere() throws {
        _ = try guarded.tables.result("ALTER POLICY policy0 ON item USING (name <> 'kept')")
        let other = try guarded.program(model)
        try other.performAndWait {
            #expect(try other.all("Item", by: "name").map { $0.value(forKey: "name") as? String } == ["a", "b"])
            let maker = try #require(try other.all("Maker").first)
            #expect((maker.value(forKey: "items") as? Set<NSManagedObject>)?.count == 2)
            let tag = try #require(try other.all("Tag").first)
            #expect((tag.value(forKey: "items") as? Set<NSManagedObject>)?.count == 2)
            other.delete(maker)
            do {
                try other.save()
                // Not by this role, which may not see it; the server's own keys decide what becomes
                // of it.
                #expect(state.contains { $0?.hasPrefix("kept") == true })
            } catch {
                #expect(state == Self.untouched)
            }
            #expect(
                guarded.tables.value(
                    "SELECT count(*) FROM item i WHERE maker_id IS NOT NULL "
                        + "AND NOT EXISTS (SELECT FROM maker m WHERE m.id = i.maker_id)") == "0")
        }
    }
}
