import Foundation

/// The SQL of SQLite, as Core Data writes it into the schemas of stores.
///
/// Functions that SQLite lacks are added to every connection of a store: `SQLFunctionName`.
struct SQLiteDialect: SQLDialect {
    var storeName: String { "SQLite" }

    /// The limits of SQLite.
    ///
    /// - A query has at most 64 tables; some are reserved for the queries around a subquery.
    /// - The parser nests parentheses some thirty levels deep.
    /// - An expression has at most 1,000 levels, and each operator adds one.
    /// - Collecting constants takes time that grows with the square of their number.
    var limits: SQLLimits { SQLLimits(joins: 60, nesting: 16, operands: 500, groupSize: 100, listedElements: 16) }

    /// The name, quoted unless SQLite accepts it as a plain identifier. SQLite accepts every letter
    /// beyond ASCII.
    static func identifier(_ name: String) -> String {
        let isPlain =
            name.utf8.allSatisfy {
                ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7a) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x5f || $0 >= 0x80
            } && name.utf8.first.map { $0 < 0x30 || $0 > 0x39 } == true
        return isPlain ? name : "\"" + name.replacingOccurrences(of: "\"", with: "\"\"") + "\""
    }

    func identifier(_ name: String) -> String { Self.identifier(name) }

    func placeholder(_ number: Int) -> String { "?" }

    func numberedPlaceholder(_ number: Int) -> String { "?\(number)" }

    func literal(_ value: StoredValue, _ kind: ValueKind) -> String? {
        switch value {
        case .integer(let number): String(number)
        case .double(let number): number.isFinite ? Int64(exactly: number).map(String.init) ?? "\(number)" : nil
        case .string(let text) where !text.contains("\0"): "'" + text.replacingOccurrences(of: "'", with: "''") + "'"
        default: nil
        }
    }

    func constant(_ value: StoredValue, _ kind: ValueKind?, like other: SQLTerm?) -> (
        value: StoredValue, kind: ValueKind?
    ) {
        (value, kind)
    }

    func text(ofConstant argument: SQLArgument) -> SQLText { SQLText(argument) }

    var bindsDecimals: Bool { false }

    var hasStaticTypes: Bool { false }

    var bindsValuesOnce: Bool { false }

    // MARK: Truth and nil

    func truth(_ value: Bool) -> String { value ? "1" : "0" }

    func isNotTrue(_ condition: SQLText) -> SQLText { "((" + condition + ") IS NOT 1)" }

    func isSame(_ left: SQLText, _ right: SQLText) -> SQLText { left + " IS " + right }

    func isDifferent(_ left: SQLText, _ right: SQLText) -> SQLText { left + " IS NOT " + right }

    func anyValue(of values: [SQLText]) -> SQLText {
        let list = SQLText.joined(values, by: ", ")
        return values.count > 1 ? "COALESCE(" + list + ")" : list
    }

    func value(_ value: SQLText, orElse standard: SQLText) -> SQLText { "IFNULL(" + value + ", " + standard + ")" }

    // MARK: Comparisons

    func number(inText text: SQLText) -> SQLTerm {
        SQLTerm(text: "\(SQLFunctionName.number)(" + text + ")", kind: .double)
    }

    func text(of term: SQLTerm, _ kind: ValueKind) -> SQLText? {
        "\(SQLFunctionName.text)(\(kind.rawValue), " + term.text + ")"
    }

    func match(
        _ operation: NSComparisonPredicate.Operator, _ options: NSComparisonPredicate.Options, _ text: SQLTerm,
        _ pattern: SQLTerm
    ) -> SQLText {
        "\(SQLFunctionName.matchString)(\(operation.rawValue), \(options.rawValue), " + text.text + ", " + pattern.text
            + ")"
    }

    func hasSuffix(_ text: SQLTerm, _ suffix: SQLText, negativeLength: SQLText) -> SQLText {
        // As bytes: SQLite reads a NUL as the end of a text.
        "substr(CAST(" + text.text + " AS BLOB), " + negativeLength + ") = CAST(" + suffix + " AS BLOB)"
    }

    func contains(_ text: SQLTerm, _ part: SQLText) -> SQLText { "instr(" + text.text + ", " + part + ") > 0" }

    func isMember(_ value: SQLText, of list: [SQLArgument], isDecimal: Bool) -> SQLText? {
        guard !isDecimal, let list = JSONList(list.map(\.value)) else { return nil }
        let elements = "(SELECT \(list.column) FROM json_each(" + SQLText(value: .string(list.text)) + "))"
        return value + " IN " + elements
    }

    func compare(_ left: SQLTerm, _ operation: NSComparisonPredicate.Operator, _ right: SQLTerm) -> SQLText? {
        if left.exact == nil && right.exact == nil {
            if Self.isDecimalColumn(left) { return compareCells(left, operation, right) }
            guard Self.isDecimalColumn(right), let mirrored = operation.mirrored else { return nil }
            return compareCells(right, mirrored, left)
        }
        return "\(SQLFunctionName.compareNumbers)(\(operation.rawValue), '\(Self.kinds(of: [left, right]))', "
            + left.mostExact + ", "
            + right.mostExact + ")"
    }

    private static func isDecimalColumn(_ term: SQLTerm) -> Bool { term.kind == .decimal && term.isColumn }

    /// Compares a decimal column with a constant, which several cells may stand for: the programs
    /// that wrote them rounded differently. Returns nil for anything but a constant number.
    private func compareCells(
        _ column: SQLTerm, _ operation: NSComparisonPredicate.Operator, _ constant: SQLTerm
    ) -> SQLText? {
        guard constant.kind?.isNumber == true, let least = constant.derived(.leastCell),
            let greatest = constant.derived(.greatestCell)
        else { return nil }
        switch operation {
        case .equalTo: return "(" + column.text + " BETWEEN " + least + " AND " + greatest + ")"
        case .lessThan: return column.text + " < " + least
        case .lessThanOrEqualTo: return column.text + " <= " + greatest
        case .greaterThan: return column.text + " > " + greatest
        case .greaterThanOrEqualTo: return column.text + " >= " + least
        default: return nil
        }
    }

    func singleConstant(_ constant: SQLText) -> SQLText { "\(SQLFunctionName.value)(" + constant + ")" }

    func withoutIndex(_ value: SQLText) -> SQLText { "+" + value }

    // MARK: Values

    /// The bytes of an external-storage column. The cell holds a marker, followed by the value or
    /// the name of a file.
    func externalBytes(_ column: SQLText) -> SQLText? { "\(SQLFunctionName.externalBytes)(" + column + ")" }

    func text(_ text: SQLText, _ change: SQLTextChange) -> SQLText {
        switch change {
        case .uppercase: "\(SQLFunctionName.uppercase)(" + text + ")"
        case .lowercase: "\(SQLFunctionName.lowercase)(" + text + ")"
        case .canonical: "\(SQLFunctionName.canonical)(" + text + ")"
        }
    }

    func refusal(of change: SQLTextChange) -> String? { nil }

    func computed(_ text: SQLText) -> SQLText { text }

    func arithmetic(_ left: SQLTerm, _ operation: SQLArithmetic, _ right: SQLTerm, _ kind: ValueKind) -> SQLTerm? {
        SQLTerm(text: "(" + left.text + " \(operation.symbol) " + right.text + ")", kind: kind)
    }

    func complement(_ integer: SQLTerm) -> SQLText { "(~" + integer.text + ")" }

    func calculation(_ name: String, _ values: [SQLTerm], _ kind: ValueKind?) -> SQLTerm? {
        let arguments = Self.arguments(name, values)
        return SQLTerm(
            text: SQLFunctionName.calculate + arguments, kind: kind,
            exact: kind == .decimal ? SQLFunctionName.calculateExactly + arguments : nil)
    }

    func exact(_ first: SQLTerm, _ second: SQLTerm, _ kind: ValueKind?) -> (SQLText, SQLText)? {
        guard kind == .decimal, first.exact != nil || second.exact != nil else { return nil }
        func exact(_ term: SQLTerm) -> SQLText {
            term.exact ?? SQLFunctionName.calculateExactly + Self.arguments("noindex:", [term])
        }
        return (exact(first), exact(second))
    }

    func value(_ term: SQLTerm, as kind: ValueKind) -> SQLText? { term.text }

    private static func arguments(_ name: String, _ values: [SQLTerm]) -> SQLText {
        "('\(name)', '\(kinds(of: values))', " + SQLText.joined(values.map(\.mostExact), by: ", ") + ")"
    }

    /// One letter for the kind of each value.
    private static func kinds(of values: [SQLTerm]) -> String {
        String(
            decoding: values.map { value in
                value.exact == nil ? (value.kind ?? .undefined).rawValue + UInt8(ascii: "A") : SQLFunctionName.exactKind
            }, as: UTF8.self)
    }

    func aggregate(_ aggregate: SQLAggregate, _ value: SQLTerm) -> SQLText {
        switch aggregate {
        case .sum where value.kind == .decimal: "\(SQLFunctionName.decimalSum)(" + value.text + ")"
        case .average where value.kind == .decimal: "\(SQLFunctionName.decimalAverage)(" + value.text + ")"
        default: storedAggregate(aggregate, value)
        }
    }

    func storedAggregate(_ aggregate: SQLAggregate, _ value: SQLTerm) -> SQLText {
        switch aggregate {
        case .sum: "SUM(" + value.text + ")"
        case .minimum: "MIN(" + value.text + ")"
        case .maximum: "MAX(" + value.text + ")"
        case .average: "AVG(" + value.text + ")"
        }
    }

    func exactAggregate(_ aggregate: SQLAggregate, _ value: SQLTerm) -> SQLText? {
        guard value.kind == .decimal else { return nil }
        switch aggregate {
        case .sum: return "\(SQLFunctionName.exactDecimalSum)(" + value.text + ")"
        case .average: return "\(SQLFunctionName.exactDecimalAverage)(" + value.text + ")"
        case .minimum, .maximum: return nil
        }
    }

    // MARK: Results

    func order(_ value: SQLText, _ collation: SQLCollation?, ascending: Bool) -> SQLText {
        let name =
            switch collation {
            case nil: ""
            case .caseInsensitive?: " COLLATE \(SQLFunctionName.collateCaseInsensitive)"
            case .localized?: " COLLATE \(SQLFunctionName.collateLocalized)"
            case .localizedCaseInsensitive?: " COLLATE \(SQLFunctionName.collateLocalizedCaseInsensitive)"
            case .localizedStandard?: " COLLATE \(SQLFunctionName.collateLocalizedStandard)"
            }
        return value + (name + (ascending ? "" : " DESC"))
    }

    func refusal(of collation: SQLCollation) -> String? { nil }

    var ordersDistinctRowsByExpressions: Bool { true }

    var groupsByPlaces: Bool { false }

    func limits(_ limit: Int, offset: Int) -> SQLText {
        guard limit > 0 || offset > 0 else { return SQLText("") }
        // SQLite accepts no offset without a limit; a negative limit means none.
        let most = limit > 0 ? SQLArgument(.integer(Int64(limit)), role: .limit) : SQLArgument(.integer(-1))
        let text = " LIMIT " + SQLText(most)
        return offset <= 0 ? text : text + " OFFSET " + SQLText(SQLArgument(.integer(Int64(offset)), role: .offset))
    }

    func table(of query: SQLText) -> SQLText { "(" + query + ")" }

    func isNoKey(_ column: String, in keys: Set<Int64>) -> SQLText {
        // One text for any number of keys: the statement stays the same, and SQLite limits the
        // number of parameters.
        var list = keyList(keys.sorted())
        list.role = .excludedKeys
        return "\(column) NOT IN (SELECT value FROM json_each(" + SQLText(list) + "))"
    }

    func keyCondition(_ form: SQLKeys.Form) -> String {
        switch form {
        case .one: "= ?"
        case .list: "IN (SELECT value FROM json_each(?))"
        case .range: "BETWEEN ? AND ?"
        }
    }

    func keyList(_ keys: some Sequence<Int64>) -> SQLArgument { SQLArgument(.string(JSONList.text(of: keys))) }

    // MARK: Rows

    func version(_ column: String) -> String { "(IFNULL(\(column), 0) & 4294967295)" }

    func insertIfMissing(into table: String, _ columns: String, _ source: SQLText) -> SQLText {
        "INSERT OR IGNORE INTO \(table) (\(columns)) " + source
    }

    // Without columns it applies to all constraints, also in stores that lack the index of one of
    // them.
    func updatesUniqueRow(_ columns: [String], isOnly: Bool) -> String {
        isOnly ? "ON CONFLICT (\(columns.map(identifier).joined(separator: ", "))) DO UPDATE" : "ON CONFLICT DO UPDATE"
    }

    func truncated(_ number: SQLText) -> SQLText { "CAST(" + number + " AS INTEGER)" }

    // MARK: Migration

    var altersTables: Bool { false }

    func archivedElement(_ archive: SQLText, path: String) -> SQLText {
        "\(SQLFunctionName.archivedElement)(" + archive + ", " + SQLText(value: .string(path)) + ")"
    }

    func externalValue(ofPlain value: SQLText) -> SQLText? { "\(SQLFunctionName.externalValue)(" + value + ")" }

    func plainValue(ofExternal value: SQLText) -> SQLText? { "\(SQLFunctionName.plainValue)(" + value + ")" }

    func rowNumber(key: String) -> String { "rowid" }

    /// The column itself: SQLite takes bare columns from the row with the minimum.
    func value(_ value: String, ofRowWithLeast other: String) -> String { value }

    /// Numbers rows through a temporary table, which reads and writes both tables in row order.
    func numberRows(of table: String, by owner: String, inOrderOf key: String, in position: String, step: Int)
        -> [String]
    {
        let (table, owner) = (identifier(table), identifier(owner))
        let places = "temp.places_of_rows"
        return [
            "CREATE TABLE \(places) (row INTEGER PRIMARY KEY, place INTEGER)",
            "INSERT INTO \(places) SELECT rowid, \(step) + \(step) * row_number() OVER (PARTITION BY \(owner) ORDER "
                + "BY rowid) "
                + "FROM \(table) WHERE \(owner) IS NOT NULL ORDER BY rowid",
            "UPDATE \(table) SET \(identifier(position)) = (SELECT place FROM \(places) p WHERE p.row = "
                + "\(table).rowid) "
                + "WHERE \(owner) IS NOT NULL",
            "DROP TABLE \(places)",
        ]
    }
}
