import Foundation
import SafeCoreData
import TestSupport
import Testing

/// A schema of its own on the tests' server, and a second connection to it, which holds what a stack wants.
struct ServerShop: @unchecked Sendable {
    // Sendable: constants, but for the second connection, which one test uses, in one task at a time.

    let url: URL
    /// The second path.
    let tables: PostgreSQLTables

    init() throws {
        let server = try #require(PostgreSQLServer.shared)
        url = server.url(schema: server.newSchemaName())
        tables = PostgreSQLTables(url)
    }

    /// A stack of the shop's model, as each program has one.
    func stack() -> DataStack { DataStack(model: Shop.model(), store: .postgreSQL(url)) }

    /// The names of the items in the database.
    var names: [String?] { tables.column("SELECT name FROM item ORDER BY name COLLATE \"C\"") }

    /// How many statements wait for what the second connection holds.
    var waitingStatements: Int? { tables.integer(Self.waiting(for: tables.processID)) }

    private static func waiting(for process: Int32) -> String {
        "SELECT count(*) FROM pg_stat_activity WHERE \(process) = ANY(pg_blocking_pids(pid))"
    }

    /// Calls back as soon as a statement waits for what the second connection holds, or after 30 seconds with false.
    ///
    /// In a thread of its own: other tests may keep those that tasks share for longer than a statement waits.
    func whenAStatementWaits(_ body: @escaping @Sendable (Bool) -> Void) {
        let (url, waiting) = (url, Self.waiting(for: tables.processID))
        let thread = Thread {
            let observer = PostgreSQLTables(url)
            let deadline = Date(timeIntervalSinceNow: 30)
            while Date() < deadline {
                if let count = observer.integer(waiting), count > 0 { return body(true) }
                usleep(2_000)
            }
            body(false)
        }
        thread.start()
    }
}

/// Waits on the main actor until something holds, which others bring about; at most 30 seconds.
@MainActor func comesTrue(_ condition: @MainActor () throws -> Bool) async rethrows -> Bool {
    let deadline = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < deadline {
        if try condition() { return true }
        try? await Task.sleep(for: .milliseconds(5))
    }
    return false
}
