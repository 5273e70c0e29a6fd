import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// A network that drops what the server says, and does not say so.
@Suite(.long, .enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"), .timeLimit(.minutes(5)))
struct SilentServerTests {
    // MARK: Connections

    @Test(arguments: [false, true]) func aStatementThatIsNotAnsweredEndsTheConnection(isKept: Bool) throws {
        let connection = try WireConnection.open()
        connection.longestSilence = 0.2
        let error = try connection.error { try $0.execute("SELECT pg_sleep(600)", isKept: isKept) }
        #expect(error.isConnectionLost)
        #expect(error.isSilence)
        #expect(!connection.isUsable)
        #expect(error.message.contains("has not answered for 0."))
        #expect(error.statement == "SELECT pg_sleep(600)")
        #expect(throws: WireError.self) { try connection.execute("SELECT 1") }
        connection.close()
    }

    @Test func statementsWithoutArgumentsAndCopiesEndItToo() throws {
        let connection = try WireConnection.open()
        connection.longestSilence = 0.2
        #expect(try connection.error { try $0.run("SELECT pg_sleep(600)") }.isSilence)
        let holder = try WireConnection.openWithSchema()
        let schema = try #require(try holder.texts("SELECT current_schema()::text")[0])
        try holder.run("CREATE TABLE t (name text)")
        try holder.run("BEGIN; LOCK TABLE t")
        let copying = try WireConnection.open()
        copying.longestSilence = 0.2
        #expect(try copying.error { try $0.copy("COPY \(schema).t FROM STDIN") { _ in } }.isSilence)
        #expect(!copying.isUsable)
    }

    /// The server tells of none before it has run the last.
    @Test func severalStatementsMayTakeSeveralTimesAsLong() throws {
        let connection = try WireConnection.open()
        connection.longestSilence = 1
        let statements = Array(repeating: WireStatement("SELECT pg_sleep(0.5)"), count: 4)
        #expect(try connection.executeAll(statements) { _, _ in } == [1, 1, 1, 1])
        connection.longestSilence = 0.1
        let error = try connection.error { connection in try connection.executeAll(statements) { _, _ in } }
        #expect(error.isSilence)
        #expect(error.message.contains("0.4"))
    }

    @Test func rowsThatComeSlowlyAreNoSilence() throws {
        let connection = try WireConnection.open()
        connection.longestSilence = 1
        var rows = 0
        // More than the server gathers before it sends.
        try connection.execute(WireStatement("SELECT repeat('x', 20000), pg_sleep(0.02) FROM generate_series(1, 100)"))
        { _ in rows += 1 }
        #expect(rows == 100)
    }

    @Test func aTransactionWithoutTimeLimitMayBeSilent() throws {
        let settings = PostgreSQLSettings(schema: "none", statementTimeout: 1, lockTimeout: 1)
        let connection = try PostgreSQLConnection(WireConnection.open(), settings)
        #expect(connection.wire.longestSilence == 2)
        try connection.transaction {
            try connection.liftTimeLimit()
            try connection.execute(WireStatement("SELECT pg_sleep(3)"))
            // Whoever is gone does not keep its locks for hours.
            var settings: [String?] = []
            try connection.execute(
                WireStatement(
                    "SELECT current_setting('statement_timeout'), "
                        + "current_setting('idle_in_transaction_session_timeout')"
                )
            ) { row in settings = [row.string(0), row.string(1)] }
            #expect(settings == ["0", "10min"])
        }
        #expect(connection.wire.longestSilence == 2)
        let error = try #require(throws: WireError.self) { try connection.execute(WireStatement("SELECT pg_sleep(3)")) }
        #expect(error.sqlState == "57014")
        #expect(connection.wire.isUsable)
        connection.wire.close()
    }

    // MARK: Parameters

    private func parameters(_ url: String, timeout: Double) throws -> [String: String] {
        let address = try PostgreSQLAddress(try #require(URL(string: url)), options: nil)
        let pool = try PostgreSQLPool(.init(address: address, isReadOnly: false, timeout: timeout))
        var target = WireTarget(connection: pool.configuration.address.connection)
        target.standard = pool.standardParameters
        let list = try ConnectionParameters(target, environment: [:]).list
        return Dictionary(list.map { ($0.keyword, $0.value) }) { $1 }
    }

    @Test func networksAreGivenAsMuchTimeAsTheServer() throws {
        let standard = try parameters("postgresql://db.example/shop", timeout: 30)
        #expect(standard["tcp_user_timeout"] == "35000")
        #expect(standard["keepalives_idle"] == "30")
        #expect(standard["connect_timeout"] == "10")
        let short = try parameters("postgresql://db.example/shop", timeout: 0.5)
        #expect(short["tcp_user_timeout"] == "2000")
        #expect(short["connect_timeout"] == "2")
    }

    @Test func whatTheURLSaysOfTheNetworkCounts() throws {
        let said = try parameters(
            "postgresql://db.example/shop?tcp_user_timeout=7000&keepalives_idle=5&connect_timeout=3", timeout: 30)
        for name in ["tcp_user_timeout", "keepalives_idle", "connect_timeout"] { #expect(said[name] == nil, "\(name)") }
        #expect(said["keepalives_count"] == "3")
    }

    // MARK: Stores

    private func stored(_ options: [AnyHashable: Any] = [:]) throws -> (PostgreSQLProxy, Warehouse) {
        let proxy = try PostgreSQLProxy(WireConnection.server())
        let warehouse = try Warehouse(
            options: options.merging([NSPersistentStoreTimeoutOption: 1]) { $1 }, through: proxy)
        try warehouse.context.performAndWait {
            _ = warehouse.context.insert("Item", ["name": "old"])
            try warehouse.context.save()
        }
        return (proxy, warehouse)
    }

    private func expectSilence(_ error: NSError, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(
            error.code == CocoaError.Code.persistentStoreTimeout.rawValue, "\(error)", sourceLocation: sourceLocation)
        #expect(
            error.localizedDescription.contains("the server has not answered for"), "\(error)",
            sourceLocation: sourceLocation)
        #expect(error.localizedRecoverySuggestion?.contains("network") == true, sourceLocation: sourceLocation)
    }

    private func names(_ warehouse: Warehouse) throws -> [String?] {
        try warehouse.texts("SELECT name FROM item ORDER BY name")
    }

    @Test func aFetchEndsAndTheNextOneHasAnotherConnection() throws {
        let (proxy, warehouse) = try stored()
        let pool = try #require(warehouse.store as? PostgreSQLStore).backend().pool
        func process() throws -> Int32 { try pool.withConnection { $0.wire.facts.backendProcessID } }
        let before = try process()
        proxy.muteConnections()
        try warehouse.context.performAndWait {
            expectSilence(try #require(throws: NSError.self) { try warehouse.context.all("Item", "name == 'old'") })
            #expect(try warehouse.context.all("Item", "name == 'old'").count == 1)
        }
        #expect(try process() != before)
        #expect(pool.openConnections == 1)
    }

    /// A save of changes locks their rows before it commits: nothing is committed that was not
    /// heard of.
    @Test func aSaveEndsAndMayBeDoneAgain() throws {
        let (proxy, warehouse) = try stored()
        let context = warehouse.context
        try context.performAndWait {
            let item = try context.all("Item")[0]
            item.setValue("new", forKey: "name")
            proxy.muteConnections()
            expectSilence(try #require(throws: NSError.self) { try context.save() })
            #expect(item.hasChanges)
            #expect(try names(warehouse) == ["old"])
            // What the server does in vain holds the row until it has heard that the connection is
            // gone.
            let held =
                "SELECT count(*) FROM pg_locks WHERE relation = '\(warehouse.schema).item'::regclass AND mode = "
                + "'RowExclusiveLock'"
            #expect(try wait { try warehouse.texts(held) == ["0"] })
            try context.save()
        }
        #expect(try names(warehouse) == ["new"])
    }

    /// A few rows go with the commit in one message; many are copied before.
    @Test(arguments: [1, 80]) func aSaveWhoseCommitWasNotAnsweredIsLookedUp(count: Int) throws {
        let (proxy, warehouse) = try stored()
        let context = warehouse.context
        try context.performAndWait {
            for _ in 0..<count { _ = context.insert("Item", ["name": "new"]) }
            proxy.muteConnections()
            if count == 1 {
                try context.save()
            } else {
                expectSilence(try #require(throws: NSError.self) { try context.save() })
                #expect(try names(warehouse) == ["old"])
                try context.save()
            }
        }
        #expect(try names(warehouse) == Array(repeating: "new", count: count) + ["old"])
        #expect(try warehouse.texts("SELECT count(*) FROM ocd_transaction") == ["2"])
    }

    @Test func whereNothingIsHeardAnyMoreEverythingEnds() throws {
        let (proxy, warehouse) = try stored()
        let context = warehouse.context
        proxy.conduct.isMute = true
        try context.performAndWait {
            _ = context.insert("Item", ["name": "new"])
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.localizedDescription.contains("cannot be asked whether it was"), "\(error)")
            #expect(throws: NSError.self) { try context.all("Item") }
            proxy.conduct.isMute = false
            context.reset()
            // It was: the server had heard everything.
            #expect(
                try context.all("Item", nil, by: "name").map { $0.value(forKey: "name") as? String } == ["new", "old"])
        }
    }

    @Test func whoListensHearsAgain() throws {
        let (proxy, warehouse) = try stored()
        let pool = try #require(warehouse.store as? PostgreSQLStore).backend().pool
        let (listening, _) = try pool.connectListener()
        proxy.muteConnections()
        let error = try #require(throws: WireError.self) { try PostgreSQLTransactions.last(listening) }
        #expect(error.isSilence)
        #expect(try PostgreSQLTransactions.last(pool.connectListener().0) == 1)
    }
}
