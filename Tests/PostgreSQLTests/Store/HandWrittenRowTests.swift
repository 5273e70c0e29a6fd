import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Rows that are inserted with SQL alone.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct HandWrittenRowTests {
    private let warehouse: Warehouse
    private let tables: PostgreSQLTables

    init() throws {
        warehouse = try Warehouse()
        tables = PostgreSQLTables(warehouse.url)
    }

    @Test func aRowNeedsNeitherKeyNorVersion() throws {
        let context = warehouse.context
        for name in ["x", "y"] { _ = try tables.result("INSERT INTO maker (title) VALUES ('\(name)1'), ('\(name)2')") }
        _ = try tables.result("INSERT INTO maker (id, title) VALUES (5000, 'far')")
        _ = try tables.result("INSERT INTO maker (title) VALUES ('behind')")
        #expect(tables.integer("SELECT id FROM maker WHERE title = 'behind'") == 5001)
        try context.performAndWait {
            #expect(try context.all("Maker", "title IN {'x1', 'x2', 'y1', 'y2'}").count == 4)
            try context.all("Maker", "title = 'x1'").first?.setValue("X", forKey: "title")
            for number in 0..<100 { _ = context.insert("Maker", ["title": "own \(number)"]) }
            try context.save()
        }
        _ = try tables.result("INSERT INTO maker (title) VALUES ('last')")
        #expect(tables.integer("SELECT count(*) FROM maker") == 107)
        #expect(
            tables.rows("SELECT title, version FROM maker WHERE title IN ('X', 'x2') ORDER BY 1") == [
                ["X", "2"], ["x2", "1"],
            ])
    }

    @Test func aRowOfARoleWithoutOtherRightsGetsAKey() throws {
        let role = "hand_\(warehouse.schema)"
        _ = try tables.result(
            "CREATE ROLE \(role); GRANT USAGE ON SCHEMA \(warehouse.schema) TO \(role); GRANT INSERT ON tag TO \(role)")
        _ = try tables.result("SET ROLE \(role); INSERT INTO tag (label) VALUES ('by hand'); RESET ROLE")
        #expect(tables.value("SELECT version FROM tag WHERE label = 'by hand'") == "1")
        tables.execute("DROP OWNED BY \(role); DROP ROLE \(role)")
    }
}
