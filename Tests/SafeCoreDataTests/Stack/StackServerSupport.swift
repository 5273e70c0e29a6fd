import Foundation
import SafeCoreData
import TestSupport
import Testing

/// A schema of its own on the tests' server, and a second connection to it, which holds what a
/// stack wants.
struct ServerShop: @unchecked Sendable {
    // Sendable: constants, but for the second connection, which one test uses, in one task at a
    // time.

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

    /// Calls back as soon as a statement waits for what the second connection holds, or after 30
    /// seconds with false.
    ///
    /// In a thread of its own: other tests may keep those that tasks share for longer than a
    /// statement waits.
    func whenAStatementWaits(_ body: @escaping @Sendable (Bool) -> Void) {
        let (url, waiting) = (url, Self.waiting(for: tables.processID))
        let thread = Thread {
            let observer = PostgreSQLTables(url)
            body(wait(upTo: 30) { (observer.integer(waiting) ?? 0) > 0 })
        }
        thread.start()
    }
}
