import Foundation

extension SQLGenerator {
    /// A predicate as a condition. A row is in the result when the condition is true; NULL counts as false.
    func condition(_ predicate: NSPredicate, in environment: SQLEnvironment) throws -> SQLText {
        if let compound = predicate as? NSCompoundPredicate {
            let parts = try compound.subpredicates.compactMap { $0 as? NSPredicate }
                .map { try condition($0, in: environment) }
            switch compound.compoundPredicateType {
            // NOT is true where its operand is not, as in memory: also where a nil makes the operand NULL.
            case .not: return parts.first.map { "((" + $0 + ") IS NOT 1)" } ?? SQLText("0")
            case .and: return parts.isEmpty ? SQLText("1") : SQLText.combined(parts, by: " AND ")
            case .or: return parts.isEmpty ? SQLText("0") : SQLText.combined(parts, by: " OR ")
            }
        }
        if let comparison = predicate as? NSComparisonPredicate {
            return try self.comparison(comparison, in: environment)
        }
        switch predicate.predicateFormat {
        case "TRUEPREDICATE": return SQLText("1")
        case "FALSEPREDICATE": return SQLText("0")
        default:
            throw refuse(predicate.predicateFormat, "predicates made from blocks or custom classes have no SQL")
        }
    }

    // MARK: Comparisons

    private func comparison(_ predicate: NSComparisonPredicate, in environment: SQLEnvironment) throws -> SQLText {
        let context = predicate.predicateFormat
        let left = predicate.leftExpression
        let right = predicate.rightExpression
        let type = predicate.predicateOperatorType
        if type == .customSelector { throw refuse(context, "comparisons by custom selectors have no SQL") }
        if let toMany = try toManyPath(left, in: environment, context) {
            if type == .contains, toMany.rest.isEmpty, predicate.comparisonPredicateModifier == .direct {
                return try quantified(toMany, all: false, context) { inner in
                    try self.compare(
                        inner, .equalTo, right, predicate.options, in: environment, context)
                }
            }
            return try quantified(toMany, all: predicate.comparisonPredicateModifier == .all, context) { inner in
                try self.compare(inner, type, right, predicate.options, in: environment, context)
            }
        }
        if let toMany = try toManyPath(right, in: environment, context) {
            guard let mirrored = type == .in ? .equalTo : type.mirrored else {
                throw refuse(context, "the right side leads to many objects")
            }
            return try quantified(toMany, all: false, context) { inner in
                try self.compare(inner, mirrored, left, predicate.options, in: environment, context)
            }
        }
        if isConstant(left), !isConstant(right), let mirrored = type.mirrored {
            let term = try self.term(right, in: environment, like: nil, context)
            return try compare(term, mirrored, left, predicate.options, in: environment, context)
        }
        let hint = isConstant(left) && !isConstant(right) ? try? term(right, in: environment, like: nil, context) : nil
        let term = try self.term(left, in: environment, like: hint, context)
        return try compare(term, type, right, predicate.options, in: environment, context)
    }

    func isConstant(_ expression: NSExpression) -> Bool {
        expression.expressionType == .constantValue || expression.expressionType == .aggregate
    }

    struct ToManyPath {
        let ownerKey: String
        let slot: PropertySlot
        let mapping: SQLToMany
        let rest: [String]
    }

    /// The to-many relationship that a key path crosses; nil for other expressions and for `@count` and its kind.
    private func toManyPath(
        _ expression: NSExpression, in environment: SQLEnvironment, _ context: String
    ) throws -> ToManyPath? {
        guard expression.expressionType == .keyPath, expression.operand.expressionType != .subquery else { return nil }
        let (scope, path) = try scopeAndPath(of: expression, in: environment)
        if path.contains(where: { $0.hasPrefix("@") }) { return nil }
        if path.count == 1, resultColumn?(path[0]) != nil { return nil }
        guard case .toMany(let key, _, let slot, let mapping, let rest) = try resolve(path, in: scope, context) else {
            return nil
        }
        return ToManyPath(ownerKey: key, slot: slot, mapping: mapping, rest: rest)
    }

    /// ANY as EXISTS; ALL as NOT EXISTS of a row that does not fulfil the comparison.
    private func quantified(
        _ path: ToManyPath, all: Bool, _ context: String, _ compare: (SQLTerm) throws -> SQLText
    ) throws -> SQLText {
        let rows = try relatedRows(ownerKey: path.ownerKey, path.mapping, slot: path.slot, context) { scope in
            let term = try self.term(path: path.rest, in: scope, context)
            let condition = try compare(term)
            return [all ? "((" + condition + ") IS NOT 1)" : condition]
        }
        return (all ? "NOT EXISTS (SELECT 1" : "EXISTS (SELECT 1") + rows + ")"
    }

    /// Compares a value with an expression.
    private func compare(
        _ left: SQLTerm, _ type: NSComparisonPredicate.Operator, _ right: NSExpression,
        _ options: NSComparisonPredicate.Options, in environment: SQLEnvironment, _ context: String
    ) throws -> SQLText {
        if left.kind == .composite, type == .in || type == .between {
            throw refuse(context, "a composite attribute can only be compared for equality; compare its elements")
        }
        switch type {
        case .in: return try isElement(left, of: right, options, in: environment, context)
        case .between:
            guard let bounds = elements(right), bounds.count == 2 else {
                throw refuse(context, "BETWEEN needs two bounds")
            }
            let low = try term(bounds[0], in: environment, like: left, context)
            let high = try term(bounds[1], in: environment, like: left, context)
            return left.text + " BETWEEN " + low.text + " AND " + high.text
        default: break
        }
        if let composite = left.composite { return try compare(composite, left, type, right, in: environment, context) }
        let right = try term(right, in: environment, like: left, context)
        if right.kind == .composite { throw refuse(context, "a composite attribute can only be compared with one of the same elements") }
        if left.kind == .transformable || right.kind == .transformable {
            guard type == .equalTo || type == .notEqualTo else {
                throw refuse(context, "transformable values can only be compared for equality")
            }
        }
        let insensitive = !options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive])
        switch type {
        case .equalTo:
            if right.isNull { return left.text + " IS NULL" }
            if left.isNull { return right.text + " IS NULL" }
            if insensitive, isText(left), isText(right) { return matchString(.equal, options, left, right) }
            return left.text + (left.canBeNull && right.canBeNull ? " IS " : " = ") + right.text
        case .notEqualTo:
            if right.isNull { return left.text + " IS NOT NULL" }
            if left.isNull { return right.text + " IS NOT NULL" }
            if insensitive, isText(left), isText(right) {
                return "(" + matchString(.equal, options, left, right) + " IS NOT 1)"
            }
            if left.canBeNull && right.canBeNull { return left.text + " IS NOT " + right.text }
            if left.canBeNull { return "(" + left.text + " <> " + right.text + " OR " + left.text + " IS NULL)" }
            return "(" + left.text + " <> " + right.text + " OR " + right.text + " IS NULL)"
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
            if left.isNull || right.isNull { return SQLText("0") }
            if insensitive, isText(left), isText(right) {
                let operations: [NSComparisonPredicate.Operator: SQLStringOperation] = [
                    .lessThan: .lessThan, .lessThanOrEqualTo: .lessThanOrEqual, .greaterThan: .greaterThan,
                    .greaterThanOrEqualTo: .greaterThanOrEqual,
                ]
                if let operation = operations[type] { return matchString(operation, options, left, right) }
            }
            let symbols: [NSComparisonPredicate.Operator: String] = [
                .lessThan: " < ", .lessThanOrEqualTo: " <= ", .greaterThan: " > ", .greaterThanOrEqualTo: " >= ",
            ]
            return left.text + (symbols[type] ?? " = ") + right.text
        case .beginsWith, .endsWith, .contains, .like, .matches:
            return try stringComparison(left, type, right, options, context)
        case .in, .between, .customSelector: throw refuse(context, "this comparison has no SQL")
        @unknown default: throw refuse(context, "this comparison has no SQL")
        }
    }

    private func isText(_ term: SQLTerm) -> Bool {
        switch term.kind {
        case nil, .string?, .uri?: true
        default: false
        }
    }

    // MARK: Strings

    private func matchString(
        _ operation: SQLStringOperation, _ options: NSComparisonPredicate.Options, _ left: SQLTerm, _ right: SQLTerm
    ) -> SQLText {
        "\(SQLFunctionName.matchString)(\(operation.rawValue), \(options.rawValue), " + left.text + ", " + right.text
            + ")"
    }

    private func stringComparison(
        _ left: SQLTerm, _ type: NSComparisonPredicate.Operator, _ right: SQLTerm,
        _ options: NSComparisonPredicate.Options, _ context: String
    ) throws -> SQLText {
        if left.isNull || right.isNull { return SQLText("0") }
        switch left.kind {
        case .data?, .transformable?, .uuid?, .composite?, .toOne?:
            throw refuse(context, "string comparisons apply to text")
        default: break
        }
        let plain = options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive])
        if plain, right.text.sql == "?", case .string(let pattern)? = right.text.arguments.first {
            switch type {
            case .beginsWith:
                if let end = Self.upperBound(ofPrefix: pattern), left.isColumn {
                    return "(" + left.text + " >= " + right.text + " AND " + left.text + " < "
                        + SQLText("?", [.string(end)]) + ")"
                }
            case .endsWith:
                let count = Int64(pattern.utf8.count)
                if count == 0 { return left.text + " IS NOT NULL" }
                // As bytes: SQLite takes a NUL for the end of a text.
                return "substr(CAST(" + left.text + " AS BLOB), " + SQLText("?", [.integer(-count)]) + ") = CAST(" + right.text
                    + " AS BLOB)"
            case .contains:
                if !pattern.isEmpty { return "instr(" + left.text + ", " + right.text + ") > 0" }
            default: break
            }
        }
        let operations: [NSComparisonPredicate.Operator: SQLStringOperation] = [
            .beginsWith: .beginsWith, .endsWith: .endsWith, .contains: .contains, .like: .like, .matches: .matches,
        ]
        guard let operation = operations[type] else { throw refuse(context, "this comparison has no SQL") }
        if type == .matches, case .string(let pattern)? = right.text.arguments.first {
            guard (try? NSRegularExpression(pattern: pattern)) != nil else {
                throw refuse(context, "'\(pattern)' is no regular expression")
            }
        }
        return matchString(operation, options, left, right)
    }

    /// The least string that is greater than every string with a prefix, in the order of UTF-8; nil when there is none.
    static func upperBound(ofPrefix prefix: String) -> String? {
        if let last = prefix.utf8.last, last < 0x7f {
            var bytes = Array(prefix.utf8)
            bytes[bytes.count - 1] += 1
            return String(decoding: bytes, as: UTF8.self)
        }
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            let next = last.value == 0xd7ff ? 0xe000 : last.value + 1
            guard let successor = Unicode.Scalar(next) else { continue }
            scalars.append(successor)
            var view = String.UnicodeScalarView()
            view.append(contentsOf: scalars)
            return String(view)
        }
        return nil
    }

    // MARK: Membership

    /// More elements than this are bound as one JSON text.
    private static let maximumListedElements = 16

    private func isElement(
        _ left: SQLTerm, of right: NSExpression, _ options: NSComparisonPredicate.Options,
        in environment: SQLEnvironment, _ context: String
    ) throws -> SQLText {
        if right.expressionType == .constantValue, let string = right.constantValue as? String {
            // `name IN "a string"`: a part of the string.
            return "instr(" + SQLText("?", [.string(string)]) + ", " + left.text + ") > 0"
        }
        if right.expressionType == .subquery {
            let rows = try subqueryRows(right, in: environment)
            guard let alias = firstAlias(of: rows.sql) else { throw refuse(context, "the subquery has no rows") }
            return left.text + " IN (SELECT \(alias).Z_PK" + rows + ")"
        }
        guard let members = elements(right) else { throw refuse(context, "IN needs a collection on its right side") }
        var terms: [SQLTerm] = []
        var hasNull = false
        for member in members {
            let term = try self.term(member, in: environment, like: left, context)
            if term.isNull { hasNull = true } else { terms.append(term) }
        }
        let insensitive = !options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive])
        if insensitive, isText(left), terms.allSatisfy({ isText($0) }) {
            var parts = terms.map { matchString(.equal, options, left, $0) }
            if hasNull { parts.append(left.text + " IS NULL") }
            return parts.isEmpty ? SQLText("0") : SQLText.combined(parts, by: " OR ")
        }
        let list: SQLText
        if terms.count > Self.maximumListedElements,
            let json = SQLList.json(terms.map(\.text), decimal: left.kind == .decimal)
        {
            list = left.text + " IN " + json
        } else {
            list = left.text + " IN (" + SQLText.joined(terms.map(\.text), by: ", ") + ")"
        }
        return hasNull ? "(" + list + " OR " + left.text + " IS NULL)" : list
    }

    private func firstAlias(of rows: String) -> String? {
        // " FROM TABLE t3 …" or " FROM JOIN t4 JOIN TABLE t3 ON …"
        let words = rows.split(separator: " ")
        guard words.count > 3 else { return nil }
        return words[3] == "JOIN" && words.count > 5 ? String(words[5]) : String(words[2])
    }

    /// The elements of a constant collection or of an aggregate expression.
    func elements(_ expression: NSExpression) -> [NSExpression]? {
        switch expression.expressionType {
        case .aggregate: return expression.collection as? [NSExpression]
        case .constantValue:
            return SQLList.elements(of: expression.constantValue)?.map {
                $0 as? NSExpression ?? NSExpression(forConstantValue: $0)
            }
        case .fetchRequest:
            return SQLList.elements(of: expression.expressionValue(with: nil, context: nil))?.map {
                // A row of one column stands for its value.
                let row = $0 as? NSDictionary
                return NSExpression(forConstantValue: row?.count == 1 ? row?.allValues.first : $0)
            }
        default: return nil
        }
    }
}

extension NSComparisonPredicate.Operator {
    /// The operator that says the same with its sides exchanged.
    var mirrored: NSComparisonPredicate.Operator? {
        switch self {
        case .equalTo: .equalTo
        case .notEqualTo: .notEqualTo
        case .lessThan: .greaterThan
        case .lessThanOrEqualTo: .greaterThanOrEqualTo
        case .greaterThan: .lessThan
        case .greaterThanOrEqualTo: .lessThanOrEqualTo
        default: nil
        }
    }
}

/// Lists of constants for IN.
enum SQLList {
    /// The elements of an array, set or ordered set; nil for any other value.
    static func elements(of value: Any?) -> [Any]? {
        switch value {
        case let array as [Any]: return array
        case let set as Set<AnyHashable>: return set.map { $0.base }
        case let set as NSSet: return set.allObjects
        case let set as NSOrderedSet: return set.array
        default: return nil
        }
    }

    /// A subquery over one bound JSON text that holds all values; nil when they are not of one kind.
    static func json(_ values: [SQLText], decimal: Bool) -> SQLText? {
        guard values.allSatisfy({ $0.sql == "?" && $0.arguments.count == 1 }),
            let first = values.first?.arguments.first,
            !decimal
        else { return nil }
        var json = "["
        json.reserveCapacity(values.count * 12)
        var column = "value"
        func append(_ text: String) {
            if json.utf8.count > 1 { json += "," }
            json += text
        }
        for value in values {
            switch (first, value.arguments[0]) {
            case (.integer, .integer(let integer)): append(String(integer))
            case (.integer, .reference(let row)), (.reference, .reference(let row)): append(String(row.key))
            case (.reference, .integer(let integer)): append(String(integer))
            case (.double, .double(let double)):
                column = "\(SQLFunctionName.double)(value)"
                append(String(Int64(bitPattern: double.bitPattern)))
            case (.string, .string(let string)):
                guard let data = try? JSONEncoder().encode(string) else { return nil }
                append(String(decoding: data, as: UTF8.self))
            case (.uuid, .uuid(let uuid)):
                column = "\(SQLFunctionName.bytes)(value)"
                append("\"" + uuid.uuidString.replacingOccurrences(of: "-", with: "") + "\"")
            case (.data, .data(let data)):
                column = "\(SQLFunctionName.bytes)(value)"
                append("\"" + data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "\"")
            default: return nil
            }
        }
        return SQLText("(SELECT \(column) FROM json_each(?))", [.string(json + "]")])
    }

    /// The same for keys.
    static func json(_ keys: some Sequence<Int64>) -> String {
        var json = "["
        var isFirst = true
        for key in keys {
            if !isFirst { json += "," }
            isFirst = false
            json += String(key)
        }
        return json + "]"
    }
}
