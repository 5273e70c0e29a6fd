import CSQLite
import Foundation

/// A prepared statement of one connection.
///
/// Use it in this order: bind, step, read, `reset()`. Values are bound by type, without boxing;
/// SQLite copies text and bytes.
final class SQLiteStatement: SQLRow {
    let handle: OpaquePointer
    let sql: String
    private unowned let connection: SQLiteConnection

    /// Whether the statement is being stepped; the cache must then not return it.
    var isInUse = false
    /// The use counter of the connection when the statement was last taken from the cache.
    var lastUse: UInt64 = 0
    /// The first error code of a binding that SQLite refused and replaced by NULL.
    private var refusal = SQLITE_OK

    init(_ sql: String, on connection: SQLiteConnection) throws {
        var handle: OpaquePointer?
        let result = sqlite3_prepare_v3(connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard result == SQLITE_OK, let handle else {
            throw SQLiteError(handle: connection.handle, sql: sql, path: connection.path)
        }
        self.handle = handle
        self.sql = sql
        self.connection = connection
        connection.printPlan(of: sql)
    }

    deinit { sqlite3_finalize(handle) }

    /// SQLite copies the bytes before the call returns.
    static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    // MARK: Binding (parameters count from 1)

    // Texts and bytes may be too large or fail to allocate. Then the statement must not run: see
    // `requireBound()`.
    @inline(__always)
    private func note(_ result: Int32) { if result != SQLITE_OK { refuse(result) } }

    @inline(never)
    private func refuse(_ result: Int32) { if refusal == SQLITE_OK { refusal = result } }

    /// Checks that all values were bound.
    ///
    /// Called before a statement with texts or bytes is stepped for the first time; `run()` does
    /// so.
    ///
    /// - Throws: an error when a value was not bound.
    @inline(__always)
    func requireBound() throws { if refusal != SQLITE_OK { throw bindingFailure() } }

    @inline(never)
    private func bindingFailure() -> SQLiteError {
        defer { forgetRefusal() }
        return SQLiteError(
            extendedCode: refusal, message: String(cString: sqlite3_errstr(refusal)), sql: sql, path: connection.path)
    }

    /// Clears the error of the last bindings, so that the statement can be used with other values.
    @inline(__always)
    func forgetRefusal() { refusal = SQLITE_OK }

    @inline(__always)
    func bind(_ value: Int64, at parameter: Int32) { sqlite3_bind_int64(handle, parameter, value) }

    @inline(__always)
    func bind(_ value: Double, at parameter: Int32) { sqlite3_bind_double(handle, parameter, value) }

    @inline(__always)
    func bindNull(at parameter: Int32) { sqlite3_bind_null(handle, parameter) }

    func bind(_ value: String, at parameter: Int32) {
        var value = value
        value.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                bind(text.baseAddress ?? Self.emptyText, text.count, at: parameter, Self.transient)
            }
        }
    }

    @inline(__always)
    private func bind(
        _ text: UnsafePointer<CChar>, _ count: Int, at parameter: Int32, _ destructor: sqlite3_destructor_type?
    ) {
        note(sqlite3_bind_text64(handle, parameter, text, UInt64(count), destructor, UInt8(SQLITE_UTF8)))
    }

    /// Binds a text in place, without a copy. The bytes must stay valid until the statement has
    /// run.
    @inline(__always)
    func bindInPlace(_ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int, at parameter: Int32) {
        guard let bytes, count > 0 else { return bind(Self.emptyText, 0, at: parameter, Self.transient) }
        bytes.withMemoryRebound(to: CChar.self, capacity: count) { bind($0, count, at: parameter, nil) }
    }

    private nonisolated(unsafe) static let emptyText: UnsafePointer<CChar> = {
        // nonisolated(unsafe): one zero byte that is never written again.
        let text = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
        text.pointee = 0
        return UnsafePointer(text)
    }()

    func bind(_ bytes: UnsafeRawBufferPointer, at parameter: Int32) {
        if let base = bytes.baseAddress, !bytes.isEmpty {
            note(sqlite3_bind_blob64(handle, parameter, base, UInt64(bytes.count), Self.transient))
        } else {
            sqlite3_bind_zeroblob(handle, parameter, 0)
        }
    }

    /// Binds a value in the store's form; a decimal as its text, which a DECIMAL column converts to
    /// a number.
    @inline(__always)
    func bind(_ value: StoredValue, at parameter: Int32) {
        switch value {
        case .integer(let integer): sqlite3_bind_int64(handle, parameter, integer)
        case .double(let double): sqlite3_bind_double(handle, parameter, double)
        case .reference(let reference): sqlite3_bind_int64(handle, parameter, reference.key)
        case .null: sqlite3_bind_null(handle, parameter)
        case .string(let string): bind(string, at: parameter)
        default: bindOther(value, at: parameter)
        }
    }

    @inline(never)
    private func bindOther(_ value: StoredValue, at parameter: Int32) {
        switch value {
        case .data(let data): data.withUnsafeBytes { bind($0, at: parameter) }
        case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { bind($0, at: parameter) }
        case .decimal(let decimal):
            // SQLite converts a double NaN to NULL, but would keep the text.
            if decimal.isNaN { bindNull(at: parameter) } else { bind(decimal.description, at: parameter) }
        default: sqlite3_bind_null(handle, parameter)
        }
    }

    /// Binds values to the first parameters.
    ///
    /// - Throws: an error when SQLite refuses one of them.
    func bind(_ values: [StoredValue]) throws {
        var parameter: Int32 = 1
        for value in values {
            bind(value, at: parameter)
            parameter += 1
        }
        try requireBound()
    }

    // MARK: Stepping

    /// Moves to the next row; false after the last one.
    @inline(__always)
    func step() throws -> Bool {
        let result = sqlite3_step(handle)
        if result == SQLITE_ROW { return true }
        if result == SQLITE_DONE { return false }
        throw failure()
    }

    /// Runs a statement without results.
    @inline(__always)
    func run() throws {
        try requireBound()
        let result = sqlite3_step(handle)
        if result != SQLITE_DONE && result != SQLITE_ROW {
            let error = failure()
            sqlite3_reset(handle)
            throw error
        }
        sqlite3_reset(handle)
    }

    @inline(never)
    private func failure() -> SQLiteError {
        connection.pendingFailure ?? SQLiteError(handle: connection.handle, sql: sql, path: connection.path)
    }

    /// Makes the statement ready for its next use. Bound values stay until bound again or cleared.
    func reset() {
        sqlite3_reset(handle)
    }

    /// Whether SQLite has prepared the statement again since the last call. Costs no more than
    /// reading a number.
    @inline(__always)
    var wasPreparedAnew: Bool { sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_REPREPARE, 1) != 0 }

    func clearBindings() {
        sqlite3_clear_bindings(handle)
    }

    // MARK: Reading (columns count from 0)

    @inline(__always)
    func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    @inline(__always)
    func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

    @inline(__always)
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    /// The column as text, repaired where it is no UTF-8; nil for NULL.
    func string(_ column: Int32) -> String? {
        guard let text = sqlite3_column_text(handle, column) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    /// The column with its storage class, whatever type it was declared as.
    func storedValue(_ column: Int32) -> StoredValue {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: .integer(int64(column))
        case SQLITE_FLOAT: .double(double(column))
        case SQLITE_TEXT: string(column).map(StoredValue.string) ?? .null
        case SQLITE_BLOB: data(column).map(StoredValue.data) ?? .null
        default: .null
        }
    }

    /// The column as bytes; nil for NULL.
    func data(_ column: Int32) -> Data? {
        if isNull(column) { return nil }
        guard let bytes = sqlite3_column_blob(handle, column) else { return Data() }
        return Data(bytes: bytes, count: Int(sqlite3_column_bytes(handle, column)))
    }
}
