import CSQLite
import Foundation

/// The sqlite3 library itself: the second path by which tests check what a store wrote, and by which they disturb one.
public final class SQLiteFile {
    private var handle: OpaquePointer?

    public init(_ url: URL) {
        sqlite3_open_v2(url.path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
        sqlite3_busy_timeout(handle, 5000)
    }

    deinit { sqlite3_close_v2(handle) }

    /// All rows, every value as text; NULL as nil. A statement that fails gives one row with the message.
    public func rows(_ sql: String) -> [[String?]] {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else {
            return [["error: " + String(cString: sqlite3_errmsg(handle))]]
        }
        defer { sqlite3_finalize(statement) }
        var rows: [[String?]] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            rows.append(
                (0..<sqlite3_column_count(statement)).map { column in
                    sqlite3_column_text(statement, column).map { String(cString: $0) }
                })
        }
        return rows
    }

    /// The first column of the first row.
    public func value(_ sql: String) -> String? { rows(sql).first?.first ?? nil }

    /// The first column of every row.
    public func column(_ sql: String) -> [String?] { rows(sql).map { $0.first ?? nil } }

    /// Runs statements and tells whether they succeeded.
    @discardableResult
    public func execute(_ sql: String) -> Bool { sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK }
}
