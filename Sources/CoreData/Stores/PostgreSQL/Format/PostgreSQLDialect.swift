import Foundation

/// SQL as PostgreSQL takes it.
///
/// Functions whose names begin with `ocd_` stand in the schema of each store.
struct PostgreSQLDialect: SQLDialect {
    var storeName: String { "PostgreSQL" }
    var limits: SQLLimits { SQLLimits(joins: 200, nesting: 200, operands: .max, groupSize: .max, listedElements: 3) }

    func identifier(_ name: String) -> String { "\"" + name.replacingOccurrences(of: "\"", with: "\"\"") + "\"" }
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
    func anyValue(of values: [SQLText]) -> SQLText { "NULLIF(num_nonnulls(" + SQLText.joined(values, by: ", ") + "), 0)" }
    func value(_ value: SQLText, orElse standard: SQLText) -> SQLText { "COALESCE(" + value + ", " + standard + ")" }

    // MARK: Comparisons

    func number(from term: SQLTerm) -> SQLText? {
        switch term.kind {
        case .boolean: "CAST(" + term.text + " AS integer)"
        case .date: "(EXTRACT(EPOCH FROM " + term.text + ") - 978307200)"
        default: nil
        }
    }

    func number(inText text: SQLText) -> SQLText? { "ocd_number(" + text + ")" }

    func text(of term: SQLTerm, _ kind: ValueKind) -> SQLText? { "CAST(" + term.text + " AS text)" }

    func match(
        _ operation: NSComparisonPredicate.Operator, _ options: NSComparisonPredicate.Options, _ text: SQLText, _ pattern: SQLText
    ) -> SQLText? {
        let isFolded = options.contains(.caseInsensitive) || options.contains(.diacriticInsensitive)
        func folded(_ text: SQLText) -> SQLText { isFolded ? "ocd_fold(" + text + ", \(options.rawValue & 3))" : text }
        let (value, wanted) = (folded(text), folded(pattern))
        switch operation {
        case .equalTo: return value + " = " + wanted
        case .lessThan: return value + " < " + wanted
        case .lessThanOrEqualTo: return value + " <= " + wanted
        case .greaterThan: return value + " > " + wanted
        case .greaterThanOrEqualTo: return value + " >= " + wanted
        case .beginsWith: return "starts_with(" + value + ", " + wanted + ")"
        case .endsWith: return hasSuffix(value, wanted, negativeLength: SQLText(""))
        case .contains: return contains(value, wanted)
        default: return "ocd_match(" + text + ", " + pattern + ", \(operation.rawValue), \(options.rawValue))"
        }
    }

    func hasSuffix(_ text: SQLText, _ suffix: SQLText, negativeLength: SQLText) -> SQLText {
        "right(" + text + ", length(" + suffix + ")) = " + suffix
    }

    func contains(_ text: SQLText, _ part: SQLText) -> SQLText { "position(" + part + " IN " + text + ") > 0" }

    func isMember(_ value: SQLText, of list: [SQLArgument], isDecimal: Bool) -> SQLText? {
        value + " = ANY(" + SQLText(SQLArgument(elements: list.map(\.value), kind: list.first?.kind)) + ")"
    }

    func compareExactly(_ left: SQLTerm, _ operation: NSComparisonPredicate.Operator, _ right: SQLTerm) -> SQLText? { nil }
    func singleConstant(_ constant: SQLText) -> SQLText { constant }
    func withoutIndex(_ value: SQLText) -> SQLText { "(" + value + ")" }

    // MARK: Values

    func externalBytes(_ column: SQLText) -> SQLText? { nil }

    func text(_ text: SQLText, _ change: SQLTextChange) -> SQLText {
        switch change {
        case .uppercase: "upper(" + text + " COLLATE \"und-x-icu\")"
        case .lowercase: "lower(" + text + " COLLATE \"und-x-icu\")"
        case .canonical: "ocd_fold(" + text + ", 3)"
        }
    }

    func arithmetic(_ left: SQLTerm, _ operation: SQLArithmetic, _ right: SQLTerm) -> SQLText? {
        switch (left.kind, operation, right.kind) {
        case (.date, .subtract, .date): return "EXTRACT(EPOCH FROM (" + left.text + " - " + right.text + "))"
        case (.date, .add, _): return "(" + left.text + " + make_interval(secs => " + right.text + "))"
        case (.date, .subtract, _): return "(" + left.text + " - make_interval(secs => " + right.text + "))"
        case (_, .add, .date): return "(" + right.text + " + make_interval(secs => " + left.text + "))"
        default: break
        }
        let (first, second) = (number(from: left) ?? left.text, number(from: right) ?? right.text)
        func operands(joinedBy symbol: String) -> SQLText { "(" + first + " \(symbol) " + second + ")" }
        switch operation {
        case .add: return operands(joinedBy: "+")
        case .subtract: return operands(joinedBy: "-")
        case .multiply: return operands(joinedBy: "*")
        case .divide: return "(" + first + " / NULLIF(" + second + ", 0))"
        case .modulus: return "(" + first + " % NULLIF(" + second + ", 0))"
        case .and: return operands(joinedBy: "&")
        case .or: return operands(joinedBy: "|")
        case .shiftLeft: return "(" + first + " << CAST(" + second + " AS integer))"
        case .shiftRight: return "(" + first + " >> CAST(" + second + " AS integer))"
        }
    }

    func complement(_ integer: SQLText) -> SQLText { "(~" + integer + ")" }

    func calculation(_ name: String, _ values: [SQLTerm]) -> SQLText? {
        let texts = values.map(\.text)
        func call(_ function: String) -> SQLText { function + "(" + SQLText.joined(texts, by: ", ") + ")" }
        switch name {
        case "length:": return values[0].kind == .string ? call("length") : "length(CAST(" + texts[0] + " AS text))"
        case "abs:", "floor:", "exp:", "trunc:": return call(String(name.dropLast()))
        case "ceiling:": return call("ceil")
        case "raise:topower:": return call("power")
        case "sqrt:": return "CASE WHEN " + texts[0] + " >= 0 THEN " + call("sqrt") + " END"
        case "ln:": return "CASE WHEN " + texts[0] + " > 0 THEN " + call("ln") + " END"
        case "log:": return "CASE WHEN " + texts[0] + " > 0 THEN " + call("log") + " END"
        case "noindex:": return texts[0]
        case "bitwisexor:with:": return "(" + texts[0] + " # " + texts[1] + ")"
        case "add:to:": return arithmetic(values[0], .add, values[1])
        case "from:subtract:": return arithmetic(values[0], .subtract, values[1])
        case "multiply:by:": return arithmetic(values[0], .multiply, values[1])
        case "divide:by:": return arithmetic(values[0], .divide, values[1])
        default: return nil
        }
    }

    func exactCalculation(_ name: String, _ values: [SQLTerm]) -> SQLText? { nil }

    func aggregate(_ aggregate: SQLAggregate, _ value: SQLTerm) -> SQLText {
        switch aggregate {
        case .sum where value.kind?.isInteger == true: "CAST(SUM(" + value.text + ") AS bigint)"
        case .sum: "SUM(" + value.text + ")"
        case .average where value.kind == .decimal: "AVG(" + value.text + ")"
        case .average: "CAST(AVG(" + value.text + ") AS double precision)"
        case .minimum: "MIN(" + value.text + ")"
        case .maximum: "MAX(" + value.text + ")"
        }
    }

    func storedAggregate(_ aggregate: SQLAggregate, _ value: SQLTerm) -> SQLText { self.aggregate(aggregate, value) }
    func exactAggregate(_ aggregate: SQLAggregate, _ value: SQLTerm) -> SQLText? { nil }

    // MARK: Results

    func order(_ value: SQLText, _ collation: SQLCollation?, ascending: Bool) -> SQLText {
        let name =
            switch collation {
            case nil: ""
            case .caseInsensitive?: " COLLATE \"und-u-ks-level2\""
            case .localized?: " COLLATE \"und-x-icu\""
            case .localizedCaseInsensitive?: " COLLATE \"und-u-ks-level2\""
            case .localizedStandard?: " COLLATE \"und-u-kn-true-ks-level2\""
            }
        return value + name + (ascending ? " NULLS FIRST" : " DESC NULLS LAST")
    }

    var ordersDistinctRowsByOthers: Bool { false }

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

    func keyList(_ keys: some Sequence<Int64>) -> SQLArgument { SQLArgument(elements: keys.map(StoredValue.integer), kind: .int64) }

    // MARK: Rows

    func version(_ column: String) -> String { column }

    func insertIfMissing(into table: String, _ columns: String, _ source: SQLText) -> SQLText {
        "INSERT INTO \(table) (\(columns)) " + source + " ON CONFLICT DO NOTHING"
    }

    var skipsUniqueRow: String { "ON CONFLICT DO NOTHING" }

    // One constraint can be named, and rows that meet others by another one are refused.
    func updatesUniqueRow(_ columns: [String], isOnly: Bool) -> String {
        "ON CONFLICT (\(columns.map(identifier).joined(separator: ", "))) DO UPDATE"
    }

    func truncated(_ number: SQLText) -> SQLText { "trunc(" + number + ")" }

    // MARK: Migration

    var altersTables: Bool { true }

    func archivedElement(_ archive: SQLText, path: String) -> SQLText {
        "ocd_element(" + archive + ", " + SQLText(value: .string(path), kind: .string) + ")"
    }

    func externalValue(ofPlain value: SQLText) -> SQLText? { nil }
    func plainValue(ofExternal value: SQLText) -> SQLText? { nil }
    func rowNumber(key: String) -> String { identifier(key) }
    func value(_ value: String, ofRowWithLeast other: String) -> String { "(array_agg(\(value) ORDER BY \(other)))[1]" }

    func numberRows(of table: String, by owner: String, inOrderOf key: String, in position: String, step: Int) -> [String] {
        let (table, owner) = (identifier(table), identifier(owner))
        return [
            "UPDATE \(table) SET \(identifier(position)) = p.place FROM (SELECT ctid AS row, "
                + "\(step) + \(step) * row_number() OVER (PARTITION BY \(owner) ORDER BY \(identifier(key))) AS place FROM \(table) "
                + "WHERE \(owner) IS NOT NULL) p WHERE \(table).ctid = p.row"
        ]
    }
}
