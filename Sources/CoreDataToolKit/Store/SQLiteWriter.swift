import CSQLite
import Foundation

/// The command's own writing connection to a database, for repairs below Core Data.
///
/// Triggers do not run: they belong to Core Data, and call functions that only Core Data has.
final class SQLiteWriter {
    typealias Value = SQLiteReader.Value
    typealias Failure = SQLiteReader.Failure

    private let handle: OpaquePointer

    /// - Parameter isNew: whether the file is made; otherwise it must be there.
    init(path: String, isNew: Bool = false) throws {
        handle = try SQLiteReader.open(path, SQLITE_OPEN_READWRITE | (isNew ? SQLITE_OPEN_CREATE : 0))
        sqlite3_busy_timeout(handle, Int32(SQLiteReader.timeout * 1000))
        _ = ocd_sqlite3_set_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
        _ = ocd_sqlite3_set_flag(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        _ = ocd_sqlite3_set_flag(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        _ = ocd_sqlite3_set_flag(handle, SQLITE_DBCONFIG_ENABLE_FKEY, 0)
    }

    deinit { sqlite3_close_v2(handle) }

    /// A statement that runs many times, with other values each time.
    final class Statement {
        private let statement: OpaquePointer?
        private let handle: OpaquePointer
        // Keeps the connection open.
        private let writer: SQLiteWriter

        fileprivate init(_ sql: String, _ writer: SQLiteWriter) throws {
            var prepared: OpaquePointer?
            guard sqlite3_prepare_v2(writer.handle, sql, -1, &prepared, nil) == SQLITE_OK else {
                throw SQLiteReader.lastFailure(of: writer.handle)
            }
            statement = prepared
            handle = writer.handle
            self.writer = writer
        }

        deinit { sqlite3_finalize(statement) }

        /// Runs the statement with values for its question marks, and returns its rows.
        @discardableResult
        func run(_ values: [Value] = []) throws -> [[Value]] {
            defer {
                sqlite3_reset(statement)
                sqlite3_clear_bindings(statement)
            }
            for (index, value) in values.enumerated() { bind(value, at: Int32(index + 1)) }
            var rows: [[Value]] = []
            while true {
                switch sqlite3_step(statement) {
                case SQLITE_ROW: rows.append(SQLiteReader.row(of: statement))
                case SQLITE_DONE: return rows
                default: throw SQLiteReader.lastFailure(of: handle)
                }
            }
        }

        private func bind(_ value: Value, at index: Int32) {
            // SQLite copies the bytes at once.
            let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            switch value {
            case .null: sqlite3_bind_null(statement, index)
            case .integer(let number): sqlite3_bind_int64(statement, index, number)
            case .real(let number): sqlite3_bind_double(statement, index, number)
            case .text(let text):
                var text = text
                text.withUTF8 { bytes in
                    bytes.withMemoryRebound(to: CChar.self) { characters in
                        _ = sqlite3_bind_text64(
                            statement, index, characters.baseAddress, UInt64(characters.count), copies,
                            UInt8(SQLITE_UTF8))
                    }
                }
            case .blob(let data):
                if data.isEmpty {
                    sqlite3_bind_zeroblob(statement, index, 0)
                } else {
                    data.withUnsafeBytes { bytes in
                        _ = sqlite3_bind_blob64(statement, index, bytes.baseAddress, UInt64(bytes.count), copies)
                    }
                }
            }
        }
    }

    func prepare(_ sql: String) throws -> Statement { try Statement(sql, self) }

    /// Runs one statement, and returns its rows.
    @discardableResult
    func run(_ sql: String, _ values: [Value] = []) throws -> [[Value]] { try prepare(sql).run(values) }

    /// The number of rows that the last statement changed.
    var changes: Int { Int(sqlite3_changes(handle)) }

    /// Runs statements as a whole: all of them, or none where one fails.
    func transaction(_ body: () throws -> Void) throws {
        try run("BEGIN IMMEDIATE")
        do {
            try body()
            try run("COMMIT")
        } catch {
            _ = try? run("ROLLBACK")
            throw error
        }
    }

    /// Runs statements within a transaction as a whole.
    func savepoint(_ body: () throws -> Void) throws {
        try run("SAVEPOINT part")
        do {
            try body()
            try run("RELEASE part")
        } catch {
            _ = try? run("ROLLBACK TO part")
            _ = try? run("RELEASE part")
            throw error
        }
    }
}
