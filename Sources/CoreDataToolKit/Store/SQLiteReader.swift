import CSQLite
import Foundation

/// The command's own connection to a database, for reading below Core Data: tables, counts,
/// metadata.
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

        /// The whole number of an integer, or of a text that contains one.
        var wholeNumber: Int64? { integer ?? text.flatMap { Int64($0) } }

        /// The value for display, a text in quotes.
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

    struct Failure: Error {
        let code: Int32
        let message: String

        /// Whether another program kept the database locked.
        var isLocked: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }

        /// Whether pages of the file are damaged; other pages may still be readable.
        var isOfPages: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }

        /// Whether a statement in the schema is damaged.
        var isOfSchema: Bool { message.hasPrefix("malformed database schema") }

        /// Whether the file could not be read at some place: it is shorter than its pages.
        var isOfReading: Bool { code == SQLITE_IOERR || code & 0xff == SQLITE_IOERR }

        /// The failure of a query that is stopped because its rows do not end.
        static let endless = Failure(code: SQLITE_INTERRUPT, message: "its rows do not end")

        /// Whether the query was stopped because it exceeded its limit of steps.
        var isEndless: Bool { code == SQLITE_INTERRUPT }
    }

    /// The timeout for locks of other programs, in seconds.
    static let timeout = 5.0

    private let handle: OpaquePointer
    /// The number of rounds of steps that are left to the statements of this connection. Each new
    /// statement gets all of them.
    private let rounds = UnsafeMutablePointer<Int64>.allocate(capacity: 1)

    /// - Parameter isImmutable: whether nobody changes the file and it has no journal. Then no
    ///   locks are taken and no files are created beside it.
    init(path: String, isImmutable: Bool) throws {
        var allowed = CharacterSet.urlPathAllowed
        allowed.remove(charactersIn: "?#%")
        let escaped = path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path
        let name = "file:" + escaped + (isImmutable ? "?immutable=1" : "")
        handle = try Self.open(name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
        stepLimit = Self.stepLimit(path)
        try prepare()
    }

    /// Opens a private copy for writing, so that SQLite recovers the contents of its journal.
    init(recovering path: String) throws {
        handle = try Self.open(path, SQLITE_OPEN_READWRITE)
        stepLimit = Self.stepLimit(path)
        try prepare()
    }

    static func open(_ name: String, _ flags: Int32) throws -> OpaquePointer {
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
        // The file is untrusted: its schema may not call functions with side effects.
        _ = ocd_sqlite3_set_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
        _ = ocd_sqlite3_set_flag(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        limitSteps()
        _ = try rows("PRAGMA cell_size_check = ON")
        readSchema()
    }

    /// SQLite's words about a schema of which it can read only a part; nil for a sound one.
    private(set) var schemaProblem: String?

    /// Reads the schema. Where a statement in it is damaged, the others still count.
    private func readSchema() {
        let query = "SELECT count(*) FROM sqlite_master"
        do { _ = try rows(query) } catch let failure as Failure where failure.isOfSchema {
            schemaProblem = failure.message
            _ = ocd_sqlite3_set_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, 0)
            // The first statement after this reads the schema and fails.
            _ = try? rows("PRAGMA writable_schema = ON")
            _ = try? rows(query)
        } catch {
            // The first query of the caller meets it again.
        }
    }

    deinit {
        sqlite3_close_v2(handle)
        rounds.deallocate()
    }

    /// The greatest number of steps of SQLite's virtual machine for one query: some seconds, and 20
    /// for each byte of the file. No table needs as many, but a view in an untrusted file may never
    /// end.
    private let stepLimit: Int64

    private static func stepLimit(_ path: String) -> Int64 {
        let sizes = ["", "-wal"].map { StoreFile.fileSize(path + $0) ?? 0 }
        return 200_000_000 + min(sizes.reduce(0, +), 1 << 50) * 20
    }

    private static let stepsOfRound: Int64 = 1_000_000

    /// - Throws: `Failure`; one with `isEndless` if the query takes more steps than any table
    ///   needs.
    func rows(_ sql: String) throws -> [[Value]] {
        var rows: [[Value]] = []
        try forEachRow(sql) { rows.append($0) }
        return rows
    }

    /// Returns the rows of a query up to damaged pages, and SQLite's failure at these; nil if no
    /// page is damaged.
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

    /// Passes the rows of a query to a function, one by one.
    func forEachRow(_ sql: String, _ body: ([Value]) throws -> Void) throws {
        let rows = try cursor(sql)
        while let row = try rows.next() { try body(row) }
    }

    /// Returns the rows of a query one by one, when they are asked for.
    func cursor(_ sql: String) throws -> Cursor {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw lastFailure }
        rounds.pointee = stepLimit / Self.stepsOfRound
        return Cursor(statement, of: self)
    }

    /// The rows of a query that are still to come.
    final class Cursor {
        private let statement: OpaquePointer?
        private let reader: SQLiteReader
        private let width: Int32

        fileprivate init(_ statement: OpaquePointer?, of reader: SQLiteReader) {
            self.statement = statement
            self.reader = reader
            width = sqlite3_column_count(statement)
        }

        deinit { sqlite3_finalize(statement) }

        /// Returns the next row; nil after the last one.
        func next() throws -> [Value]? {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: return (0..<width).map { SQLiteReader.value(statement, $0) }
            case SQLITE_DONE: return nil
            default: throw reader.lastFailure
            }
        }
    }

    /// Ends statements that take more steps than any table needs.
    private func limitSteps() {
        sqlite3_progress_handler(
            handle, Int32(Self.stepsOfRound),
            { rounds in
                guard let rounds = rounds?.assumingMemoryBound(to: Int64.self) else { return 1 }
                rounds.pointee -= 1
                return rounds.pointee < 0 ? 1 : 0
            }, rounds)
    }

    private var lastFailure: Failure { Self.lastFailure(of: handle) }

    static func lastFailure(of handle: OpaquePointer) -> Failure {
        Failure(code: sqlite3_errcode(handle), message: String(cString: sqlite3_errmsg(handle)))
    }

    /// Returns the values of the row at which a statement stands.
    static func row(of statement: OpaquePointer?) -> [Value] {
        (0..<sqlite3_column_count(statement)).map { value(statement, $0) }
    }

    private static func value(_ statement: OpaquePointer?, _ column: Int32) -> Value {
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

    /// Returns a text as an SQL literal.
    static func text(_ text: String) -> String { "'" + text.replacingOccurrences(of: "'", with: "''") + "'" }

    /// Returns a name as a quoted SQL identifier.
    static func identifier(_ name: String) -> String {
        "\"" + name.replacingOccurrences(of: "\"", with: "\"\"") + "\""
    }
}
