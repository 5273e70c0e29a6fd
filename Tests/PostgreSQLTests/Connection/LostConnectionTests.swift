import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreDataPostgreSQL

/// Connections that the server ends.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct LostConnectionTests {
    private static let suicide = "SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(60)"

    private func terminate(_ connection: LibPQConnection) throws {
        // Waits until the process is gone.
        let ended = try WireConnection.open().texts(
            "SELECT pg_terminate_backend($1::int4, 60000)::text", [.int8(Int64(connection.facts.backendProcessID))])
        #expect(ended == ["true"])
    }

    private func expectLost(
        _ connection: LibPQConnection, _ error: WireError, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(error.isConnectionLost, sourceLocation: sourceLocation)
        #expect(error.sqlState == nil || error.sqlState == "57P01", sourceLocation: sourceLocation)
        #expect(!connection.isUsable, sourceLocation: sourceLocation)
        #expect(throws: WireError.self, sourceLocation: sourceLocation) { try connection.execute("SELECT 1") }
        connection.cancel()
        connection.close()
    }

    @Test func beforeAStatement() throws {
        let connection = try WireConnection.open()
        try terminate(connection)
        expectLost(connection, try connection.error { try $0.execute("SELECT 1") })
    }

    @Test func beforeAStatementThatIsKept() throws {
        let connection = try WireConnection.open()
        try connection.execute("SELECT 1", isKept: true)
        try terminate(connection)
        expectLost(connection, try connection.error { try $0.execute("SELECT 1", isKept: true) })
    }

    @Test func beforeAPipeline() throws {
        let connection = try WireConnection.open()
        try terminate(connection)
        let statements = (0..<10_000).map { WireStatement("SELECT $1", [.int8($0)]) }
        expectLost(connection, try connection.error { try $0.executeAll(statements) { _, _ in } })
    }

    @Test func beforeStatementsWithoutArguments() throws {
        let connection = try WireConnection.open()
        try terminate(connection)
        expectLost(connection, try connection.error { try $0.run("SELECT 1") })
    }

    @Test func beforeACopy() throws {
        let connection = try WireConnection.open()
        try terminate(connection)
        expectLost(connection, try connection.error { try $0.copy("COPY t FROM STDIN") { _ in } })
    }

    @Test func withinAStatement() throws {
        let connection = try WireConnection.open()
        let error = try connection.error { try $0.execute(Self.suicide) }
        #expect(error.sqlState == "57P01")
        #expect(error.statement == Self.suicide)
        expectLost(connection, error)
    }

    @Test func withinRows() throws {
        let connection = try WireConnection.open()
        var count = 0
        let error = try connection.error { connection in
            try connection.execute(WireStatement("SELECT repeat('x', 1000) FROM generate_series(1, 200000)", [])) { _ in
                count += 1
                if count == 1 { try terminate(connection) }
            }
        }
        #expect(count > 1)
        #expect(count < 200_000)
        expectLost(connection, error)
    }

    @Test(arguments: [false, true])
    func withinAPipeline(isKept: Bool) throws {
        let connection = try WireConnection.open()
        var given: [Int] = []
        let error = try connection.error { connection in
            try connection.executeAll(
                ["SELECT 1", Self.suicide, "SELECT 3"].map { WireStatement($0, [], isKept: isKept) }
            ) { index, _ in given.append(index) }
        }
        #expect(error.sqlState == "57P01")
        #expect(error.statementIndex == 1)
        #expect(!given.contains(1))
        #expect(!given.contains(2))
        expectLost(connection, error)
    }

    @Test func withinALongPipeline() throws {
        let connection = try WireConnection.open()
        var statements = (0..<50_000).map { WireStatement("SELECT $1", [.int8($0)]) }
        statements[20_000] = WireStatement(Self.suicide)
        let error = try connection.error { try $0.executeAll(statements) { _, _ in } }
        #expect(error.statementIndex <= 20_000)
        expectLost(connection, error)
    }

    @Test func withinACopy() throws {
        let connection = try WireConnection.openWithSchema()
        try connection.run("CREATE TABLE t (name text)")
        let line = Array((String(repeating: "x", count: 999) + "\n").utf8)
        let error = try connection.error { connection in
            try connection.copy("COPY t FROM STDIN") { send in
                try line.withUnsafeBytes(send)
                try terminate(connection)
                for _ in 0..<10_000 { try line.withUnsafeBytes(send) }
            }
        }
        expectLost(connection, error)
    }

    @Test func withinAWaitForNotifications() throws {
        let connection = try WireConnection.open()
        nonisolated(unsafe) let waiting = connection
        let thread = OtherThread { #expect(throws: WireError.self) { try waiting.notifications(within: 3_600) } }
        try terminate(connection)
        expectLost(connection, try #require(try thread.value()))
    }

    @Test func anErrorOfAnotherServersConnectionIsNone() throws {
        let connection = try WireConnection.open()
        let error = try connection.error {
            try $0.run("DO $$ BEGIN RAISE EXCEPTION 'elsewhere' USING ERRCODE = '08006'; END $$")
        }
        #expect(error.sqlState == "08006")
        #expect(!error.isConnectionLost)
        #expect(connection.isUsable)
    }
}
