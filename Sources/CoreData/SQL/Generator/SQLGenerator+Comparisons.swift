import Foundation

// One comparison of two values. The rules are those of `NSPredicate.evaluate(with:)`, which the
// article on predicate formats states.
extension SQLGenerator {
    /// Returns the comparison of a value with an expression.
    func compare(
        _ left: SQLTerm, _ type: NSComparisonPredicate.Operator, _ right: NSExpression,
        _ options: NSComparisonPredicate.Options, in environment: SQLEnvironment, _ context: RequestPart
    ) throws -> SQLText {
        if left.isEntity, right.expressionType == .constantValue,
            let wanted = right.constantValue as? any EntityCondition
        {
            let numbers = mapping.layouts.layouts.filter { wanted.includes($0.entity) }
                .compactMap { mapping.entities[$0.index]?.number }.map(String.init)
            if numbers.isEmpty, dialect.hasStaticTypes { return truth(type == .notEqualTo) }
            let isMember = left.text + " IN (\(numbers.joined(separator: ", ")))"
            switch type {
            case .equalTo: return isMember
            case .notEqualTo: return dialect.isNotTrue(isMember)
            default: throw refuse(context, "a class can only be compared for equality")
            }
        }
        if let composite = left.composite {
            return type == .in
                ? try isElement(composite, left, of: right, in: environment, context)
                : try compare(composite, left, type, right, in: environment, context)
        }
        switch type {
        case .in: return try isElement(left, of: right, options, in: environment, context)
        case .between: return try isBetween(left, right, options, in: environment, context)
        default: break
        }
        let right = try term(right, in: environment, like: counterpart(of: left, type), context)
        if right.kind == .composite {
            throw refuse(context, "a composite attribute can only be compared with one of the same elements")
        }
        return try compare(left, type, right, options, context)
    }

    /// Returns SQL that is nil only where the value is nil, also for a computed value that its kind
    /// cannot represent.
    func presence(of term: SQLTerm) -> SQLText {
        term.stored ?? (dialect.hasStaticTypes ? term.exact : nil) ?? term.text
    }

    /// Returns the term that decides how a constant is bound; nil where comparisons of texts take
    /// the constant as it is.
    func counterpart(of term: SQLTerm, _ type: NSComparisonPredicate.Operator) -> SQLTerm? {
        if !dialect.hasStaticTypes { return term }
        return switch type {
        case .beginsWith, .endsWith, .contains, .like, .matches: nil
        default: term
        }
    }

    private func compare(
        _ left: SQLTerm, _ type: NSComparisonPredicate.Operator, _ right: SQLTerm,
        _ options: NSComparisonPredicate.Options,
        _ context: RequestPart
    ) throws -> SQLText {
        switch type {
        case .equalTo: return try equality(left, right, options, context)
        case .notEqualTo: return try inequality(left, right, options, context)
        case .lessThan: return try order(left, .lessThan, " < ", right, options, context)
        case .lessThanOrEqualTo: return try order(left, .lessThanOrEqualTo, " <= ", right, options, context)
        case .greaterThan: return try order(left, .greaterThan, " > ", right, options, context)
        case .greaterThanOrEqualTo: return try order(left, .greaterThanOrEqualTo, " >= ", right, options, context)
        case .beginsWith, .endsWith, .contains, .like, .matches:
            return try stringComparison(left, type, right, options, context)
        case .in, .between, .customSelector: throw refuse(context, "this comparison has no SQL")
        @unknown default: throw refuse(context, "this comparison has no SQL")
        }
    }

    // MARK: Equality and order

    private func equality(
        _ left: SQLTerm, _ right: SQLTerm, _ options: NSComparisonPredicate.Options, _ context: RequestPart
    ) throws -> SQLText {
        if right.isNull { return presence(of: left) + " IS NULL" }
        if left.isNull { return presence(of: right) + " IS NULL" }
        let canBothBeNull = left.canBeNull && right.canBeNull
        let areBothNull = "(" + presence(of: left) + " IS NULL AND " + presence(of: right) + " IS NULL)"
        switch try meeting(of: left, right, context) {
        case .none: return canBothBeNull ? areBothNull : truth(false)
        case .different(let left, let right):
            let equal = dialect.compare(left, .equalTo, right) ?? left.text + " = " + right.text
            return canBothBeNull ? "(" + equal + " OR " + areBothNull + ")" : equal
        case .same:
            if let equal = dialect.compare(left, .equalTo, right) {
                return canBothBeNull ? "(" + equal + " OR " + areBothNull + ")" : equal
            }
            if !options.comparesLiterally, isText(left), isText(right) {
                let equal = try matchString(.equalTo, options, left, right, context)
                return canBothBeNull ? "(" + equal + " OR " + areBothNull + ")" : equal
            }
            return canBothBeNull ? dialect.isSame(left.text, right.text) : left.text + " = " + right.text
        }
    }

    /// Returns the condition that two values are equal, character by character.
    func isEqual(_ left: SQLTerm, _ right: SQLTerm, _ context: RequestPart) throws -> SQLText {
        try equality(left, right, [], context)
    }

    /// Returns the opposite of equality, where nil is unequal to every value.
    private func inequality(
        _ left: SQLTerm, _ right: SQLTerm, _ options: NSComparisonPredicate.Options, _ context: RequestPart
    ) throws -> SQLText {
        if right.isNull { return presence(of: left) + " IS NOT NULL" }
        if left.isNull { return presence(of: right) + " IS NOT NULL" }
        if case .same = try meeting(of: left, right, context),
            options.comparesLiterally || !isText(left) || !isText(right),
            dialect.compare(left, .equalTo, right) == nil
        {
            if left.canBeNull && right.canBeNull { return dialect.isDifferent(left.text, right.text) }
            if left.canBeNull { return "(" + left.text + " <> " + right.text + " OR " + left.text + " IS NULL)" }
            return "(" + left.text + " <> " + right.text + " OR " + right.text + " IS NULL)"
        }
        return dialect.isNotTrue(try equality(left, right, options, context))
    }

    private func order(
        _ left: SQLTerm, _ type: NSComparisonPredicate.Operator, _ symbol: String, _ right: SQLTerm,
        _ options: NSComparisonPredicate.Options, _ context: RequestPart
    ) throws -> SQLText {
        if left.isNull || right.isNull { return truth(false) }
        switch try meeting(of: left, right, context) {
        case .none: return truth(false)
        case .different(let left, let right):
            return dialect.compare(left, type, right) ?? left.text + symbol + right.text
        case .same:
            switch left.valueClass {
            case .object, .archived, .entity: throw refuse(context, "values of this kind have no order")
            default: break
            }
            if let comparison = dialect.compare(left, type, right) { return comparison }
            if !options.comparesLiterally, isText(left), isText(right) {
                return try matchString(type, options, left, right, context)
            }
            return dialect.ordered(left) + symbol + right.text
        }
    }

    /// The way in which two values are compared.
    private enum Meeting {
        /// The values are compared as they are.
        case same
        /// Each value is converted to another form, which may be nil where the value is not.
        case different(SQLTerm, SQLTerm)
        /// The values cannot be compared: they are never equal and have no order.
        case none
    }

    private func meeting(of left: SQLTerm, _ right: SQLTerm, _ context: RequestPart) throws -> Meeting {
        // NaN equals no value and has no order.
        if left.isNotANumber || right.isNotANumber { return .none }
        switch (left.valueClass, right.valueClass) {
        case (.unknown, _), (_, .unknown): return .same
        case (.object, .object):
            if let first = left.rootIndex, let second = right.rootIndex, first != second { return .none }
            return .same
        case (let first, let second) where first == second: return .same
        case (.number, .date), (.date, .number): return .same
        case (.text, .number): return .different(dialect.number(inText: left.text), right)
        case (.number, .text): return .different(left, dialect.number(inText: right.text))
        case (.text, .id), (.id, .text):
            // A constant that reads as a UUID was converted to one already.
            if left.isConstant && left.valueClass == .text || right.isConstant && right.valueClass == .text {
                return .none
            }
            throw refuse(context, "a text of the store is compared with a UUID")
        default: return .none
        }
    }

    func truth(_ value: Bool) -> SQLText { SQLText(dialect.truth(value)) }

    // MARK: Strings

    private func isText(_ term: SQLTerm) -> Bool { term.valueClass == .text || term.valueClass == .unknown }

    private func matchString(
        _ operation: NSComparisonPredicate.Operator, _ options: NSComparisonPredicate.Options, _ left: SQLTerm,
        _ right: SQLTerm,
        _ context: RequestPart
    ) throws -> SQLText {
        try said(context) { () throws(SQLRefusal) in try dialect.match(operation, options, left, right) }
    }

    private func stringComparison(
        _ left: SQLTerm, _ type: NSComparisonPredicate.Operator, _ right: SQLTerm,
        _ options: NSComparisonPredicate.Options, _ context: RequestPart
    ) throws -> SQLText {
        if left.isNull || right.isNull { return truth(false) }
        let (left, right) = (try stringTerm(left, context), try stringTerm(right, context))
        if options.comparesLiterally, case .string(let pattern)? = right.constant?.value {
            switch type {
            case .beginsWith:
                if left.isColumn, let end = right.derived(.endOfPrefix) {
                    let value = dialect.ordered(left)
                    return "(" + value + " >= " + right.made(.prefix).text + " AND " + value + " < " + end + ")"
                }
                // Other constants could use an index, so this statement is not used for them.
                if left.isColumn { return try matchString(type, options, left, right.forThisStatement, context) }
            case .endsWith:
                guard let length = right.derived(.suffixLength) else { return left.text + " IS NOT NULL" }
                return dialect.hasSuffix(left, right.text, negativeLength: length)
            case .contains:
                if !pattern.isEmpty { return dialect.contains(left, right.made(.part).text) }
            default: break
            }
        }
        if type == .matches, case .string(let pattern)? = right.constant?.value,
            !StringComparison.isValidPattern(pattern)
        {
            throw refuse(context, "'\(pattern)' is no regular expression")
        }
        return try matchString(type, options, left, right, context)
    }

    /// Returns a value as the text that string comparisons use.
    private func stringTerm(_ term: SQLTerm, _ context: RequestPart) throws -> SQLTerm {
        switch term.valueClass {
        case .text, .unknown: return term
        case .number, .id:
            guard let kind = term.kind else { return term }
            guard let text = dialect.text(of: term, kind) else {
                throw refuse(context, "string comparisons apply to text")
            }
            return SQLTerm(text: text, kind: .string)
        case .date, .data, .json, .object, .entity, .archived: throw refuse(context, "string comparisons apply to text")
        }
    }

    /// Returns the least string that is greater than every string with a prefix, in the order of
    /// UTF-8; nil when there is none.
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

    // MARK: Ranges and membership

    private func isBetween(
        _ left: SQLTerm, _ right: NSExpression, _ options: NSComparisonPredicate.Options,
        in environment: SQLEnvironment,
        _ context: RequestPart
    ) throws -> SQLText {
        guard let bounds = elements(right), bounds.count == 2 else { throw refuse(context, "BETWEEN needs two bounds") }
        let low = try term(bounds[0], in: environment, like: left, context)
        let high = try term(bounds[1], in: environment, like: left, context)
        if let plain = SQLValueClass.ordered(left, low, high), plain != .text || options.comparesLiterally,
            dialect.compare(left, .greaterThanOrEqualTo, low) == nil,
            dialect.compare(left, .lessThanOrEqualTo, high) == nil
        {
            return dialect.ordered(left) + " BETWEEN " + low.text + " AND " + high.text
        }
        return "(" + (try compare(left, .greaterThanOrEqualTo, low, options, context)) + " AND "
            + (try compare(left, .lessThanOrEqualTo, high, options, context)) + ")"
    }

    func isElement(
        _ left: SQLTerm, of right: NSExpression, _ options: NSComparisonPredicate.Options,
        in environment: SQLEnvironment, _ context: RequestPart
    ) throws -> SQLText {
        if right.expressionType == .subquery {
            let rows = try subqueryRows(right, in: environment)
            return left.text + " IN (SELECT \(rows.key)" + rows.text + ")"
        }
        if let isMember = try isOneOfObjects(left, right, options, in: environment, context) { return isMember }
        guard let members = elements(right) else {
            // `"a" IN name` looks for a part of a text.
            let container = try term(right, in: environment, like: nil, context)
            guard container.valueClass == .text else {
                throw refuse(context, "IN needs a collection or a text on its right side")
            }
            return try stringComparison(container, .contains, left, options, context)
        }
        var listed: [SQLArgument] = []
        var parts: [SQLText] = []
        for member in members {
            let member = try self.term(member, in: environment, like: left, context)
            if member.isNull {
                parts.append(presence(of: left) + " IS NULL")
            } else if let constant = member.constant, !left.isNull, left.valueClass == member.valueClass,
                dialect.compare(left, .equalTo, member) == nil,
                options.comparesLiterally || !isText(left), isSame(try meeting(of: left, member, context))
            {
                listed.append(constant)
            } else {
                parts.append(try equality(left, member, options, context))
            }
        }
        if listed.count > dialect.limits.listedElements,
            let isMember = dialect.isMember(left.text, of: listed, isDecimal: left.kind == .decimal)
        {
            parts.insert(isMember, at: 0)
        } else if !listed.isEmpty {
            parts.insert(left.text + " IN (" + SQLText.joined(listed.map { SQLText($0) }, by: ", ") + ")", at: 0)
        }
        switch parts.count {
        case 0: return truth(false)
        case 1: return parts[0]
        default: return combined(parts, by: " OR ")
        }
    }

    /// The same for many objects or their IDs, which are all alike: what holds for the first one
    /// holds for the others.
    private func isOneOfObjects(
        _ left: SQLTerm, _ right: NSExpression, _ options: NSComparisonPredicate.Options,
        in environment: SQLEnvironment,
        _ context: RequestPart
    ) throws -> SQLText? {
        guard right.expressionType == .constantValue, let root = left.rootIndex,
            let values = SQLList.elements(of: right.constantValue),
            values.count > dialect.limits.listedElements
        else { return nil }
        let identities = values.compactMap { $0 as? any RowIdentity }
        guard identities.count == values.count else { return nil }
        let first = try term(NSExpression(forConstantValue: values[0]), in: environment, like: left, context)
        guard let constant = first.constant, left.valueClass == first.valueClass,
            dialect.compare(left, .equalTo, first) == nil,
            isSame(try meeting(of: left, first, context))
        else { return nil }
        let keys = identities.map { identity -> SQLArgument in
            let reference = identity.rowReference(in: store)
            // An object of another hierarchy or of another store equals no row.
            let isOfKind = reference.map { mapping.layouts.layouts[$0.layoutIndex].rootIndex == root } ?? false
            return SQLArgument(.integer(isOfKind ? reference?.key ?? -1 : -1), kind: constant.kind, role: .once)
        }
        return dialect.isMember(left.text, of: keys, isDecimal: false)
    }

    private func isSame(_ meeting: Meeting) -> Bool {
        if case .same = meeting { return true }
        return false
    }

    /// Returns the elements of a constant collection or of an aggregate expression.
    func elements(_ expression: NSExpression) -> [NSExpression]? {
        switch expression.expressionType {
        case .aggregate: return expression.collection as? [NSExpression]
        case .constantValue:
            return SQLList.elements(of: expression.constantValue)?.map {
                $0 as? NSExpression ?? NSExpression(forConstantValue: $0)
            }
        case .fetchRequest:
            return SQLList.elements(of: expression.expressionValue(with: nil, context: nil))?.map {
                // A row with one column represents its value.
                let row = $0 as? NSDictionary
                return NSExpression(forConstantValue: row?.count == 1 ? row?.allValues.first : $0)
            }
        default: return nil
        }
    }
}

extension SQLValueClass {
    /// Returns the class of three values that SQL can order as they are; nil when it cannot.
    fileprivate static func ordered(_ value: SQLTerm, _ low: SQLTerm, _ high: SQLTerm) -> SQLValueClass? {
        let own = value.valueClass
        guard low.valueClass == own, high.valueClass == own,
            ![value, low, high].contains(where: { $0.isNull || $0.isNotANumber })
        else { return nil }
        switch own {
        case .number, .date, .text, .id, .data, .json: return own
        case .object, .entity, .archived, .unknown: return nil
        }
    }
}
