import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// What the article on predicate formats says that a store in PostgreSQL refuses.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"), .needsICU)
struct ListedRefusalTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func section() throws -> String {
        let file = root.appendingPathComponent("Sources/Predicates/Predicates.docc/PredicateFormat.md")
        let article = try String(contentsOf: file, encoding: .utf8)
        return try #require(article.components(separatedBy: "\n## In a PostgreSQL store\n").last?.components(separatedBy: "\n## ").first)
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
    private func refusal(_ format: String, _ context: NSManagedObjectContext, _ selector: String? = nil) throws -> String? {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = try NSPredicate.parse(format)
        if let selector { request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true, selector: Selector(selector))] }
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
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("store.sqlite"))
        let file = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        file.persistentStoreCoordinator = coordinator
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
            "caseInsensitiveCompare:", "localizedCompare:", "localizedCaseInsensitiveCompare:", "localizedStandardCompare:",
        ]
        for row in rows { #expect(try refusal(row.format, warehouse.context) == nil) }
        for selector in selectors { #expect(try refusal("TRUEPREDICATE", warehouse.context, selector) == nil) }
        // By these functions a schema shows that its server has it.
        try warehouse.run("DROP FUNCTION ocd_fold CASCADE")
        let other = try warehouse.otherProgram()
        for row in rows { #expect(try refusal(row.format, other)?.contains(row.words) == true, "\(row.format)") }
        for selector in selectors { #expect(try refusal("TRUEPREDICATE", other, selector)?.contains(rows[0].words) == true) }
        #expect(try refusal("TRUEPREDICATE", other, "compare:") == nil)
    }

    /// What stands around reasons, and those of expressions that are none anywhere: they are refused before.
    private static let general: Set<String> = [
        "in a regular expression", "so many groups within each other",
        "is no regular expression", "is no set of characters", "these bounds", "an open group", "an open set", "an open escape",
        "these flags", "this escape", "a repetition of nothing", "PostgreSQL has nothing for this comparison",
    ]

    @Test func everyReasonOfTheDialectIsListed() throws {
        let section = try Self.section()
        let listed = try (Self.rows(ofTable: "Refused") + Self.rows(ofTable: "Refused without ICU")).map(\.words)
        let folder = Self.root.appendingPathComponent("Sources/CoreDataPostgreSQL/Dialect")
        let literal = try NSRegularExpression(pattern: #"(?:Refusal\(reason: |refusal\(|lacksICU = )"((?:[^"\\]|\\.)*)""#)
        var reasons = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasSuffix(".swift") {
            let source = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
            for match in literal.matches(in: source, range: NSRange(source.startIndex..., in: source)) {
                guard let range = Range(match.range(at: 1), in: source) else { continue }
                reasons += 1
                // What stands between the parts that differ.
                let words = source[range].replacingOccurrences(of: #"\\\([a-zA-Z]*\)"#, with: "\n", options: .regularExpression)
                    .components(separatedBy: "\n").map { $0.trimmingCharacters(in: ["'", "\\", " "]) }.filter { $0.count > 3 }
                for part in words where !Self.general.contains(part) {
                    let isListed = section.contains(part) || listed.contains { part.contains($0) }
                    #expect(isListed, "\(name): \(part)")
                }
            }
        }
        #expect(reasons > 20)
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
