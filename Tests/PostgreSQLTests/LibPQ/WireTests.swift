import CoreData
import Foundation
import OpenCoreDataModel
import TestSupport
import Testing

@testable import CoreDataPostgreSQL

/// Single statements.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct WireTests {
    @Test func theEngineKnowsTheModuleThatIsLinked() throws {
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes[NSPostgreSQLStoreType] != nil)
        let url = try #require(URL(string: "postgres://db.example/shop"))
        #expect(NSPersistentStoreDescription(url: url).type == NSPostgreSQLStoreType)
    }

    @Test func aConnectionKnowsItsServer() throws {
        let connection = try WireConnection.open()
        #expect(connection.isUsable)
        #expect(connection.facts.serverVersion >= 140_000)
        #expect(connection.facts.database == "app")
        #expect(connection.facts.user == "app")
        #expect(connection.facts.host == (try WireConnection.server().socketFolder))
        #expect(!connection.facts.isEncrypted)
        #expect(try connection.integers("SELECT pg_backend_pid()") == [Int(connection.facts.backendProcessID)])
    }

    @Test func aClosedConnectionRefusesEverything() throws {
        let connection = try WireConnection.open()
        connection.close()
        connection.close()
        connection.cancel()
        #expect(!connection.isUsable)
        #expect(try connection.error { try $0.execute("SELECT 1") }.isConnectionLost)
        #expect(try connection.error { try $0.executeAll([WireStatement("SELECT 1")]) { _, _ in } }.isConnectionLost)
        #expect(try connection.error { try $0.run("SELECT 1") }.isConnectionLost)
        #expect(try connection.error { _ = try $0.notifications(within: 0) }.isConnectionLost)
        #expect(try connection.error { try $0.copy("COPY t FROM STDIN") { _ in } }.isConnectionLost)
    }

    @Test func aStatementSaysHowManyRowsItWroteOrGave() throws {
        let connection = try WireConnection.openWithSchema()
        #expect(try connection.execute("CREATE TABLE t (id int8)") == 0)
        #expect(try connection.execute("INSERT INTO t SELECT generate_series(1, $1)", [.int8(70)]) == 70)
        #expect(try connection.execute("UPDATE t SET id = -id WHERE id > $1 RETURNING id", [.int8(30)]) == 40)
        #expect(try connection.execute("SELECT * FROM t WHERE id > 0") == 30)
        #expect(try connection.execute("DELETE FROM t WHERE id = 1000") == 0)
        #expect(try connection.execute("") == 0)
    }

    @Test func severalStatementsWithoutArgumentsRunInOneTransaction() throws {
        let connection = try WireConnection.openWithSchema()
        try connection.run("CREATE TABLE t (id int8 PRIMARY KEY); INSERT INTO t VALUES (1)")
        let error = try connection.error {
            try $0.run("INSERT INTO t VALUES (2); INSERT INTO t VALUES (1); INSERT INTO t VALUES (3)")
        }
        #expect(error.sqlState == "23505")
        #expect(error.statementIndex == 1)
        #expect(try connection.integers("SELECT id FROM t") == [1])
    }

    @Test func anErrorNamesWhatItIsAbout() throws {
        let connection = try WireConnection.openWithSchema()
        try connection.run("CREATE TABLE item (id int8 CONSTRAINT item_key PRIMARY KEY, name text NOT NULL)")
        try connection.execute("INSERT INTO item VALUES (1, 'one')")
        let schema = try #require(try connection.texts("SELECT current_schema()::text")[0])

        let duplicate = try connection.error { try $0.execute("INSERT INTO item VALUES ($1, 'two')", [.int8(1)]) }
        #expect(duplicate.sqlState == "23505")
        #expect(duplicate.constraint == "item_key")
        #expect(duplicate.table == "item")
        #expect(duplicate.schema == schema)
        #expect(duplicate.detail == "Key (id)=(1) already exists.")
        #expect(duplicate.statement == "INSERT INTO item VALUES ($1, 'two')")
        #expect(!duplicate.isConnectionLost)

        let missing = try connection.error { try $0.execute("INSERT INTO item VALUES (2, NULL)") }
        #expect(missing.sqlState == "23502")
        #expect(missing.column == "name")

        let wrong = try connection.error { try $0.execute("SELECT nam FROM item") }
        #expect(wrong.sqlState == "42703")
        #expect(wrong.hint?.contains("item.name") == true)
        #expect(connection.isUsable)
    }

    @Test func u0000IsRefusedByTheServerInTextAndByTheDriverInStatements() throws {
        let connection = try WireConnection.open()
        let refused = try connection.error { try $0.execute("SELECT $1", [.text("a\0b")]) }
        #expect(refused.sqlState == "22021")
        #expect(refused.message.contains("0x00"))
        let statement = try connection.error { try $0.execute("SELECT 1\0; DROP TABLE t") }
        #expect(statement.sqlState == nil)
        #expect(!statement.isConnectionLost)
        #expect(try connection.error { try $0.run("SELECT 1\0") }.message.contains("U+0000"))
        #expect(try connection.texts("SELECT $1", [.text("ab")]) == ["ab"])
    }

    @Test func moreArgumentsThanTheProtocolHasAreRefusedBeforeAnythingIsSent() throws {
        let connection = try WireConnection.openWithSchema()
        try connection.run("CREATE TABLE t (id int8)")
        let many = WireStatement("SELECT 1", Array(repeating: .int8(1), count: 65_536))
        let error = try connection.error {
            try $0.executeAll([WireStatement("INSERT INTO t VALUES (1)"), many]) { _, _ in }
        }
        #expect(error.statementIndex == 1)
        #expect(try connection.integers("SELECT count(*) FROM t") == [0])
    }

    @Test func rowsAreHandedOutWhileTheServerStillMakesThem() throws {
        let connection = try WireConnection.open()
        let other = try WireConnection.open()
        var count = 0
        var states: [String?] = []
        let query = "SELECT i::int8, repeat('x', 1000) FROM generate_series(1, 200000) AS i"
        let given = try connection.execute(WireStatement(query, [])) { row in
            count += 1
            #expect(row.integer(0) == count)
            // Far more is to come than all buffers on the way hold.
            if count == 1 || count == 100_000 {
                states += try other.texts(
                    "SELECT state FROM pg_stat_activity WHERE pid = $1",
                    [.int8(Int64(connection.facts.backendProcessID))])
            }
        }
        #expect(given == 200_000)
        #expect(count == 200_000)
        #expect(states == ["active", "active"])
    }

    @Test(arguments: [false, true])
    func whatTheRowsClosureThrowsComesOutAndTheConnectionGoesOn(isWithinTransaction: Bool) throws {
        struct Enough: Error {}
        let connection = try WireConnection.open()
        if isWithinTransaction { try connection.run("BEGIN") }
        for rows in [1, 10, 5_000, 300_000] {
            var count = 0
            #expect(throws: Enough.self) {
                try connection.execute(WireStatement("SELECT generate_series(1, \(rows))", [])) { _ in
                    count += 1
                    throw Enough()
                }
            }
            #expect(count == 1)
            #expect(try connection.integers("SELECT 7") == [7])
        }
        if isWithinTransaction { try connection.run("COMMIT") }
    }

    @Test func whatIsNotWantedAnyMoreIsNotWaitedFor() throws {
        struct Enough: Error {}
        let connection = try WireConnection.open()
        // Taking all of it would take hours.
        #expect(throws: Enough.self) {
            try connection.execute(WireStatement("SELECT generate_series(1, 100000000000)", [])) { _ in throw Enough() }
        }
        #expect(try connection.integers("SELECT 7") == [7])
    }

    @Test func copiesAreRefusedWhereStatementsBelong() throws {
        let connection = try WireConnection.openWithSchema()
        try connection.run("CREATE TABLE t (id int8)")
        #expect(try connection.error { try $0.execute("COPY t FROM STDIN") }.sqlState == "57014")
        #expect(try connection.error { try $0.execute("COPY t TO STDOUT") }.message.contains("copy"))
        #expect(try connection.error { try $0.run("COPY t TO STDOUT; SELECT 1") }.message.contains("copy"))
        #expect(try connection.integers("SELECT 7") == [7])
    }
}
