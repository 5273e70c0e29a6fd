import Foundation

// Functions and arithmetic. SQL evaluates the operations for which its result is that of
// `NSExpression`. For all others, a function of the connection calls the evaluation in memory.
extension SQLGenerator {
    private static let arithmeticOperations: [String: SQLArithmetic] = [
        "add:to:": .add, "from:subtract:": .subtract, "multiply:by:": .multiply, "divide:by:": .divide,
    ]

    private static let integerOperations: [String: SQLArithmetic] = [
        "modulus:by:": .modulus, "bitwiseand:with:": .and, "bitwiseor:with:": .or, "leftshift:by:": .shiftLeft,
        "rightshift:by:": .shiftRight,
    ]

    private static let textFunctions: [String: SQLTextChange] = [
        "lowercase:": .lowercase, "uppercase:": .uppercase, "canonical:": .canonical,
    ]

    private static let numberFunctions: Set<String> = [
        "abs:", "sqrt:", "floor:", "ceiling:", "trunc:", "exp:", "ln:", "log:",
    ]

    private static let relationshipAggregates: [String: String] = [
        "count:": "@count", "sum:": "@sum", "min:": "@min", "max:": "@max", "average:": "@avg",
    ]

    func function(
        _ expression: NSExpression, in environment: SQLEnvironment, like other: SQLTerm?, _ context: RequestPart
    ) throws -> SQLTerm {
        if expression.methodTarget != nil {
            throw refuse(context, "the method '\(expression.function)' has no equivalent in SQL")
        }
        let name = expression.function.lowercased()
        let arguments = expression.arguments ?? []
        if let aggregate = try aggregate(expression, name, in: environment, context) { return aggregate }
        func operand(_ index: Int) throws -> SQLTerm {
            try single(term(arguments[index], in: environment, like: nil, context), context)
        }
        switch arguments.count {
        case 0 where name == "now" || name == "now:":
            return SQLTerm(
                text: SQLText(SQLArgument(.double(Date().timeIntervalSinceReferenceDate), kind: .date, role: .once)),
                kind: .date,
                canBeNull: false)
        case 1:
            let value = try operand(0)
            if name == "noindex:" {
                var term = value
                term.text = dialect.withoutIndex(value.text)
                term.isColumn = false
                return term
            }
            if let result = try unary(name, value, context) { return result }
        case 2:
            if Self.isBinary(name) { return try binary(name, try operand(0), try operand(1), context) }
        default: break
        }
        throw refuse(context, "the function '\(expression.function)' has no equivalent in SQL")
    }

    private static func isBinary(_ name: String) -> Bool {
        arithmeticOperations[name] != nil || integerOperations[name] != nil || name == "raise:topower:"
            || name == "bitwisexor:with:"
    }

    /// Returns an aggregate, such as `count:(pages)`, over the rows of a result or over a
    /// relationship of each row.
    private func aggregate(
        _ expression: NSExpression, _ name: String, in environment: SQLEnvironment, _ context: RequestPart
    ) throws -> SQLTerm? {
        guard let operation = Self.relationshipAggregates[name], let argument = expression.arguments?.first else {
            return nil
        }
        if resultColumn != nil, argument.expressionType == .keyPath || argument.expressionType == .evaluatedObject,
            !argument.isToManyPath(of: environment.scope.entity.layout)
        {
            return try resultTerm(expression, in: environment)
        }
        if argument.expressionType == .subquery, name == "count:" {
            let rows = try subqueryRows(argument, in: environment)
            return SQLTerm(text: "(SELECT COUNT(*)" + rows.text + ")", kind: .int64, canBeNull: false)
        }
        guard argument.expressionType == .keyPath else {
            throw refuse(context, "'\(expression.function)' needs a key path through a to-many relationship")
        }
        let (scope, path) = try scopeAndPath(of: argument, in: environment)
        return try term(path: path + [operation], in: scope, context)
    }

    private func unary(_ name: String, _ value: SQLTerm, _ context: RequestPart) throws -> SQLTerm? {
        if name == "onescomplement:" {
            try requireNumbers([value], name, context)
            if value.isInteger { return SQLTerm(text: dialect.complement(value), kind: .int64) }
            return try calculation(name, [value], kind: .int64, context)
        }
        if name == "length:" || Self.textFunctions[name] != nil {
            switch value.valueClass {
            case .text, .unknown: break
            case .number, .id:
                return try calculation(name, [value], kind: name == "length:" ? .int64 : .string, context)
            default: throw refuse(context, "'\(name)' needs a text")
            }
            if let change = Self.textFunctions[name] {
                if let refusal = dialect.refusal(of: change) { throw refuse(context, refusal) }
                return SQLTerm(text: dialect.text(value.text, change), kind: .string)
            }
            return try calculation(name, [value], kind: .int64, context)
        }
        guard Self.numberFunctions.contains(name) else { return nil }
        try requireNumbers([value], name, context)
        switch name {
        case "abs:":
            // The absolute value of a Boolean is a number.
            var term = try calculation(name, [value], kind: value.kind == .boolean ? .int64 : value.kind, context)
            term.mayOverflow = true
            return term
        case "floor:", "ceiling:", "trunc:":
            if value.kind?.isInteger == true { return value.computed }
            return try calculation(name, [value], kind: .double, context)
        default: return try calculation(name, [value], kind: .double, context)
        }
    }

    private func binary(_ name: String, _ left: SQLTerm, _ right: SQLTerm, _ context: RequestPart) throws -> SQLTerm {
        if left.valueClass == .date || right.valueClass == .date {
            return try dateArithmetic(name, left, right, context)
        }
        try requireNumbers([left, right], name, context)
        func native(_ operation: SQLArithmetic, _ kind: ValueKind) throws -> SQLTerm {
            if let term = dialect.arithmetic(left, operation, right, kind) { return term }
            return try calculation(name, [left, right], kind: kind, context)
        }
        let areIntegers = left.kind?.isInteger == true && right.kind?.isInteger == true
        if let operation = Self.integerOperations[name] {
            if left.isInteger, right.isInteger { return try native(operation, .int64) }
            return try calculation(name, [left, right], kind: .int64, context)
        }
        guard let operation = Self.arithmeticOperations[name] else {
            return try calculation(name, [left, right], kind: name == "raise:topower:" ? .double : .int64, context)
        }
        if left.kind == .decimal || right.kind == .decimal {
            return try calculation(name, [left, right], kind: .decimal, context)
        }
        // Whole numbers that overflow become doubles, as in memory.
        var term = try native(operation, areIntegers ? .int64 : .double)
        term.mayOverflow = true
        return term
    }

    /// A date plus or minus seconds is a date; a date minus a date is seconds.
    private func dateArithmetic(_ name: String, _ left: SQLTerm, _ right: SQLTerm, _ context: RequestPart) throws
        -> SQLTerm
    {
        func isNumber(_ term: SQLTerm) -> Bool {
            term.valueClass == .number || term.isNull || term.valueClass == .unknown
        }
        let kind: ValueKind
        switch (name, left.valueClass, right.valueClass) {
        case ("from:subtract:", .date, .date): kind = .double
        case ("add:to:", .date, _) where isNumber(right), ("from:subtract:", .date, _) where isNumber(right):
            kind = .date
        case ("add:to:", _, .date) where isNumber(left): kind = .date
        default: throw refuse(context, "dates can be added to seconds, and subtracted from dates")
        }
        guard let term = dialect.arithmetic(left, name == "add:to:" ? .add : .subtract, right, kind) else {
            throw refuse(context, "\(dialect.storeName) has no such operation on dates")
        }
        return term
    }

    private func requireNumbers(_ terms: [SQLTerm], _ name: String, _ context: RequestPart) throws {
        for term in terms where !term.isNull && term.valueClass != .number && term.valueClass != .unknown {
            throw refuse(context, "'\(name)' needs numbers")
        }
    }

    /// Returns the call of a function that the evaluation in memory computes.
    func calculation(_ name: String, _ values: [SQLTerm], kind: ValueKind?, _ context: RequestPart) throws -> SQLTerm {
        guard let term = try said(context, { () throws(SQLRefusal) in try dialect.calculation(name, values, kind) })
        else {
            throw refuse(context, "the function '\(name)' has no equivalent in SQL")
        }
        return term
    }
}

extension SQLTerm {
    /// The SQL with all known digits of the value.
    var mostExact: SQLText { exact ?? text }

    /// The value without the properties that only a column or a constant has.
    fileprivate var computed: SQLTerm {
        SQLTerm(text: text, kind: kind, canBeNull: canBeNull, exact: exact, bits: bits, mayOverflow: mayOverflow)
    }

    /// Whether every value is a 64-bit whole number or nil.
    fileprivate var isInteger: Bool { kind?.isInteger == true && !mayOverflow }
}
