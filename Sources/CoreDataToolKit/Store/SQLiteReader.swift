import CSQLite
import Foundation

/// A connection of the command's own to a database, for what lies below Core Data: tables, counts, metadata.
final class SQLiteReader {
    enum Value: Equatable, CustomStringConvertible {
        case null
        case integer(Int64)
        case real(Double)
        case text(String)
        case blob(Data)

        var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
        var text: String? { if case .text(let value) = self { value } else { nil } }
        var blob: Data? { if case .blob(let value) = self { value } else { nil } }

        /// The whole number that the value is or, as a text, says.
        var wholeNumber: Int64? { integer ?? text.flatMap { Int64($0) } }

        /// The value for people, a text in quotes.
        var description: String {
            switch self {
            case .null: "NULL"
            case .integer(let value): "\(value)"
            case .real(let value): "\(value)"
            case .text(let value): "'\(DisplayWidth.truncated(DisplayWidth.printable(value), to: 40))'"
            case .blob(let value): "<\(value.count) \(value.count == 1 ? "byte" : "bytes")>"
            }
        }
    }

    /// What SQLite answered.
    struct Failure: Error {
        let code: Int32
        let message: String

        /// Whether another program kept the database locked.
        var isLocked: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }

        /// Whether pages of the file are damaged: others may still be read.
        var isOfPages: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }
    }

    /// How long to wait for other programs' locks, in seconds.
    static let timeout = 5.0

    private let handle: OpaquePointer

    /// Opens a database for reading.
    ///
    /// - Parameter isImmutable: nobody changes the file, and it has no journal: no locks, no files beside it.
    init(path: String, isImmutable: Bool) throws {
        var allowed = CharacterSet.urlPathAllowed
        allowed.remove(charactersIn: "?#%")
        let escaped = path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path
        let name = "file:" + escaped + (isImmutable ? "?immutable=1" : "")
        handle = try Self.open(name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
        try prepare()
    }

    /// Opens a private copy for writing, so that SQLite recovers what its journal holds.
    init(recovering path: String) throws {
        handle = try Self.open(path, SQLITE_OPEN_READWRITE)
        try prepare()
    }

    private static func open(_ name: String, _ flags: Int32) throws -> OpaquePointer {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let opened else {
            defer { sqlite3_close_v2(opened) }
            throw Failure(
                code: code, message: opened.flatMap(sqlite3_errmsg).map { String(cString: $0) } ?? "no memory")
        }
        return opened
    }

    private func prepare() throws {
        sqlite3_busy_timeout(handle, Int32(Self.timeout * 1000))
        // The file may come from anywhere: its schema may not call functions with effects.
        _ = ocd_sqlite3_set_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
        _ = ocd_sqlite3_set_flag(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        _ = try rows("PRAGMA cell_size_check = ON")
    }

    deinit { sqlite3_close_v2(handle) }

    /// How many steps of SQLite's machine a query on views may take: some seconds.
    private static let stepLimit = 200

    /// All rows of a query.
    ///
    /// - Parameter isLimited: the query reads views, which anybody may have written: it may not go on for ever.
    func rows(_ sql: String, isLimited: Bool = false) throws -> [[Value]] {
        guard isLimited else { return try allRows(sql) }
        var rounds = 0
        return try withUnsafeMutablePointer(to: &rounds) { rounds in
            sqlite3_progress_handler(
                handle, 1_000_000,
                { rounds in
                    guard let rounds = rounds?.assumingMemoryBound(to: Int.self) else { return 1 }
                    rounds.pointee += 1
                    return rounds.pointee > SQLiteReader.stepLimit ? 1 : 0
                }, rounds)
            defer { sqlite3_progress_handler(handle, 0, nil, nil) }
            return try allRows(sql)
        }
    }

    /// The rows of a query up to damaged pages, and what SQLite said of these; nil where there are none.
    ///
    /// - Throws: every other failure.
    func readableRows(_ sql: String) throws -> (rows: [[Value]], failure: Failure?) {
        var rows: [[Value]] = []
        do {
            try forEachRow(sql) { rows.append($0) }
            return (rows, nil)
        } catch let failure as Failure where failure.isOfPages {
            return (rows, failure)
        }
    }

    private func allRows(_ sql: String) throws -> [[Value]] {
        var rows: [[Value]] = []
        try forEachRow(sql) { rows.append($0) }
        return rows
    }

    private func forEachRow(_ sql: String, _ body: ([Value]) -> Void) throws {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw lastFailure }
        defer { sqlite3_finalize(statement) }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: body((0..<sqlite3_column_count(statement)).map { value(statement, $0) })
            case SQLITE_DONE: return
            default: throw lastFailure
            }
        }
    }

    private var lastFailure: Failure {
        Failure(code: sqlite3_errcode(handle), message: String(cString: sqlite3_errmsg(handle)))
    }

    private func value(_ statement: OpaquePointer?, _ column: Int32) -> Value {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
        case SQLITE_TEXT:
            guard let text = sqlite3_column_text(statement, column) else { return .null }
            let count = Int(sqlite3_column_bytes(statement, column))
            return .text(String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self))
        case SQLITE_BLOB:
            guard let bytes = sqlite3_column_blob(statement, column) else { return .blob(Data()) }
            return .blob(Data(bytes: bytes, count: Int(sqlite3_column_bytes(statement, column))))
        default: return .null
        }
    }

    /// Writes the database, as this connection sees it, to a new file.
    func copy(to path: String) throws {
        let target = try Self.open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        defer { sqlite3_close_v2(target) }
        guard let backup = sqlite3_backup_init(target, "main", handle, "main") else {
            throw Failure(code: sqlite3_errcode(target), message: String(cString: sqlite3_errmsg(target)))
        }
        sqlite3_backup_step(backup, -1)
        let code = sqlite3_backup_finish(backup)
        guard code == SQLITE_OK else { throw Failure(code: code, message: String(cString: sqlite3_errstr(code))) }
    }

    /// A text as SQL.
    static func text(_ text: String) -> String { "'" + text.replacingOccurrences(of: "'", with: "''") + "'" }

    /// A name as SQL.
    static func identifier(_ name: String) -> String {
        "\"" + name.replacingOccurrences(of: "\"", with: "\"\"") + "\""
    }
}
