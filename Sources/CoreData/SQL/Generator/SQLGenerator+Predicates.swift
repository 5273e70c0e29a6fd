import Foundation

extension SQLGenerator {
    /// Returns a predicate as a condition. A row is in the result when the condition is true; NULL
    /// counts as false.
    func condition(_ predicate: NSPredicate, in environment: SQLEnvironment) throws -> SQLText {
        if predicate.isTooDeep { throw refuse("…", predicate.predicateFormat) }
        if let compound = predicate as? NSCompoundPredicate { return try condition(compound, in: environment) }
        if let comparison = predicate as? NSComparisonPredicate {
            return try self.comparison(comparison, in: environment)
        }
        switch predicate.predicateFormat {
        case "TRUEPREDICATE": return truth(true)
        case "FALSEPREDICATE": return truth(false)
        default:
            throw refuse(predicate.predicateFormat, "predicates made from blocks or custom classes have no SQL")
        }
    }

    // MARK: Compounds

    private func condition(_ compound: NSCompoundPredicate, in environment: SQLEnvironment) throws -> SQLText {
        if compound.height > dialect.limits.nesting, compound.operands.contains(where: { $0 is NSCompoundPredicate }) {
            return try decisions(compound, in: environment)
        }
        let operands = compound.operands
        switch compound.compoundPredicateType {
        case .not: return try operands.first.map { negated(try condition($0, in: environment)) } ?? truth(false)
        case .and: return try joined(operands, isOr: false, in: environment)
        case .or: return try joined(operands, isOr: true, in: environment)
        }
    }

    /// Returns a condition that is true where another one is false or, because of a nil, NULL; as
    /// in memory.
    private func negated(_ condition: SQLText) -> SQLText { dialect.isNotTrue(condition) }

    private func joined(_ operands: [NSPredicate], isOr: Bool, in environment: SQLEnvironment) throws -> SQLText {
        if operands.isEmpty { return truth(!isOr) }
        let wasOfManyConstants = isOfManyConstants
        defer { isOfManyConstants = wasOfManyConstants }
        var operands = operands
        if operands.count > dialect.limits.operands {
            operands = Self.membership(operands, isOr: isOr)
            isOfManyConstants = isOfManyConstants || operands.count > dialect.limits.operands
        }
        return combined(try operands.map { try condition($0, in: environment) }, by: isOr ? " OR " : " AND ")
    }

    /// Rewrites `a == 1 OR a == 2 OR …` as `a IN {1, 2, …}`, and `a != 1 AND a != 2 AND …` as its
    /// opposite.
    private static func membership(_ operands: [NSPredicate], isOr: Bool) -> [NSPredicate] {
        let wanted: NSComparisonPredicate.Operator = isOr ? .equalTo : .notEqualTo
        var others: [NSPredicate] = []
        var keys: [String] = []
        var values: [String: [Any]] = [:]
        for operand in operands {
            guard type(of: operand) == NSComparisonPredicate.self, let comparison = operand as? NSComparisonPredicate,
                comparison.predicateOperatorType == wanted, comparison.comparisonPredicateModifier == .direct,
                comparison.options.isEmpty, let key = comparison.leftExpression.keyPathFromEvaluatedObject,
                comparison.rightExpression.expressionType == .constantValue,
                SQLList.elements(of: comparison.rightExpression.constantValue) == nil
            else {
                others.append(operand)
                continue
            }
            if values[key] == nil { keys.append(key) }
            values[key, default: []].append(comparison.rightExpression.constantValue ?? NSNull())
        }
        return keys.map { key in
            let list = NSComparisonPredicate(
                leftExpression: NSExpression(forKeyPath: key),
                rightExpression: NSExpression(forConstantValue: values[key] ?? []),
                modifier: .direct, type: .in)
            return isOr ? list : NSCompoundPredicate(notPredicateWithSubpredicate: list)
        } + others
    }

    /// Returns a deeply nested predicate as `CASE WHEN … THEN … ELSE … END`.
    ///
    /// At each level, all operands but the tallest decide first. Only the tallest one is left then,
    /// and it continues in the same list of decisions. So the SQL nests only where two operands are
    /// tall, and no deeper than the logarithm of their number.
    private func decisions(_ compound: NSCompoundPredicate, in environment: SQLEnvironment) throws -> SQLText {
        var text = SQLText("CASE")
        var hasDecisions = false
        var isNegated = false
        var current: NSPredicate = compound
        while let compound = current as? NSCompoundPredicate, compound.height > dialect.limits.nesting || !hasDecisions,
            let tallest = compound.operands.indices.max(by: {
                compound.operands[$0].height < compound.operands[$1].height
            })
        {
            current = compound.operands[tallest]
            if compound.compoundPredicateType == .not {
                isNegated.toggle()
                continue
            }
            let isOr = compound.compoundPredicateType == .or
            let others = compound.operands.indices.filter { $0 != tallest }.map { compound.operands[$0] }
            if others.isEmpty { continue }
            let decided = try joined(others, isOr: isOr, in: environment)
            text.append(" WHEN ")
            text.append(isOr ? decided : negated(decided))
            text.append(" THEN " + dialect.truth(isOr != isNegated))
            hasDecisions = true
        }
        let last = try condition(current, in: environment)
        if !hasDecisions { return isNegated ? negated(last) : last }
        text.append(" ELSE ")
        text.append(isNegated ? negated(last) : last)
        text.append(" END")
        return text
    }

    // MARK: Comparisons

    private func comparison(_ predicate: NSComparisonPredicate, in environment: SQLEnvironment) throws -> SQLText {
        let context = RequestPart.predicate(predicate)
        let left = predicate.leftExpression
        let right = predicate.rightExpression
        let type = predicate.predicateOperatorType
        let modifier = predicate.comparisonPredicateModifier
        if type == .customSelector { throw refuse(context, "comparisons by custom selectors have no SQL") }
        if let toMany = try toManyPath(left, in: environment, context) {
            if type == .contains, toMany.rest.isEmpty, modifier == .direct {
                return try quantified(toMany, all: false, context) { inner in
                    try self.compare(inner, .equalTo, right, predicate.options, in: environment, context)
                }
            }
            return try quantified(toMany, all: modifier == .all, context) { inner in
                try self.compare(inner, type, right, predicate.options, in: environment, context)
            }
        }
        if let toMany = try toManyPath(right, in: environment, context) {
            guard let mirrored = type == .in ? .equalTo : type.mirrored else {
                throw refuse(context, "the right side leads to many objects")
            }
            let found = try quantified(toMany, all: false, context) { inner in
                try self.compare(inner, mirrored, left, predicate.options, in: environment, context)
            }
            return try modified(found, modifier, of: left, in: environment, context)
        }
        if left.isKnown, right.isKnown {
            // The comparison reads nothing from a row.
            do {
                return truth(try predicate.result(for: nil))
            } catch {
                throw refuse(context, error.description)
            }
        }
        if modifier != .direct, let members = elements(left) {
            let parts = members.map {
                NSComparisonPredicate(
                    leftExpression: $0, rightExpression: right, modifier: .direct, type: type,
                    options: predicate.options)
            }
            return try joined(parts, isOr: modifier == .any, in: environment)
        }
        let compared = try direct(left, type, right, predicate.options, in: environment, context)
        return try modified(compared, modifier, of: left, in: environment, context)
    }

    /// Returns `ANY` or `ALL` of a single value, which is its own only element. A nil value has no
    /// elements.
    private func modified(
        _ compared: SQLText, _ modifier: NSComparisonPredicate.Modifier, of left: NSExpression,
        in environment: SQLEnvironment,
        _ context: RequestPart
    ) throws -> SQLText {
        if modifier == .direct { return compared }
        let test = presence(of: try term(left, in: environment, like: nil, context))
        return modifier == .any
            ? "(" + test + " IS NOT NULL AND " + compared + ")" : "(" + test + " IS NULL OR " + compared + ")"
    }

    private func direct(
        _ left: NSExpression, _ type: NSComparisonPredicate.Operator, _ right: NSExpression,
        _ options: NSComparisonPredicate.Options, in environment: SQLEnvironment, _ context: RequestPart
    ) throws -> SQLText {
        if isConstant(left), !isConstant(right) {
            if type == .contains, elements(left) != nil {
                // `{1, 2} CONTAINS pages`
                let value = try self.term(right, in: environment, like: nil, context)
                return try isElement(value, of: left, options, in: environment, context)
            }
            let value = try term(right, in: environment, like: nil, context)
            if let mirrored = type.mirrored {
                return try compare(value, mirrored, left, options, in: environment, context)
            }
            let constant = try self.term(left, in: environment, like: counterpart(of: value, type), context)
            return try compare(constant, type, right, options, in: environment, context)
        }
        let term = try self.term(left, in: environment, like: nil, context)
        return try compare(term, type, right, options, in: environment, context)
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

    /// Returns the to-many relationship that a key path crosses; nil for other expressions and for
    /// collection operators such as `@count`.
    private func toManyPath(
        _ expression: NSExpression, in environment: SQLEnvironment, _ context: RequestPart
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

    /// Returns ANY as EXISTS, and ALL as NOT EXISTS of a row that fails the comparison.
    private func quantified(
        _ path: ToManyPath, all: Bool, _ context: RequestPart, _ compare: (SQLTerm) throws -> SQLText
    ) throws -> SQLText {
        let rows = try relatedRows(ownerKey: path.ownerKey, path.mapping, slot: path.slot, context) { scope in
            let term = try self.term(path: path.rest, in: scope, context)
            let condition = try compare(term)
            return [all ? negated(condition) : condition]
        }
        return (all ? "NOT EXISTS (SELECT 1" : "EXISTS (SELECT 1") + rows + ")"
    }
}

extension NSExpression {
    /// Whether the expression has the same value for every row.
    fileprivate var isKnown: Bool {
        switch expressionType {
        case .constantValue: !(constantValue is [NSExpression])
        case .aggregate: aggregateElements?.allSatisfy(\.isKnown) ?? false
        default: false
        }
    }
}

extension NSComparisonPredicate.Operator {
    /// The operator that means the same with its sides exchanged.
    package var mirrored: NSComparisonPredicate.Operator? {
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

extension SQLGenerator {
    /// Conditions in parentheses with AND or OR between them. Many are put together in groups, for
    /// databases that take each operator for one more level of an expression, of which they allow a
    /// number.
    func combined(_ parts: [SQLText], by separator: String) -> SQLText { "(" + grouped(parts, by: separator) + ")" }

    /// Returns the joined conditions without the outer parentheses.
    func grouped(_ parts: [SQLText], by separator: String) -> SQLText {
        let groupSize = dialect.limits.groupSize
        var parts = parts
        while parts.count > groupSize {
            parts = stride(from: 0, to: parts.count, by: groupSize).map { start in
                "(" + SQLText.joined(parts[start..<min(start + groupSize, parts.count)], by: separator) + ")"
            }
        }
        return SQLText.joined(parts, by: separator)
    }
}
