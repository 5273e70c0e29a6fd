import TestSupport
import Testing

@testable import CoreData

/// The plans of the statements that read a history from a transaction on.
struct HistoryPlanTests {
    @Test(arguments: [HistoryFetch.Subject.changes, .transactions])
    func earlierChangesAreNotRead(subject: HistoryFetch.Subject) throws {
        let folder = try TemporaryFolder()
        let url = folder.file("company.sqlite")
        let open = try OpenStore(
            model: TestModel.company(), url: url, options: [NSPersistentHistoryTrackingKey: true])
        let file = SQLiteFile(url)
        var fetch = HistoryFetch(subject)
        fetch.predicate = NSExpression(forKeyPath: HistoryModel.number).compared(.greaterThan, Int64(1))
        for limit in [0, 10] {
            fetch.limit = limit
            let statement = try HistoryStatement(
                fetch, of: SQLiteHistory.tables(["ATRANSACTION": ["ZAUTHOR"]]),
                SQLGenerator(mapping: SQLiteHistory.mapping.get(), store: open.store))
            for query in [statement.transactions, try #require(statement.changes)] {
                let plan = file.rows(
                    "EXPLAIN QUERY PLAN " + query.sql.replacingOccurrences(of: "?", with: "1")
                ).compactMap { $0.last ?? nil }
                #expect(plan.contains { $0.hasPrefix("SEARCH") })
                #expect(plan.filter { $0.hasPrefix("SCAN") || $0.contains("TEMP B-TREE") } == [])
            }
        }
    }
}
