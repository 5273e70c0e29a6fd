import CSQLite
import Foundation

/// The sqlite3 library itself: the second path by which tests check what a store wrote, and by
/// which they disturb one.
///
/// Values are read as texts, which is short where a test compares them with literals, or as they
/// are (`cells` and what stands on it).
public final class SQLiteFile {
    /// A statement that failed.
    public struct Failure: Error {
        public let message: String
    }

    public let url: URL
    private var handle: OpaquePointer?

    /// Opens a file, which is made where there is none, unless other flags of `sqlite3_open_v2` are
    /// given. Whether that went well the first statement tells.
    public init(_ url: URL, flags: Int32 = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) {
        self.url = url
        sqlite3_open_v2(url.path, &handle, flags, nil)
        sqlite3_busy_timeout(handle, 10_000)
    }

    deinit { sqlite3_close_v2(handle) }

    private var failure: Failure { Failure(message: String(cString: sqlite3_errmsg(handle))) }

    // MARK: Texts

    /// All rows, every value as text; NULL as nil, bytes as upper case hexadecimal digits. A
    /// statement that fails gives one row with the message.
    public func rows(_ sql: String) -> [[String?]] {
        do {
            return try rows(sql) { statement, column in
                // SQLite's own text of a number: a test that compares it knows all its digits.
                if sqlite3_column_type(statement, column) == SQLITE_BLOB {
                    return SQLiteCell(statement, column).blob?.hexadecimal
                }
                return sqlite3_column_text(statement, column).map { String(cString: $0) }
            }
        } catch { return [["error: \((error as? Failure)?.message ?? "")"]] }
    }

    /// The first column of the first row.
    public func value(_ sql: String) -> String? { rows(sql).first?.first ?? nil }

    /// The first column of every row.
    public func column(_ sql: String) -> [String?] { rows(sql).map { $0.first ?? nil } }

    /// The first value of a query as an integer.
    public func integer(_ sql: String) -> Int? { value(sql).flatMap { Int($0) } }

    /// The schema without that of the history, the columns of each table in the order of their
    /// names: a migration adds columns at the end.
    public func schemaByName(where condition: String = "tbl_name NOT LIKE 'A%'") -> [[String?]] {
        rows("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE \(condition) ORDER BY type, name").map { row in
            guard row[0] == "table", let sql = row[3], let start = sql.firstIndex(of: "("),
                let end = sql.lastIndex(of: ")")
            else { return row }
            let columns = sql[sql.index(after: start)..<end].split(separator: ",").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            return Array(row[..<3]) + [String(sql[..<start]) + columns.sorted().joined(separator: ", ")]
        }
    }

    // MARK: Values as they are

    /// All rows.
    ///
    /// - Throws: `Failure` when the statement fails.
    public func cells(_ sql: String) throws -> [[SQLiteCell]] { try rows(sql) { SQLiteCell($0, $1) } }

    private func rows<Value>(_ sql: String, _ read: (_ statement: OpaquePointer?, _ column: Int32) -> Value) throws
        -> [[Value]]
    {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure }
        defer { sqlite3_finalize(statement) }
        var rows: [[Value]] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: rows.append((0..<sqlite3_column_count(statement)).map { read(statement, $0) })
            case SQLITE_DONE: return rows
            default: throw failure
            }
        }
    }

    // MARK: Statements

    /// Runs statements and tells whether they succeeded.
    @discardableResult
    public func execute(_ sql: String) -> Bool { sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK }

    /// Runs statements.
    ///
    /// - Throws: `Failure` when one fails.
    public func run(_ sql: String) throws { guard execute(sql) else { throw failure } }

    /// Runs one statement with bytes in place of its question mark.
    ///
    /// - Throws: `Failure` when it fails.
    public func run(_ sql: String, bytes: Data) throws {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure }
        defer { sqlite3_finalize(statement) }
        let status = bytes.withUnsafeBytes { bytes in
            // The bytes stay where they are until the statement has run.
            sqlite3_bind_blob(statement, 1, bytes.baseAddress, Int32(bytes.count), nil)
            return sqlite3_step(statement)
        }
        guard status == SQLITE_DONE else { throw failure }
    }

    // MARK: Functions

    /// Defines a SQL function that gives NULL, for triggers that call what this connection does not
    /// have.
    public func defineFunction(_ name: String, arguments: Int32) {
        sqlite3_create_function_v2(
            handle, name, arguments, SQLITE_UTF8, nil, { context, _, _ in sqlite3_result_null(context) }, nil, nil, nil)
    }
}
