import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// The predicates that a store in PostgreSQL refuses, as the article on predicate formats lists
/// them.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"), .needsICU)
struct ListedRefusalTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func section() throws -> String {
        let file = root.appendingPathComponent("Sources/Predicates/Predicates.docc/PredicateFormat.md")
        let article = try String(contentsOf: file, encoding: .utf8)
        return try #require(
            article.components(separatedBy: "\n## In a PostgreSQL store\n").last?.components(separatedBy: "\n## ").first
        )
    }

    /// The rows of one of the section's tables: a predicate, and words of the error.
    private static func rows(ofTable header: String) throws -> [(format: String, words: String)] {
        let lines = try section().components(separatedBy: "\n").drop { !$0.hasPrefix("| \(header) |") }
        return lines.dropFirst(2).prefix { $0.hasPrefix("|") }.map { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return (cells[1].trimmingCharacters(in: ["`"]), cells[2])
        }
    }

    /// The error of a fetch; nil where it is answered.
    private func refusal(_ format: String, _ context: NSManagedObjectContext, _ selector: String? = nil) throws
        -> String?
    {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = try NSPredicate.parse(format)
        if let selector {
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true, selector: Selector(selector))]
        }
        return context.performAndWait {
            do {
                _ = try context.fetch(request)
                return nil
            } catch {
                return (error as NSError).localizedDescription
            }
        }
    }

    @Test func whatIsListedIsRefusedByPostgreSQLAlone() throws {
        let warehouse = try Warehouse()
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("store.sqlite"))
        let file = coordinator.newContext()
        let rows = try Self.rows(ofTable: "Refused")
        #expect(rows.count > 10)
        for row in rows {
            let refusal = try refusal(row.format, warehouse.context)
            #expect(refusal?.contains(row.words) == true, "\(row.format): \(refusal ?? "not refused")")
            #expect(try self.refusal(row.format, file) == nil, "\(row.format)")
        }
    }

    @Test func whatIsListedForServersWithoutICUIsRefusedThereAlone() throws {
        let warehouse = try Warehouse()
        let rows = try Self.rows(ofTable: "Refused without ICU")
        #expect(rows.count == 4)
        let selectors = [
            "caseInsensitiveCompare:", "localizedCompare:", "localizedCaseInsensitiveCompare:",
            "localizedStandardCompare:",
        ]
        for row in rows { #expect(try refusal(row.format, warehouse.context) == nil) }
        for selector in selectors { #expect(try refusal("TRUEPREDICATE", warehouse.context, selector) == nil) }
        // By these functions a schema shows that its server has it.
        try warehouse.run("DROP FUNCTION ocd_fold CASCADE")
        let other = try warehouse.otherProgram()
        for row in rows { #expect(try refusal(row.format, other)?.contains(row.words) == true, "\(row.format)") }
        for selector in selectors {
            #expect(try refusal("TRUEPREDICATE", other, selector)?.contains(rows[0].words) == true)
        }
        #expect(try refusal("TRUEPREDICATE", other, "compare:") == nil)
    }

    // MARK: What is otherwise

    @Test func decimalsAndDatesAreAsTheArticleSays() throws {
        let warehouse = try Warehouse()
        try warehouse.context.performAndWait {
            let date = Date(timeIntervalSinceReferenceDate: 700_000_000.123_456_789)
            let price = NSDecimalNumber(string: "12345678901234567890.123456789")
            _ = warehouse.context.insert("Item", ["madeAt": date, "unitPrice": price])
            try warehouse.context.save()
            warehouse.context.reset()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.predicate = NSPredicate(format: "madeAt == %@", date as NSDate)
            let found = try warehouse.context.fetch(request)
            #expect(found.first?.value(forKey: "unitPrice") as? NSDecimalNumber == price)
        }
    }
}
