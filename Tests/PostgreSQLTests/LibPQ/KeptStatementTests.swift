import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreDataPostgreSQL

/// Statements whose plans the server keeps.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct KeptStatementTests {
    private func keptCount(_ connection: LibPQConnection) throws -> Int {
        try connection.integers("SELECT count(*) FROM pg_prepared_statements")[0]
    }

    @Test func aStatementIsPreparedOnce() throws {
        let connection = try WireConnection.open()
        for number in 1...5 {
            #expect(try connection.integers("SELECT $1 + 1", [.int8(Int64(number))], isKept: true) == [number + 1])
        }
        #expect(try connection.integers("SELECT generic_plans + custom_plans FROM pg_prepared_statements") == [5])
        #expect(try connection.integers("SELECT $1 + 2", [.int8(1)]) == [3])
        #expect(try keptCount(connection) == 1)
    }

    @Test func theSameTextWithOtherTypesIsAnotherStatement() throws {
        let connection = try WireConnection.open()
        for _ in 0..<3 {
            #expect(try connection.integers("SELECT $1", [.int8(65)], isKept: true) == [65])
            #expect(try connection.texts("SELECT $1", [.text("A")], isKept: true) == ["A"])
        }
    }

    @Test func theServerKeepsNoMoreThanALimit() throws {
        let connection = try WireConnection.open()
        for number in 0..<600 {
            #expect(try connection.integers("SELECT \(number)::int8", isKept: true) == [number])
            // Used all the time, so not given up.
            #expect(try connection.integers("SELECT -1::int8", isKept: true) == [-1])
        }
        #expect(try keptCount(connection) <= KeptStatements.limit)
        #expect(
            try connection.integers("SELECT count(*) FROM pg_prepared_statements WHERE statement = 'SELECT -1::int8'")
                == [1])
        #expect(
            try connection.integers(
                "SELECT (generic_plans + custom_plans)::int8 FROM pg_prepared_statements WHERE statement LIKE '%-1%'")
                == [
                    600
                ])
    }

    @Test func aTransactionMayUseMoreThanTheLimitAndTheyAreGivenUpBehindIt() throws {
        let connection = try WireConnection.open()
        try connection.run("BEGIN")
        for number in 0..<300 { #expect(try connection.integers("SELECT \(number)::int8", isKept: true) == [number]) }
        try connection.run("COMMIT")
        #expect(try connection.integers("SELECT 0::int8", isKept: true) == [0])
        #expect(try keptCount(connection) <= KeptStatements.limit)
    }

    @Test func nothingIsKeptWhereNothingMayBe() throws {
        let connection = try WireConnection.open()
        connection.keepsStatements = false
        #expect(try connection.integers("SELECT 5", isKept: true) == [5])
        #expect(try connection.executeAll([WireStatement("SELECT 5", [], isKept: true)]) { _, _ in } == [1])
        #expect(try keptCount(connection) == 0)
        connection.keepsStatements = true
        #expect(try connection.integers("SELECT 5", isKept: true) == [5])
        #expect(try keptCount(connection) == 1)
    }

    /// Statements that make a prepared statement unusable.
    private static let changes = ["ALTER TABLE t ALTER id TYPE int4", "ALTER TABLE t ADD name text", "DEALLOCATE ALL"]

    @Test(arguments: changes)
    func aStatementThatFitsNoMoreIsPreparedAnew(change: String) throws {
        let connection = try WireConnection.openWithSchema()
        try connection.run("CREATE TABLE t (id int8); INSERT INTO t VALUES (12)")
        for _ in 0..<2 { #expect(try connection.integers("SELECT * FROM t", isKept: true) == [12]) }
        try connection.run(change)
        for _ in 0..<2 { #expect(try connection.integers("SELECT * FROM t", isKept: true) == [12]) }
        try connection.run(change == "DEALLOCATE ALL" ? change : "ALTER TABLE t ADD more text")
        var given: [Int?] = []
        try connection.executeAll([WireStatement("SELECT * FROM t", [], isKept: true), WireStatement("SELECT 2")]) {
            _, row in
            given.append(row.integer(0))
        }
        #expect(given == [12, 2])
    }

    @Test(arguments: changes)
    func withinATransactionAStatementThatFitsNoMoreIsAnErrorOnce(change: String) throws {
        let connection = try WireConnection.openWithSchema()
        try connection.run("CREATE TABLE t (id int8); INSERT INTO t VALUES (12)")
        #expect(try connection.integers("SELECT * FROM t", isKept: true) == [12])
        try connection.run(change)
        try connection.run("BEGIN")
        let error = try connection.error { _ = try $0.integers("SELECT * FROM t", isKept: true) }
        #expect(error.sqlState == (change == "DEALLOCATE ALL" ? "26000" : "0A000"))
        try connection.run("ROLLBACK; BEGIN")
        #expect(try connection.integers("SELECT * FROM t", isKept: true) == [12])
        try connection.run("COMMIT")
    }

    @Test func aStatementPreparedWithinATransactionThatIsRolledBackIsKept() throws {
        let connection = try WireConnection.open()
        try connection.run("BEGIN")
        #expect(try connection.integers("SELECT 5", isKept: true) == [5])
        try connection.run("ROLLBACK")
        #expect(try connection.integers("SELECT 5", isKept: true) == [5])
        #expect(try keptCount(connection) == 1)
    }
}
