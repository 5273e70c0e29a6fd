import CSQLite
import Foundation

/// A value as the sqlite3 library gives it.
public enum SQLiteCell: Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob(Data)

    init(_ statement: OpaquePointer?, _ column: Int32) {
        // In this order: asking for the text converts the value, and the number of bytes is that of
        // what was asked for last.
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: self = .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: self = .real(sqlite3_column_double(statement, column))
        case SQLITE_TEXT:
            let start = sqlite3_column_text(statement, column)
            let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
            self = .text(String(decoding: bytes, as: UTF8.self))
        case SQLITE_BLOB:
            let start = sqlite3_column_blob(statement, column)
            self = .blob(start.map { Data(bytes: $0, count: Int(sqlite3_column_bytes(statement, column))) } ?? Data())
        default: self = .null
        }
    }

    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }

    public var text: String? { if case .text(let value) = self { value } else { nil } }

    public var blob: Data? { if case .blob(let value) = self { value } else { nil } }

    /// Of integers and floating-point numbers: SQLite stores 2.0 as an integer where it can.
    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        case .text(let value): Double(value)
        case .null, .blob: nil
        }
    }
}
