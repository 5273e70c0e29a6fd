import TestSupport
import Testing

@testable import CoreDataPostgreSQL

extension LibPQConnection {
    /// Returns when this connection holds something that another one waits for.
    func waitUntilItBlocksAnother() throws {
        let observer = try WireConnection.open()
        defer { observer.close() }
        let query = "SELECT count(*) FROM pg_stat_activity WHERE \(facts.backendProcessID) = ANY(pg_blocking_pids(pid))"
        let waits = try wait(upTo: 20) { try observer.integers(query) != [0] }
        try #require(waits, "nobody waits")
    }

    /// Whether the statement of another connection comes to sleep.
    func sees(sleeping other: LibPQConnection) throws -> Bool {
        let process = Argument.int8(Int64(other.facts.backendProcessID))
        return try wait {
            try texts("SELECT wait_event FROM pg_stat_activity WHERE pid = $1", [process]) == ["PgSleep"]
        }
    }
}
