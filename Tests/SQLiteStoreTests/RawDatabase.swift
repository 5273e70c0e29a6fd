import CSQLite
import Foundation

/// The sqlite3 library itself: the second path by which tests check what a store wrote.
final class RawDatabase {
    private var handle: OpaquePointer?

    init(_ url: URL, flags: Int32 = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) {
        sqlite3_open_v2(url.path, &handle, flags, nil)
        sqlite3_busy_timeout(handle, 5000)
    }

    deinit { sqlite3_close_v2(handle) }

    /// All rows, every value as text; NULL as nil, blobs as upper case hexadecimal digits.
    func rows(_ sql: String) -> [[String?]] {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else {
            return [["error", String(cString: sqlite3_errmsg(handle))]]
        }
        defer { sqlite3_finalize(statement) }
        var rows: [[String?]] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            rows.append(
                (0..<sqlite3_column_count(statement)).map { column in
                    if sqlite3_column_type(statement, column) == SQLITE_BLOB {
                        let data = Data(
                            bytes: sqlite3_column_blob(statement, column),
                            count: Int(sqlite3_column_bytes(statement, column)))
                        return data.map { String(format: "%02X", $0) }.joined()
                    }
                    return sqlite3_column_text(statement, column).map { String(cString: $0) }
                })
        }
        return rows
    }

    /// The first column of the first row.
    func value(_ sql: String) -> String? { rows(sql).first?.first ?? nil }

    @discardableResult
    func execute(_ sql: String) -> Int32 { sqlite3_exec(handle, sql, nil, nil, nil) }
}
