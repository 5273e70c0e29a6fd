import CSQLite
import Foundation

extension SQLiteConnection {
    /// Registers an SQL function whose user data is the connection.
    ///
    /// - Parameters:
    ///   - count: the number of arguments; -1 for any number.
    ///   - flags: the flags of `sqlite3_create_function_v2`.
    func addFunction(
        _ name: String, _ count: Int32, _ flags: Int32,
        _ function: @escaping @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void
    ) {
        // Unretained: the connection outlives its functions.
        sqlite3_create_function_v2(
            handle, name, count, flags, Unretained(self).pointer, function, nil, nil, nil)
    }

    /// The connection that calls a function registered with `addFunction`.
    static func calling(_ context: OpaquePointer) -> SQLiteConnection? {
        sqlite3_user_data(context).map { Unretained<SQLiteConnection>(pointer: $0).object }
    }
}

/// The functions and collations that every connection of a store adds to SQLite's own.
///
/// Those registered as innocuous read only their arguments, so that an untrusted schema may call
/// them. Functions that read files are for statements of the store alone (`SQLITE_DIRECTONLY`).
enum SQLiteFunctions {
    static func register(on connection: SQLiteConnection) {
        let pure = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
        let add = connection.addFunction
        add(SQLFunctionName.matchString, 4, pure) { context, _, arguments in
            guard let context, let arguments else { return }
            SQLiteFunctions.match(context, arguments)
        }
        add(SQLFunctionName.canonical, 1, pure) { context, _, arguments in
            SQLiteFunctions.map(context, arguments) {
                $0.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
            }
        }
        add(SQLFunctionName.uppercase, 1, pure) { context, _, arguments in
            SQLiteFunctions.map(context, arguments) { $0.uppercased() }
        }
        add(SQLFunctionName.lowercase, 1, pure) { context, _, arguments in
            SQLiteFunctions.map(context, arguments) { $0.lowercased() }
        }
        add(SQLFunctionName.bytes, 1, pure) { context, _, arguments in
            guard let context, let text = SQLiteFunctions.string(arguments?[0]) else {
                return sqlite3_result_null(context)
            }
            let bytes = SQLiteFunctions.bytes(fromHexadecimal: text)
            sqlite3_result_blob64(context, bytes, UInt64(bytes.count), SQLiteStatement.transient)
        }
        add(SQLFunctionName.double, 1, pure) { context, _, arguments in
            let bits = UInt64(bitPattern: sqlite3_value_int64(arguments?[0]))
            sqlite3_result_double(context, Double(bitPattern: bits))
        }
        // Called by triggers: (table, entity number, key, attribute or column, value).
        for name in [SQLFunctionName.updatedRow, SQLFunctionName.insertedRow, SQLFunctionName.changedRow] {
            add(name, 5, SQLITE_UTF8 | SQLITE_INNOCUOUS) { context, _, arguments in
                guard let context, let arguments, let connection = SQLiteConnection.calling(context) else { return }
                connection.affectedRows.append(
                    .init(entityNumber: sqlite3_value_int64(arguments[1]), key: sqlite3_value_int64(arguments[2])))
                sqlite3_result_null(context)
            }
        }
        ValueFunctions.register(on: connection)
        for (collation, selector) in [
            (SQLFunctionName.collateCaseInsensitive, "caseInsensitiveCompare:"),
            (SQLFunctionName.collateLocalized, "localizedCompare:"),
            (SQLFunctionName.collateLocalizedCaseInsensitive, "localizedCaseInsensitiveCompare:"),
            (SQLFunctionName.collateLocalizedStandard, "localizedStandardCompare:"),
        ] {
            collate(connection, collation) { StringComparison.compare($0, $1, selectorName: selector) }
        }
    }

    // MARK: Collations

    private final class Collation {
        let order: (String, String) -> ComparisonResult
        init(_ order: @escaping (String, String) -> ComparisonResult) { self.order = order }
    }

    private static func collate(
        _ connection: SQLiteConnection, _ name: String, _ order: @escaping (String, String) -> ComparisonResult
    ) {
        let collation = Retained(Collation(order)).pointer
        sqlite3_create_collation_v2(
            connection.handle, name, SQLITE_UTF8, collation,
            { user, leftCount, left, rightCount, right in
                guard let user else { return 0 }
                let collation = Retained<Collation>(pointer: user).object
                let first = String(decoding: UnsafeRawBufferPointer(start: left, count: Int(leftCount)), as: UTF8.self)
                let second = String(
                    decoding: UnsafeRawBufferPointer(start: right, count: Int(rightCount)), as: UTF8.self)
                return Int32(collation.order(first, second).rawValue)
            },
            { user in if let user { Retained<Collation>(pointer: user).release() } })
    }

    // MARK: Values

    static func string(_ value: OpaquePointer?) -> String? {
        guard let value, sqlite3_value_type(value) != SQLITE_NULL, let text = sqlite3_value_text(value) else {
            return nil
        }
        return String(
            decoding: UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value))), as: UTF8.self)
    }

    private static func map(
        _ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?, _ change: (String) -> String
    ) {
        guard let context, let text = string(arguments?[0]) else { return sqlite3_result_null(context) }
        give(.string(change(text)), to: context)
    }

    /// Sets a value as the result of a function; a decimal as its text, which a column converts to
    /// a number.
    static func give(_ value: StoredValue, to context: OpaquePointer) {
        switch value {
        case .integer(let integer): sqlite3_result_int64(context, integer)
        case .double(let double): sqlite3_result_double(context, double)
        case .decimal(let decimal): give(.string(decimal.description), to: context)
        case .string(var text):
            text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    sqlite3_result_text64(
                        context, $0.baseAddress, UInt64($0.count), SQLiteStatement.transient, UInt8(SQLITE_UTF8))
                }
            }
        case .data(let data):
            data.withUnsafeBytes {
                sqlite3_result_blob64(context, $0.baseAddress, UInt64($0.count), SQLiteStatement.transient)
            }
        case .uuid(let uuid):
            withUnsafeBytes(of: uuid.uuid) {
                sqlite3_result_blob64(context, $0.baseAddress, 16, SQLiteStatement.transient)
            }
        default: sqlite3_result_null(context)
        }
    }

    private static func bytes(fromHexadecimal text: String) -> [UInt8] {
        func digit(_ byte: UInt8) -> UInt8? {
            switch byte {
            case 0x30...0x39: byte - 0x30
            case 0x41...0x46: byte - 0x37
            case 0x61...0x66: byte - 0x57
            default: nil
            }
        }
        var result: [UInt8] = []
        var high: UInt8?
        for byte in text.utf8 {
            guard let value = digit(byte) else { continue }
            if let first = high {
                result.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return result
    }

    // MARK: String comparisons

    /// A pattern prepared once for all rows of a statement.
    private final class Matcher {
        let comparison: StringMatcher
        init(_ comparison: StringMatcher) { self.comparison = comparison }
    }

    private static func match(_ context: OpaquePointer, _ arguments: UnsafeMutablePointer<OpaquePointer?>) {
        guard let value = arguments[2], sqlite3_value_type(value) != SQLITE_NULL else {
            return sqlite3_result_null(context)
        }
        let matcher: Matcher
        if let prepared = sqlite3_get_auxdata(context, 3) {
            matcher = Retained<Matcher>(pointer: prepared).object
        } else {
            let number = UInt(clamping: sqlite3_value_int64(arguments[0]))
            guard let operation = NSComparisonPredicate.Operator(rawValue: number), let pattern = string(arguments[3])
            else {
                return sqlite3_result_null(context)
            }
            let options = NSComparisonPredicate.Options(rawValue: UInt(clamping: sqlite3_value_int64(arguments[1])))
            matcher = Matcher(StringMatcher(operation, options, pattern: pattern))
            // SQLite drops the prepared pattern at once when it is no constant, so the code below
            // must not rely on it.
            sqlite3_set_auxdata(context, 3, Retained(matcher).pointer) { prepared in
                if let prepared { Retained<Matcher>(pointer: prepared).release() }
            }
        }
        guard let text = sqlite3_value_text(value), let connection = SQLiteConnection.calling(context) else {
            return sqlite3_result_null(context)
        }
        let bytes = UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value)))
        do {
            sqlite3_result_int(context, try matcher.comparison.holds(utf8: bytes, connection.patternBudget) ? 1 : 0)
        } catch {
            sqlite3_result_error(context, "\(error)", -1)
        }
    }
}
