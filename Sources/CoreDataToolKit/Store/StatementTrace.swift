import CSQLite
import Foundation
import Synchronization

/// The SQL that the engine runs, recorded through SQLite's trace.
///
/// The engine has no log of its own. While a trace exists, SQLite calls an automatic extension for
/// each connection that is opened; that connection then reports its statements.
final class StatementTrace {
    /// A step of SQLite's plan for a statement.
    struct Step: Equatable {
        let id: Int64
        /// The step that contains it; 0 for none.
        let parent: Int64
        let detail: String
    }

    struct Statement: Equatable {
        /// The SQL with its values.
        let sql: String
        let plan: [Step]
    }

    /// The connections of the process that are traced. The lock guards them and what they report.
    private struct Connections {
        var traces = 0
        /// The paths of open connections, by address.
        var paths: [UInt: String] = [:]
        var isRecording = false
        var statements: [(connection: UInt, sql: String)] = []
    }

    private static let connections = Mutex(Connections())
    /// Held while statements are recorded: one recording at a time.
    private static let turn = Mutex(())

    init() {
        Self.connections.withLock { connections in
            connections.traces += 1
            if connections.traces == 1 { sqlite3_auto_extension(Self.entryPoint) }
        }
    }

    deinit {
        Self.connections.withLock { connections in
            connections.traces -= 1
            if connections.traces == 0 { sqlite3_cancel_auto_extension(Self.entryPoint) }
        }
    }

    /// Returns the queries that `body` runs on a database, with their plans.
    ///
    /// - Parameter path: a database that was opened since this trace exists, and that nobody else
    ///   uses meanwhile.
    func queries(onDatabaseAt path: String, _ body: () throws -> Void) throws -> [Statement] {
        let all = try Self.turn.withLock { _ in try Self.recorded(body) }
        let wanted = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let ran = Self.connections.withLock { connections in
            all.filter { ran in
                connections.paths[ran.connection].map {
                    URL(fileURLWithPath: $0).resolvingSymlinksInPath().path == wanted
                } ?? false
            }
        }
        return ran.filter { $0.sql.hasPrefix("SELECT") && !$0.sql.contains("sqlite_master") }.map { ran in
            Statement(sql: ran.sql, plan: OpaquePointer(bitPattern: ran.connection).map { plan(of: ran.sql, $0) } ?? [])
        }
    }

    private static func recorded(_ body: () throws -> Void) throws -> [(connection: UInt, sql: String)] {
        connections.withLock { ($0.isRecording, $0.statements) = (true, []) }
        defer { connections.withLock { ($0.isRecording, $0.statements) = (false, []) } }
        try body()
        return connections.withLock { $0.statements }
    }

    private func plan(of sql: String, _ connection: OpaquePointer) -> [Step] {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(connection, "EXPLAIN QUERY PLAN " + sql, -1, &statement, nil) == SQLITE_OK else {
            return []
        }
        defer { sqlite3_finalize(statement) }
        var steps: [Step] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            steps.append(
                Step(
                    id: sqlite3_column_int64(statement, 0), parent: sqlite3_column_int64(statement, 1),
                    detail: sqlite3_column_text(statement, 3).map { String(cString: $0) } ?? ""))
        }
        return steps
    }

    // MARK: Called by SQLite

    private typealias Extension =
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, OpaquePointer?
        ) -> Int32

    /// The automatic extension; SQLite declares it without its parameters.
    private static var entryPoint: @convention(c) () -> Void {
        let traceConnection: Extension = { connection, _, _ in
            StatementTrace.begin(connection)
            return SQLITE_OK
        }
        return unsafeBitCast(traceConnection, to: (@convention(c) () -> Void).self)
    }

    private static func begin(_ connection: OpaquePointer?) {
        guard let connection, let name = sqlite3_db_filename(connection, "main") else { return }
        let path = String(cString: name)
        connections.withLock { $0.paths[UInt(bitPattern: connection)] = path }
        let events = UInt32(SQLITE_TRACE_STMT | SQLITE_TRACE_CLOSE)
        sqlite3_trace_v2(
            connection, events,
            { event, _, subject, _ in
                if event == UInt32(SQLITE_TRACE_CLOSE) {
                    let address = UInt(bitPattern: subject)
                    StatementTrace.connections.withLock { $0.paths[address] = nil }
                } else {
                    StatementTrace.record(subject.map { OpaquePointer($0) })
                }
                return 0
            }, nil)
    }

    private static func record(_ statement: OpaquePointer?) {
        guard let statement, connections.withLock({ $0.isRecording }) else { return }
        let connection = UInt(bitPattern: sqlite3_db_handle(statement))
        let expanded = sqlite3_expanded_sql(statement)
        defer { sqlite3_free(expanded) }
        guard let sql = expanded.map({ String(cString: $0) }) ?? sqlite3_sql(statement).map({ String(cString: $0) })
        else { return }
        connections.withLock { $0.statements.append((connection, sql)) }
    }
}
