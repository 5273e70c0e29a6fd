import CoreDataPostgreSQL
import Foundation
import TestSupport
import Testing

/// What a program prints of the statements that it sends to a server.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server")) struct ServerStatementLogTests {
    /// The lines of a program that raises the number of an item.
    private func lines(level: Int) throws -> [String] {
        let warehouse = try Warehouse()
        try warehouse.context.performAndWait {
            _ = warehouse.context.insert("Item", ["name": "bolt"])
            try warehouse.context.save()
        }
        let run = try ProgramRun(
            URL(fileURLWithPath: "/usr/bin/env"),
            [
                "OPENCOREDATA_SQL_DEBUG=\(level)", OtherProgram.url.path, "count", warehouse.url.absoluteString, "1",
                "1",
            ])
        #expect(run.output.contains("saved 1, conflicts 0"))
        return run.output.split(separator: "\n").map(String.init)
    }

    @Test func statementsHaveTheirValuesTimeAndRows() throws {
        let lines = try lines(level: 1)
        #expect(lines.contains { $0.hasPrefix("CoreData: sql: SELECT") })
        let place = try #require(
            lines.firstIndex { $0.hasPrefix("CoreData: sql: ") && $0.contains("UPDATE") && $0.contains("item") })
        #expect(lines[place + 1].hasPrefix("CoreData: values: "))
        #expect(lines[place + 2].contains(" ms, 1 rows, "))
        #expect(!lines.contains { $0.hasPrefix("CoreData: plan") })
    }

    @Test func plansComeFromLevelThree() throws {
        let lines = try lines(level: 3)
        let plans = lines.indices.filter { lines[$0].hasPrefix("CoreData: plan of SELECT") }
        #expect(plans.contains { lines[$0 + 1].contains("item") && lines[$0 + 1].contains("cost=") })
    }
}
