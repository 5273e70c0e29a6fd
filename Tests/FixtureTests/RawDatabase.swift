import CSQLite
import Foundation

/// A value as the sqlite3 library gives it.
enum RawValue: Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob(Data)

    var integer: Int64? { if case .integer(let value) = self { value } else { nil } }

    var text: String? { if case .text(let value) = self { value } else { nil } }

    var blob: Data? { if case .blob(let value) = self { value } else { nil } }

    /// Of integers and floating-point numbers: SQLite stores 2.0 as an integer where it can.
    var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        case .text(let value): Double(value)
        case .null, .blob: nil
        }
    }
}

/// The sqlite3 library itself: the second path by which tests see what a store holds.
final class RawDatabase {
    struct Failure: Error { let message: String }

    let url: URL
    private var handle: OpaquePointer?

    init(_ url: URL) throws {
        self.url = url
        guard sqlite3_open_v2(url.path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else { throw failure() }
        sqlite3_busy_timeout(handle, 10_000)
    }

    deinit { sqlite3_close_v2(handle) }

    private func failure() -> Failure { Failure(message: String(cString: sqlite3_errmsg(handle))) }

    func rows(_ sql: String) throws -> [[RawValue]] {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure() }
        defer { sqlite3_finalize(statement) }
        var rows: [[RawValue]] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: rows.append((0..<sqlite3_column_count(statement)).map { value(statement, $0) })
            case SQLITE_DONE: return rows
            default: throw failure()
            }
        }
    }

    private func value(_ statement: OpaquePointer?, _ column: Int32) -> RawValue {
        let count = Int(sqlite3_column_bytes(statement, column))
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
        case SQLITE_TEXT:
            let bytes = UnsafeBufferPointer(start: sqlite3_column_text(statement, column), count: count)
            return .text(String(decoding: bytes, as: UTF8.self))
        case SQLITE_BLOB:
            guard let bytes = sqlite3_column_blob(statement, column) else { return .blob(Data()) }
            return .blob(Data(bytes: bytes, count: count))
        default: return .null
        }
    }

    /// The first column of the first row as a number.
    func integer(_ sql: String) throws -> Int64? { try rows(sql).first?.first?.integer }

    func strings(_ sql: String) throws -> [String] { try rows(sql).map { $0.first?.text ?? "" } }

    func columns(of table: String) throws -> [String] {
        try strings("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid")
    }

    /// A table's rows by their primary keys.
    func table(_ name: String) throws -> [Int64: [String: RawValue]] {
        let columns = try columns(of: name)
        var result: [Int64: [String: RawValue]] = [:]
        for row in try rows("SELECT * FROM \"\(name)\"") {
            let values = Dictionary(uniqueKeysWithValues: zip(columns, row))
            result[values["Z_PK"]?.integer ?? 0] = values
        }
        return result
    }

    /// Everything that `CREATE` made: type, name, table and statement.
    func schema() throws -> Set<String> {
        Set(
            try rows("SELECT type, name, tbl_name, sql FROM sqlite_master").map {
                $0.map { $0.text ?? "" }.joined(separator: " | ")
            })
    }
}
