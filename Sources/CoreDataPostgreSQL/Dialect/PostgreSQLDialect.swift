import CoreData
import Foundation

/// The SQL dialect of PostgreSQL.
///
/// Functions whose names begin with `ocd_` are in the schema of each store.
struct PostgreSQLDialect: SQLDialect {
    /// Whether the server has ICU's collations. Without them no statement can fold case or
    /// diacritics.
    var hasICU = true
    /// Whether the schema has this library's functions. A schema of external tables has none.
    var hasFunctions = true
    /// Whether the columns of texts may be ordered by the rules of a language.
    var ordersColumnsByLanguage = false
    /// The operator class of indexes of parts of texts, as any schema can name it; nil where the
    /// database has none.
    var trigrams: String?
    /// The schema of the tables and functions that triggers use; nil where it is the schema that
    /// statements work in.
    ///
    /// Programs that cause the triggers to run may have another search path.
    var triggerSchema: String?

    var storeName: String { "PostgreSQL" }
    var keepsJSON: Bool { true }
    var limits: SQLLimits { SQLLimits(joins: 200, nesting: 200, operands: 500, groupSize: .max, listedElements: 3) }

    func identifier(_ name: String) -> String {
        let doubled = name.utf8.contains(UInt8(ascii: "\"")) ? name.replacingOccurrences(of: "\"", with: "\"\"") : name
        return "\"\(doubled)\""
    }

    func placeholder(_ number: Int) -> String { "$\(number)" }
    func numberedPlaceholder(_ number: Int) -> String { "$\(number)" }

    func literal(_ value: StoredValue, _ kind: ValueKind) -> String? {
        switch value {
        case .integer(let number) where kind == .boolean: number == 0 ? "FALSE" : "TRUE"
        case .integer(let number): String(number)
        case .string(let text): "'" + text.replacingOccurrences(of: "'", with: "''") + "'"
        default: nil
        }
    }

    // MARK: Truth and nil

    func truth(_ value: Bool) -> String { value ? "TRUE" : "FALSE" }
    func isNotTrue(_ condition: SQLText) -> SQLText { "((" + condition + ") IS NOT TRUE)" }
    func isSame(_ left: SQLText, _ right: SQLText) -> SQLText { left + " IS NOT DISTINCT FROM " + right }
    func isDifferent(_ left: SQLText, _ right: SQLText) -> SQLText { left + " IS DISTINCT FROM " + right }
    func anyValue(of values: [SQLText]) -> SQLText {
        "NULLIF(num_nonnulls(" + SQLText.joined(values, by: ", ") + "), 0)"
    }
    func value(_ value: SQLText, orElse standard: SQLText) -> SQLText { "COALESCE(" + value + ", " + standard + ")" }

    // MARK: Constants

    var hasStaticTypes: Bool { true }
    var bindsValuesOnce: Bool { true }

    /// Returns a constant. A nil is written as NULL, which has no type of its own.
    func text(ofConstant argument: SQLArgument) -> SQLText {
        argument.value.isNull && argument.elements == nil ? SQLText("NULL") : SQLText(argument)
    }

    // MARK: Lists

    func isMember(_ value: SQLText, of list: [SQLArgument], isDecimal: Bool) -> SQLText? {
        guard let kind = list.first?.kind, list.allSatisfy({ $0.kind == kind }) else { return nil }
        return value + " = ANY(" + SQLText(SQLArgument(elements: list.map(\.value), kind: kind)) + ")"
    }

    func singleConstant(_ constant: SQLText) -> SQLText { constant }
    func withoutIndex(_ value: SQLText) -> SQLText { "(" + value + ")" }
    func externalBytes(_ column: SQLText) -> SQLText? { nil }

    // MARK: Results

    func order(_ value: SQLText, _ collation: SQLCollation?, ascending: Bool) -> SQLText {
        return (collation.map { ordered(value, $0) } ?? value) + (ascending ? " NULLS FIRST" : " DESC NULLS LAST")
    }

    /// Returns a text in the form that sorts it by a collation.
    func ordered(_ text: SQLText, _ collation: SQLCollation) -> SQLText {
        switch collation {
        case .caseInsensitive: folded(text, .caseInsensitive) + " COLLATE \"C\""
        case .localized: text + " COLLATE ocd_localized"
        case .localizedCaseInsensitive: text + " COLLATE ocd_localized_case_insensitive"
        case .localizedStandard: text + " COLLATE ocd_localized_standard"
        }
    }

    func refusal(of collation: SQLCollation) -> String? { hasICU ? nil : foldingRefusal }

    var ordersDistinctRowsByExpressions: Bool { false }

    var groupsByPlaces: Bool { true }

    func limits(_ limit: Int, offset: Int) -> SQLText {
        var text = SQLText("")
        if limit > 0 { text = " LIMIT " + SQLText(SQLArgument(.integer(Int64(limit)), role: .limit)) }
        if offset > 0 { text = text + " OFFSET " + SQLText(SQLArgument(.integer(Int64(offset)), role: .offset)) }
        return text
    }

    func table(of query: SQLText) -> SQLText { "(" + query + ") AS counted" }

    func isNoKey(_ column: String, in keys: Set<Int64>) -> SQLText {
        var list = keyList(keys.sorted())
        list.role = .excludedKeys
        return "\(column) <> ALL(" + SQLText(list) + ")"
    }

    func keyCondition(_ form: SQLKeys.Form) -> String {
        switch form {
        case .one: "= $1"
        case .list: "= ANY($1)"
        case .range: "BETWEEN $1 AND $2"
        }
    }

    func keyList(_ keys: some Sequence<Int64>) -> SQLArgument {
        SQLArgument(elements: keys.map(StoredValue.integer), kind: .int64)
    }

    // MARK: Rows

    // In external tables, the version of a row may be empty until the row changes.
    func version(_ column: String) -> String { hasFunctions ? column : "COALESCE(\(column), 0)" }

    func insertIfMissing(into table: String, _ columns: String, _ source: SQLText) -> SQLText {
        "INSERT INTO \(table) (\(columns)) " + source + " ON CONFLICT DO NOTHING"
    }

    // Only one constraint can be named. Rows that conflict with other rows by another constraint
    // are refused.
    func updatesUniqueRow(_ columns: [String], isOnly: Bool) -> String {
        "ON CONFLICT (\(columns.map(identifier).joined(separator: ", "))) DO UPDATE"
    }

    // MARK: Migration

    var altersTables: Bool { true }

    func archivedElement(_ archive: SQLText, path: String) -> SQLText {
        "ocd_element(" + archive + ", " + SQLText(value: .string(path), kind: .string) + ")"
    }

    func externalValue(ofPlain value: SQLText) -> SQLText? { nil }
    func plainValue(ofExternal value: SQLText) -> SQLText? { nil }
    func rowNumber(key: String) -> String { identifier(key) }
    func value(_ value: String, ofRowWithLeast other: String) -> String { "(array_agg(\(value) ORDER BY \(other)))[1]" }

    func numberRows(of table: String, by owner: String, inOrderOf key: String, in position: String, step: Int)
        -> [String]
    {
        let (table, owner, key) = (identifier(table), identifier(owner), identifier(key))
        return [
            "UPDATE \(table) SET \(identifier(position)) = p.place FROM (SELECT \(owner) AS owner, \(key) AS member, "
                + "\(step) + \(step) * row_number() OVER (PARTITION BY \(owner) ORDER BY \(key)) AS place FROM "
                + "\(table) "
                + "WHERE \(owner) IS NOT NULL) p WHERE \(table).\(owner) = p.owner AND \(table).\(key) = p.member"
        ]
    }
}
