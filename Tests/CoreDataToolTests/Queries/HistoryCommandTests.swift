import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// `coredata history`: the transactions of a store.
struct HistoryCommandTests {
    private let folder: TemporaryFolder
    private let url: URL

    private var file: SQLiteFile { SQLiteFile(url) }

    /// Three transactions, of the first three days of 2026.
    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("Shop.sqlite")
        let (name, sku) = (
            NSAttributeDescription("name", .stringAttributeType), NSAttributeDescription("sku", .stringAttributeType)
        )
        sku.preservesValueInHistoryOnDeletion = true
        let item = NSEntityDescription("Item", class: "NSManagedObject", [name, sku])
        let bundle = NSEntityDescription("Bundle", class: "NSManagedObject", [])
        item.subentities = [bundle]
        let maker = NSEntityDescription(
            "Maker", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([item, bundle, maker]))
        let store = try coordinator.addPersistentStore(
            type: .sqlite, at: url, options: [NSPersistentHistoryTrackingKey: true as NSNumber])
        let context = coordinator.newContext()
        try context.performAndWait {
            func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                for (key, value) in values { object.setValue(value, forKey: key) }
                return object
            }
            context.name = "main"
            context.transactionAuthor = "app"
            let bolt = insert("Item", ["name": "Bolt", "sku": "b1"])
            try context.save()
            context.transactionAuthor = nil
            context.name = nil
            bolt.setValue("Nut", forKey: "name")
            bolt.setValue("n1", forKey: "sku")
            _ = insert("Maker", ["name": "M"])
            try context.save()
            context.transactionAuthor = "sync"
            context.delete(bolt)
            _ = insert("Bundle", [:])
            try context.save()
        }
        try coordinator.remove(store)
        try file.run("UPDATE ATRANSACTION SET ZTIMESTAMP = 788918400 + (Z_PK - 1) * 86400")
    }

    private func history(_ arguments: String...) -> ToolRun { ToolRun(["history", url.path] + arguments) }

    private var process: String { ProcessInfo.processInfo.processName }

    @Test func aLineForEachTransactionSaysWhenByWhomAndHowMuch() {
        let run = history()
        #expect(run.status == 0)
        #expect(
            run.output == """
                1  2026-01-01T00:00:00Z  app · main · \(process)  1 inserted
                2  2026-01-02T00:00:00Z  \(process)  1 inserted, 1 updated
                3  2026-01-03T00:00:00Z  sync · \(process)  1 inserted, 1 deleted

                """)
    }

    @Test func changesHaveTheirPropertiesAndPreservedValues() {
        let lines = history("--changes", "--since", "2026-01-02").output.split(separator: "\n").map(String.init)
        #expect(lines.count == 6)
        #expect(lines.contains("    updated Item/p1: name, sku"))
        #expect(lines.contains("    inserted Maker/p1"))
        #expect(lines.contains("    deleted Item/p1: sku = n1"))
        #expect(lines.contains("    inserted Bundle/p2"))
    }

    @Test func oneObjectIsFollowedAlsoWhenItIsDeleted() {
        let lines = history("--object", "Item/p1").output.split(separator: "\n").filter { $0.hasPrefix(" ") }
        #expect(
            lines == ["    inserted Item/p1", "    updated Item/p1: name, sku", "    deleted Item/p1: sku = n1"])
    }

    @Test func anEntityStandsForItsSubentitiesToo() {
        let makers = history("--entity", "maker").output
        #expect(makers == "2  2026-01-02T00:00:00Z  \(process)  1 inserted\n")
        let items = history("--entity", "Item", "--changes").output
        #expect(items.contains("inserted Bundle/p2"))
        #expect(!items.contains("Maker"))
        #expect(history("--entity", "Bundle").output == "3  2026-01-03T00:00:00Z  sync · \(process)  1 inserted\n")
    }

    @Test func theLastTransactionsAreShown() {
        #expect(history("--limit", "1").output.hasPrefix("3  "))
        #expect(history("--limit", "2").output.hasPrefix("2  "))
        #expect(history("--limit", "9").output.hasPrefix("1  "))
        #expect(history("--limit", "0").output == "There is no such transaction.\n")
    }

    @Test func jsonHasTheSameForPrograms() throws {
        let all = try #require(try history("--format", "json", "--changes").json() as? [[String: Any]])
        #expect(all.map { $0["transaction"] as? Int } == [1, 2, 3])
        #expect(all[0]["author"] as? String == "app")
        #expect(all[1]["author"] is NSNull)
        #expect(all[2]["deleted"] as? Int == 1)
        let changes = try #require(all[2]["changes"] as? [[String: Any]])
        let deletion = try #require(changes.first { $0["kind"] as? String == "deleted" })
        #expect(deletion["object"] as? String == "Item/p1")
        #expect(deletion["tombstone"] as? [String: String] == ["sku": "n1"])
        #expect(history("--format", "ndjson").output.split(separator: "\n").count == 3)
        #expect(history("--json", "--since", "2027-01-01").output == "[]\n")
    }

    @Test func aPurgeDeletesWhatIsOlder() {
        #expect(history("--purge-before", "2026-01-03").output.contains("Nothing was deleted."))
        #expect(file.integer("SELECT count(*) FROM ATRANSACTION") == 3)
        #expect(history("--purge-before", "2026-01-03", "--yes").output == "Deleted 2 transactions.\n")
        #expect(file.column("SELECT Z_PK FROM ATRANSACTION") == ["3"])
        #expect(file.column("SELECT DISTINCT ZTRANSACTIONID FROM ACHANGE") == ["3"])
        #expect(history("--purge-before", "2026-01-03", "--yes").output.hasPrefix("There is no transaction before"))
        #expect(ToolRun(["check", url.path]).status == 0)
    }

    @Test func aStoreWithoutHistoryHasNoTransactions() throws {
        let shop = try Warehouse()
        #expect(ToolRun(["history", shop.path]).output == "The store has no history.\n")
    }

    @Test(arguments: [
        ["--since", "yesterday"], ["--purge-before", "soon"], ["--limit", "-1"],
        ["--purge-before", "2026-01-01", "--changes"],
    ]) func whatMakesNoSenseIsAMistakeOfUse(arguments: [String]) {
        #expect(ToolRun(["history", url.path] + arguments).status == 64)
    }

    @Test func unknownNamesAreExplained() {
        #expect(history("--entity", "Itm").errors.contains("Item"))
        #expect(history("--object", "Item").errors.contains("names no object"))
    }
}
