import CSQLite
import Dispatch
import Synchronization

// Tracing of the statements of SQLite files.
extension SQLiteConnection {
    /// Makes SQLite tell of each statement, if somebody wants to know.
    func traceStatements() {
        guard Instruments.wantsStatements else { return }
        let events = UInt32(SQLITE_TRACE_STMT | SQLITE_TRACE_ROW | SQLITE_TRACE_PROFILE)
        sqlite3_trace_v2(
            handle, events,
            { event, _, statement, detail in
                guard let statement = statement.map({ OpaquePointer($0) }) else { return 0 }
                switch event {
                case UInt32(SQLITE_TRACE_ROW): StatementTrace.countRow(of: statement)
                case UInt32(SQLITE_TRACE_PROFILE): StatementTrace.end(statement)
                default: StatementTrace.begin(statement, detail.map { $0.assumingMemoryBound(to: CChar.self) })
                }
                return 0
            }, nil)
    }

    /// Prints the plan of a statement that was just prepared, if the log shows plans.
    func printPlan(of sql: String) {
        guard StatementLog.showsPlans else { return }
        var statement: OpaquePointer?
        // Nil for what has no plan, as a pragma.
        guard sqlite3_prepare_v2(handle, StatementTrace.explanation + sql, -1, &statement, nil) == SQLITE_OK else {
            return
        }
        defer { sqlite3_finalize(statement) }
        var lines: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            if let text = sqlite3_column_text(statement, 3) { lines.append(String(cString: text)) }
        }
        StatementLog.printPlan(lines, of: sql)
    }
}

/// Measures statements that run. SQLite itself measures them in whole milliseconds.
private enum StatementTrace {
    static let explanation = "EXPLAIN QUERY PLAN "

    private struct Run {
        let start = DispatchTime.now().uptimeNanoseconds
        var rows = 0
    }

    /// The statements that run, by their addresses, which are only compared.
    private static let runs = Mutex<[Int: Run]>([:])

    /// - Parameter text: the statement, or a comment for the start of a trigger of it.
    static func begin(_ statement: OpaquePointer, _ text: UnsafePointer<CChar>?) {
        if let text, text[0] == UInt8(ascii: "-"), text[1] == UInt8(ascii: "-") { return }
        runs.withLock { $0[Int(bitPattern: statement)] = Run() }
    }

    static func countRow(of statement: OpaquePointer) {
        runs.withLock { $0[Int(bitPattern: statement)]?.rows += 1 }
    }

    static func end(_ statement: OpaquePointer) {
        let end = DispatchTime.now().uptimeNanoseconds
        guard let run = runs.withLock({ $0.removeValue(forKey: Int(bitPattern: statement)) }),
            let sql = sqlite3_sql(statement).map({ String(cString: $0) }), !sql.hasPrefix(explanation)
        else { return }
        let path = sqlite3_db_filename(sqlite3_db_handle(statement), "main").map { String(cString: $0) } ?? ""
        let scanned = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 1)
        Instruments.statementRan(
            sql, rows: run.rows, scannedRows: Int(scanned), nanoseconds: Int64(end - run.start),
            store: path.isEmpty ? "a store in memory" : path
        ) {
            let expanded = sqlite3_expanded_sql(statement)
            defer { sqlite3_free(expanded) }
            return (expanded.map { String(cString: $0) } ?? sql, [])
        }
    }
}
