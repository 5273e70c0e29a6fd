import CSQLite
import Foundation

/// SQL functions that compute with values of Core Data's types.
///
/// They use the code that evaluates predicates in memory.
enum ValueFunctions {
    static func register(on connection: SQLiteConnection) {
        let pure = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
        let add = connection.addFunction
        add(SQLFunctionName.calculate, -1, pure) { context, count, arguments in
            ValueFunctions.calculate(context, count, arguments, isExact: false)
        }
        add(SQLFunctionName.calculateExactly, -1, pure) { context, count, arguments in
            ValueFunctions.calculate(context, count, arguments, isExact: true)
        }
        add(SQLFunctionName.compareNumbers, 4, pure) { context, _, arguments in
            ValueFunctions.compareNumbers(context, arguments)
        }
        add(SQLFunctionName.value, 1, SQLITE_UTF8 | SQLITE_INNOCUOUS) { context, _, arguments in
            sqlite3_result_value(context, arguments?[0])
        }
        add(SQLFunctionName.number, 1, pure) { context, _, arguments in
            guard let context else { return }
            ValueFunctions.give(
                SQLiteFunctions.string(arguments?[0]).flatMap { ComparableValue.number(in: $0)?.value }, to: context)
        }
        add(SQLFunctionName.text, 2, pure) { context, _, arguments in
            guard let context else { return }
            let kind = UInt8(exactly: sqlite3_value_int64(arguments?[0])).flatMap(ValueKind.init(rawValue:))
            ValueFunctions.give(ComparableValue(ValueFunctions.value(arguments?[1], kind)).stringValue, to: context)
        }
        // Not deterministic: it reads files, whose bytes may change.
        add(SQLFunctionName.externalBytes, 1, SQLITE_UTF8 | SQLITE_DIRECTONLY) { context, _, arguments in
            guard let context, let connection = SQLiteConnection.calling(context),
                let data = ValueFunctions.data(arguments?[0])
            else {
                return sqlite3_result_null(context)
            }
            do {
                ValueFunctions.give(
                    try ExternalFiles.content(ofColumnValue: data, in: connection.externalFiles?.value), to: context)
            } catch {
                sqlite3_result_error(context, error.localizedDescription, -1)
            }
        }
        func aggregate(_ name: String, _ finish: @escaping @convention(c) (OpaquePointer?) -> Void) {
            sqlite3_create_function_v2(
                connection.handle, name, 1, pure, nil, nil,
                { context, _, arguments in
                    guard let decimal = ValueFunctions.value(arguments?[0], .decimal) as? Decimal else { return }
                    ValueFunctions.aggregation(context, creates: true)?.object.add(decimal)
                }, finish, nil)
        }
        aggregate(SQLFunctionName.decimalSum) { context in ValueFunctions.finish(context, isExact: false) { $0.sum } }
        aggregate(SQLFunctionName.decimalAverage) { context in
            ValueFunctions.finish(context, isExact: false) { $0.average }
        }
        aggregate(SQLFunctionName.exactDecimalSum) { context in ValueFunctions.finish(context, isExact: true) { $0.sum }
        }
        aggregate(SQLFunctionName.exactDecimalAverage) { context in
            ValueFunctions.finish(context, isExact: true) { $0.average }
        }
    }

    // MARK: Functions of predicates

    private static func calculate(
        _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?, isExact: Bool
    ) {
        guard let context, let arguments, count >= 2, let name = SQLiteFunctions.string(arguments[0]),
            let kinds = SQLiteFunctions.string(arguments[1])?.utf8, kinds.count == Int(count) - 2
        else { return sqlite3_result_null(context) }
        let values = kinds.enumerated().map { index, letter in
            value(arguments[index + 2], letter: letter)
        }
        give(FunctionEvaluation.value(ofFunctionNamed: name, values), to: context, isExact: isExact)
    }

    private static func compareNumbers(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
        guard let context, let arguments,
            let operation = UInt(exactly: sqlite3_value_int64(arguments[0])).flatMap(
                NSComparisonPredicate.Operator.init(rawValue:)),
            let kinds = SQLiteFunctions.string(arguments[1]).map({ Array($0.utf8) }), kinds.count == 2,
            let left = value(arguments[2], letter: kinds[0]), let right = value(arguments[3], letter: kinds[1])
        else {
            if let context { sqlite3_result_null(context) }
            return
        }
        sqlite3_result_int(context, operation.holds(left, right) ? 1 : 0)
    }

    /// A value by the letter of its kind: see `SQLiteDialect.kinds(of:)`.
    private static func value(_ value: OpaquePointer?, letter: UInt8) -> Any? {
        guard letter == SQLFunctionName.exactKind else {
            return self.value(value, ValueKind(rawValue: letter &- UInt8(ascii: "A")))
        }
        // A decimal is passed as text; other numbers keep their type.
        guard let value, sqlite3_value_type(value) == SQLITE_TEXT else { return self.value(value, nil) }
        return SQLiteFunctions.string(value).flatMap { Decimal(string: $0) }
    }

    /// Converts an SQL value to the type that objects have, as far as functions distinguish types.
    private static func value(_ value: OpaquePointer?, _ kind: ValueKind?) -> Any? {
        guard let value else { return nil }
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER:
            let integer = sqlite3_value_int64(value)
            switch kind {
            case .decimal?: return Decimal(integer)
            case .double?, .float?: return Double(integer)
            case .date?: return Date(timeIntervalSinceReferenceDate: Double(integer))
            default: return integer
            }
        case SQLITE_FLOAT:
            let double = sqlite3_value_double(value)
            switch kind {
            case .decimal?:
                // A double that no decimal can hold comes from arithmetic outside the range of
                // decimals.
                return double.isFinite ? Decimal(string: DecimalText.text(of: double)) ?? double : double
            case .date?: return Date(timeIntervalSinceReferenceDate: double)
            default: return double
            }
        case SQLITE_TEXT:
            let text = SQLiteFunctions.string(value)
            return kind == .decimal ? text.flatMap { Decimal(string: $0) } : text
        case SQLITE_BLOB:
            let data = data(value) ?? Data()
            guard kind == .uuid, data.count == 16 else { return data }
            return data.withUnsafeBytes { UUID(bytes: $0.bindMemory(to: UInt8.self)) }
        default: return nil
        }
    }

    private static func data(_ value: OpaquePointer?) -> Data? {
        guard let value, sqlite3_value_type(value) != SQLITE_NULL else { return nil }
        let count = Int(sqlite3_value_bytes(value))
        return sqlite3_value_blob(value).map { Data(bytes: $0, count: count) } ?? Data()
    }

    /// - Parameter isExact: whether to return a decimal as text, with all of its digits.
    private static func give(_ value: Any?, to context: OpaquePointer, isExact: Bool = false) {
        switch ComparableValue(value) {
        case .integer(let integer): sqlite3_result_int64(context, integer)
        case .double(let double): sqlite3_result_double(context, double)
        case .decimal(let decimal):
            // A decimal becomes the nearest number, as in a column.
            let text = "\(decimal)"
            if isExact { return SQLiteFunctions.give(.string(text), to: context) }
            if let integer = Int64(text) { return sqlite3_result_int64(context, integer) }
            sqlite3_result_double(context, Double(text) ?? .nan)
        case .string(let text): SQLiteFunctions.give(.string(text), to: context)
        case .date(let seconds): sqlite3_result_double(context, seconds)
        case .object(let data as Data): SQLiteFunctions.give(.data(data), to: context)
        default: sqlite3_result_null(context)
        }
    }

    // MARK: Sums of decimals

    private final class Aggregation {
        private var total = Decimal(0)
        private var count = 0

        func add(_ decimal: Decimal) {
            total += decimal
            count += 1
        }

        var sum: Decimal? { count == 0 ? nil : total }
        var average: Decimal? { count == 0 ? nil : total / Decimal(count) }
    }

    /// Returns the state of an aggregation. SQLite gives each group of rows zeroed memory, which
    /// holds a pointer to it.
    private static func aggregation(_ context: OpaquePointer?, creates: Bool) -> Retained<Aggregation>? {
        let size = creates ? Int32(MemoryLayout<UnsafeMutableRawPointer?>.size) : 0
        guard let memory = sqlite3_aggregate_context(context, size) else { return nil }
        let place = memory.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
        if let known = place.pointee { return Retained(pointer: known) }
        guard creates else { return nil }
        // Released by `finish`, which SQLite calls for every group, after an error too.
        let aggregation = Retained(Aggregation())
        place.pointee = aggregation.pointer
        return aggregation
    }

    private static func finish(_ context: OpaquePointer?, isExact: Bool, _ result: (Aggregation) -> Decimal?) {
        guard let context, let aggregation = aggregation(context, creates: false) else {
            return sqlite3_result_null(context)
        }
        defer { aggregation.release() }
        give(result(aggregation.object), to: context, isExact: isExact)
    }
}
