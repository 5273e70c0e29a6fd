@testable import CoreData

/// PostgreSQL as a store for it would say things. It only prints.
///
/// Functions in the schema `ocd` are the store's own: `fold(text, flags)`, `match(text, pattern, operator, flags)` and `number(text)`.
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

    func number(inText text: SQLText) -> SQLText? { "ocd.number(" + text + ")" }

    func text(of term: SQLTerm, _ kind: ValueKind) -> SQLText? { "CAST(" + term.text + " AS text)" }

    func match(
        _ operation: NSComparisonPredicate.Operator, _ options: NSComparisonPredicate.Options, _ text: SQLText, _ pattern: SQLText
    ) -> SQLText? {
        let isFolded = options.contains(.caseInsensitive) || options.contains(.diacriticInsensitive)
        func folded(_ text: SQLText) -> SQLText { isFolded ? "ocd.fold(" + text + ", \(options.rawValue & 3))" : text }
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
        default: return "ocd.match(" + text + ", " + pattern + ", \(operation.rawValue), \(options.rawValue))"
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
        case .canonical: "ocd.fold(" + text + ", 3)"
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

    // MARK: Schema

    private func type(_ declaration: SQLTable.Declaration) -> String {
        switch (declaration.role, declaration.column.kind) {
        case (.entity, _), (.value, .int16): "int2"
        case (.position, _), (.value, .int64), (.value, .toOne): "int8"
        case (.value, .int32): "int4"
        case (.value, .boolean): "boolean"
        case (.value, .double): "float8"
        case (.value, .float): "float4"
        case (.value, .decimal): "numeric"
        case (.value, .date): "timestamptz"
        case (.value, .uuid): "uuid"
        case (.value, .string), (.value, .uri): "text COLLATE \"C\""
        default: "bytea"
        }
    }

    func createTable(_ table: SQLTable) -> [String] {
        let naming = table.naming
        var columns = ["\(identifier(naming.key)) int8 PRIMARY KEY"]
        if let entity = table.entityColumn { columns.append("\(identifier(entity)) int2 NOT NULL") }
        columns.append("\(identifier(naming.version)) int4 NOT NULL")
        columns += table.declarations.map { "\(identifier($0.name)) \(type($0))" }
        let external = table.columns.filter { $0.type == .bytes && $0.allowsExternalStorage }.map {
            "ALTER TABLE \(identifier(table.name)) ALTER COLUMN \(identifier($0.name)) SET STORAGE EXTERNAL"
        }
        return ["CREATE TABLE \(identifier(table.name)) (\(columns.joined(separator: ", ")))"] + external
    }

    func createTable(_ join: SQLJoinTable) -> [String] {
        let columns = join.columnNames.map { "\(identifier($0)) int8, " }.joined()
        return [
            "CREATE TABLE \(identifier(join.name)) (\(columns)PRIMARY KEY (\(identifier(join.firstColumn)), \(identifier(join.secondColumn))))"
        ]
    }

    func createIndex(_ index: SQLIndex) -> String {
        let elements = index.elements.map { element in
            identifier(element.column) + (element.isAscending.map { $0 ? " NULLS FIRST" : " DESC NULLS LAST" } ?? "")
        }
        if index.isUnique {
            let columns = index.elements.map { identifier($0.column) }.joined(separator: ", ")
            return "ALTER TABLE \(identifier(index.table)) ADD CONSTRAINT \(identifier(index.name)) UNIQUE (\(columns)) "
                + "DEFERRABLE INITIALLY IMMEDIATE"
        }
        return "CREATE INDEX \(identifier(index.name)) ON \(identifier(index.table)) (\(elements.joined(separator: ", ")))"
            + (index.condition.map { " WHERE " + $0 } ?? "")
    }

    var housekeeping: [String] {
        ["CREATE TABLE \"keys\" (\"entity\" int2 PRIMARY KEY, \"name\" text, \"parent\" int2, \"last\" int8)"]
    }

    /// An attribute is set before its row is written. Rows whose attribute depends on others are written again, unchanged, after a statement
    /// that touched those.
    func triggers(_ derivation: SQLDerivation) throws -> [String] {
        guard let column = derivation.column else { return [] }
        let kind = try derivation.kind()
        let name = "\(derivation.entity.table.name)_\(SnakeCaseNaming.words(derivation.slot.name))"
        func trigger(_ role: String, _ event: String, _ table: String, _ body: String) -> [String] {
            let function = identifier(name + "_" + role)
            return [
                "CREATE FUNCTION \(function)() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \(body) END $$",
                "CREATE TRIGGER \(function) \(event.replacingOccurrences(of: "%", with: identifier(table))) EXECUTE FUNCTION \(function)()",
            ]
        }
        let own = trigger(
            "own", "BEFORE INSERT OR UPDATE ON % FOR EACH ROW", derivation.entity.table.name,
            "NEW.\(column) := \(derivation.value(of: kind, row: "NEW")); RETURN NEW;")
        func touched(_ table: String, _ key: String, by foreign: String) -> [String] {
            func body(_ tables: String...) -> String {
                let keys = tables.map { "SELECT \(identifier(foreign)) FROM \($0)" }.joined(separator: " UNION ")
                return "UPDATE \(derivation.table) SET \(column) = \(column) WHERE \(identifier(key)) IN (\(keys)); RETURN NULL;"
            }
            return trigger("insert", "AFTER INSERT ON % REFERENCING NEW TABLE AS now FOR EACH STATEMENT", table, body("now"))
                + trigger(
                    "update", "AFTER UPDATE ON % REFERENCING OLD TABLE AS former NEW TABLE AS now FOR EACH STATEMENT", table,
                    body("now", "former"))
                + trigger("delete", "AFTER DELETE ON % REFERENCING OLD TABLE AS former FOR EACH STATEMENT", table, body("former"))
        }
        let id = derivation.mapping.naming.key
        switch kind {
        case .now, .value(nil, _, _, _): return own
        case .value(let relationship?, _, let source, _): return own + touched(source.table.name, relationship.name, by: id)
        case .count(let key, let destination), .sum(_, let key, let destination):
            return own + touched(destination.table.name, id, by: key.name)
        case .joinCount(let join, let isFirst): return own + touched(join.name, id, by: join.ownerColumn(isFirst: isFirst))
        }
    }

    var now: String { "now()" }

    // MARK: Migration

    func archivedElement(_ archive: SQLText, path: String) -> SQLText {
        "ocd.element(" + archive + ", " + SQLText(value: .string(path), kind: .string) + ")"
    }

    func externalValue(ofPlain value: SQLText) -> SQLText { value }
    func plainValue(ofExternal value: SQLText) -> SQLText { value }
    func rowNumber(key: String?) -> String { key.map(identifier) ?? "ctid" }
    func value(_ value: String, ofRowWithLeast other: String) -> String { "(array_agg(\(value) ORDER BY \(other)))[1]" }

    func numberRows(of table: String, by owner: String, in position: String, step: Int) -> [String] {
        let (table, owner, key) = (identifier(table), identifier(owner), identifier("id"))
        return [
            "UPDATE \(table) SET \(identifier(position)) = p.place FROM (SELECT \(key), "
                + "\(step) + \(step) * row_number() OVER (PARTITION BY \(owner) ORDER BY \(key)) AS place FROM \(table) "
                + "WHERE \(owner) IS NOT NULL) p WHERE \(table).\(key) = p.\(key)"
        ]
    }
}

/// Names of tables and columns as people who write SQL by hand would choose them.
struct SnakeCaseNaming: TableNaming {
    var key: String { "id" }
    var entity: String { "entity" }
    var numbersSingleEntities: Bool { false }
    var version: String { "version" }
    var reservedTables: [String: String] { ["keys": "OpenCoreData"] }

    static func words(_ name: String) -> String {
        var result = ""
        for character in name.replacingOccurrences(of: ".", with: "_") {
            if character.isUppercase, !result.isEmpty, result.last != "_" { result += "_" }
            result += character.lowercased()
        }
        return result
    }

    func table(_ root: EntityLayout) -> String { Self.words(root.name) }
    func column(_ property: PropertySlot) -> String { Self.words(property.name) + (property.kind == .toOne ? "_id" : "") }
    func hiddenKey(_ relationship: PropertySlot, of owner: SQLEntity) -> String {
        Self.words(owner.layout.name) + "_" + Self.words(relationship.name) + "_id"
    }
    func entityColumn(ofKey column: String, to destinationNumber: Int) -> String { column.dropLast(3) + "_entity" }
    func positionColumn(ofKey column: String) -> String { column.dropLast(3) + "_pos" }
    func joinTable(_ relationship: NSRelationshipDescription, of owner: SQLEntity) -> String {
        Self.words(owner.layout.name) + "_" + Self.words(relationship.name)
    }
    func joinColumn(_ relationship: NSRelationshipDescription, inverse: NSRelationshipDescription, of owner: SQLEntity) -> String {
        Self.words(owner.layout.name) + "_" + Self.words(relationship.name) + "_id"
    }
    func reflexiveColumn(_ relationship: NSRelationshipDescription, of owner: SQLEntity) -> String { "owner_id" }
    func positionColumn(ofJoinColumn column: String) -> String { column.dropLast(3) + "_pos" }
    func keyIndex(_ table: String, _ column: String) -> String { "\(table)_\(column)" }
    func entityIndex(_ table: String) -> String { "\(table)_entity" }
    func joinIndex(_ table: String, _ column: String) -> String { "\(table)_\(column)" }
    func index(_ name: String, of entity: String) -> String { Self.words(entity) + "_" + Self.words(name) }
    func uniqueIndex(_ constraint: [String], of entity: String) -> String {
        Self.words(entity) + "_unique_" + constraint.map(Self.words).joined(separator: "_")
    }
}
