import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreDataPostgreSQL

/// Many statements in one round trip.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct WirePipelineTests {
    private func connection() throws -> LibPQConnection {
        let connection = try WireConnection.openWithSchema()
        try connection.run("CREATE TABLE t (id int8 CONSTRAINT t_key PRIMARY KEY)")
        return connection
    }

    @Test(arguments: [false, true])
    func eachStatementGivesItsRowsAndItsCount(isKept: Bool) throws {
        let connection = try connection()
        var rows: [[Int]] = Array(repeating: [], count: 5)
        let statements = [
            WireStatement("INSERT INTO t SELECT generate_series(1, $1)", [.int8(5)], isKept: isKept),
            WireStatement("SELECT id FROM t WHERE id > $1 ORDER BY id", [.int8(2)], isKept: isKept),
            WireStatement("SELECT id FROM t WHERE id > $1 ORDER BY id", [.int8(100)], isKept: isKept),
            WireStatement("DELETE FROM t WHERE id = $1 RETURNING id", [.int8(4)], isKept: isKept),
            WireStatement("SELECT id FROM t WHERE id > $1 ORDER BY id", [.int8(3)], isKept: isKept),
        ]
        for _ in 0..<2 {
            rows = Array(repeating: [], count: 5)
            let counts = try connection.executeAll(statements) { index, row in
                if let id = row.integer(0) { rows[index].append(id) }
            }
            #expect(counts == [5, 3, 0, 1, 1])
            #expect(rows == [[], [3, 4, 5], [], [4], [5]])
            try connection.execute("DELETE FROM t")
        }
        #expect(try connection.executeAll([]) { _, _ in } == [])
    }

    @Test(arguments: [false, true], [false, true])
    func aFailureInTheMiddleKeepsTheRestFromBeingRun(isKept: Bool, isWithinTransaction: Bool) throws {
        let connection = try connection()
        if isWithinTransaction { try connection.run("BEGIN") }
        let insert = "INSERT INTO t VALUES ($1) RETURNING id"
        var given: [Int] = []
        let error = try connection.error { connection in
            try connection.executeAll([1, 2, 1, 3, 4].map { WireStatement(insert, [.int8($0)], isKept: isKept) }) {
                index, _ in
                given.append(index)
            }
        }
        #expect(given == [0, 1])
        #expect(error.sqlState == "23505")
        #expect(error.constraint == "t_key")
        #expect(error.statementIndex == 2)
        #expect(error.statement == insert)
        #expect(!error.isConnectionLost)
        #expect(connection.isUsable)
        if isWithinTransaction { try connection.run("ROLLBACK") }
        #expect(try connection.integers("SELECT count(*) FROM t") == [0])
        #expect(try connection.executeAll([WireStatement(insert, [.int8(9)], isKept: isKept)]) { _, _ in } == [1])
    }

    @Test func aStatementThatCannotBePreparedNamesItsPlaceAndIsNotKept() throws {
        let connection = try connection()
        for _ in 0..<2 {
            let error = try connection.error { connection in
                try connection.executeAll([
                    WireStatement("SELECT 1", [], isKept: true), WireStatement("SELECT nothing", [], isKept: true),
                    WireStatement("SELECT 3", [], isKept: true),
                ]) { _, _ in }
            }
            #expect(error.sqlState == "42703")
            #expect(error.statementIndex == 1)
        }
        #expect(try connection.texts("SELECT statement FROM pg_prepared_statements") == ["SELECT 1"])
        #expect(try connection.integers("SELECT 3", isKept: true) == [3])
    }

    @Test func whatTheRowsClosureThrowsComesOutAndTheConnectionGoesOn() throws {
        struct Enough: Error {}
        let connection = try connection()
        let statements = (0..<1_000).map { _ in WireStatement("SELECT generate_series(1, 100)", []) }
        var count = 0
        #expect(throws: Enough.self) {
            try connection.executeAll(statements) { index, _ in
                count += 1
                if index == 500 { throw Enough() }
            }
        }
        #expect(count == 50_001)
        #expect(try connection.integers("SELECT 7") == [7])
    }

    @Test(arguments: [false, true])
    func tensOfThousandsOfStatementsGiveTheirRows(isKept: Bool) throws {
        let connection = try connection()
        let count = LongTests.areEnabled ? 100_000 : 20_000
        // More than the ways there and back hold: each side would wait for the other if one of them
        // only sent.
        let filling = String(repeating: "x", count: 500)
        let statements = (0..<count).map {
            WireStatement("SELECT $1, $2", [.int8(Int64($0)), .text(filling)], isKept: isKept)
        }
        var next = 0
        var isInOrder = true
        let counts = try connection.executeAll(statements) { index, row in
            if index != next || row.integer(0) != next || row.lengths[1] != 500 { isInOrder = false }
            next += 1
        }
        #expect(next == count)
        #expect(isInOrder)
        #expect(counts.allSatisfy { $0 == 1 })
        #expect(counts.count == count)
        #expect(try connection.integers("SELECT 7") == [7])
    }

    @Test func aTransactionMayBeginAndEndWithinACall() throws {
        let connection = try connection()
        try connection.executeAll([
            WireStatement("BEGIN"), WireStatement("SET LOCAL statement_timeout = '30s'"),
            WireStatement("INSERT INTO t VALUES (1)"),
            WireStatement("COMMIT"),
        ]) { _, _ in }
        let error = try connection.error { connection in
            try connection.executeAll([
                WireStatement("BEGIN"), WireStatement("INSERT INTO t VALUES (2)"),
                WireStatement("INSERT INTO t VALUES (1)"),
                WireStatement("COMMIT"),
            ]) { _, _ in }
        }
        #expect(error.statementIndex == 2)
        try connection.run("ROLLBACK")
        #expect(try connection.integers("SELECT id FROM t") == [1])
    }

    @Test func aCopyAmongOtherStatementsEndsTheConnectionInsteadOfHanging() throws {
        let connection = try connection()
        let error = try connection.error { connection in
            try connection.executeAll([
                WireStatement("SELECT 1"), WireStatement("COPY t FROM STDIN"), WireStatement("SELECT 3"),
            ]) { _, _ in
            }
        }
        #expect(error.statementIndex == 1)
        #expect(error.isConnectionLost)
        #expect(!connection.isUsable)
    }
}
