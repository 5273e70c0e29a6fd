import Foundation

// Functions and arithmetic. SQL does what it does as `NSExpression` does it; a function of the connection, which calls the evaluation
// in memory, does the rest.
extension SQLGenerator {
    private static let arithmeticSigns = ["add:to:": "+", "from:subtract:": "-", "multiply:by:": "*", "divide:by:": "/"]

    private static let integerSigns = [
        "modulus:by:": "%", "bitwiseand:with:": "&", "bitwiseor:with:": "|", "leftshift:by:": "<<", "rightshift:by:": ">>",
    ]

    private static let textFunctions = [
        "lowercase:": SQLFunctionName.lowercase, "uppercase:": SQLFunctionName.uppercase, "canonical:": SQLFunctionName.canonical,
    ]

    private static let numberFunctions: Set<String> = [
        "abs:", "sqrt:", "floor:", "ceiling:", "trunc:", "exp:", "ln:", "log:",
    ]

    private static let relationshipAggregates: [String: String] = [
        "count:": "@count", "sum:": "@sum", "min:": "@min", "max:": "@max", "average:": "@avg",
    ]

    func function(
        _ expression: NSExpression, in environment: SQLEnvironment, like other: SQLTerm?, _ context: String
    ) throws -> SQLTerm {
        let name = expression.function.lowercased()
        let arguments = expression.arguments ?? []
        if let aggregate = try aggregate(expression, name, in: environment, context) { return aggregate }
        func operand(_ index: Int) throws -> SQLTerm { try single(term(arguments[index], in: environment, like: nil, context), context) }
        switch arguments.count {
        case 0 where name == "now" || name == "now:":
            return SQLTerm(
                text: SQLText("?", [.double(Date().timeIntervalSinceReferenceDate)]), kind: .date, canBeNull: false)
        case 1:
            let value = try operand(0)
            if name == "noindex:" {
                var term = value
                term.text = "+" + value.text
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
        arithmeticSigns[name] != nil || integerSigns[name] != nil || name == "raise:topower:" || name == "bitwisexor:with:"
    }

    /// `count:(pages)` and its kind: over the rows of a result, or of a relationship of each row.
    private func aggregate(
        _ expression: NSExpression, _ name: String, in environment: SQLEnvironment, _ context: String
    ) throws -> SQLTerm? {
        guard let operation = Self.relationshipAggregates[name], let argument = expression.arguments?.first else { return nil }
        if resultColumn != nil, argument.expressionType == .keyPath || argument.expressionType == .evaluatedObject,
            !argument.isToManyPath(of: environment.scope.entity)
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

    private func unary(_ name: String, _ value: SQLTerm, _ context: String) throws -> SQLTerm? {
        if name == "onescomplement:" {
            try requireNumbers([value], name, context)
            if value.kind?.isInteger == true { return SQLTerm(text: "(~" + value.text + ")", kind: .int64) }
            return calculation(name, [value], kind: .int64)
        }
        if name == "length:" || Self.textFunctions[name] != nil {
            switch value.valueClass {
            case .text, .unknown: break
            case .number, .id: return calculation(name, [value], kind: name == "length:" ? .int64 : .string)
            default: throw refuse(context, "'\(name)' needs a text")
            }
            if let function = Self.textFunctions[name] { return SQLTerm(text: "\(function)(" + value.text + ")", kind: .string) }
            return calculation(name, [value], kind: .int64)
        }
        guard Self.numberFunctions.contains(name) else { return nil }
        try requireNumbers([value], name, context)
        switch name {
        case "abs:": return calculation(name, [value], kind: value.kind)
        case "floor:", "ceiling:", "trunc:":
            if value.kind?.isInteger == true { return value.computed }
            return calculation(name, [value], kind: .double)
        default: return calculation(name, [value], kind: .double)
        }
    }

    private func binary(_ name: String, _ left: SQLTerm, _ right: SQLTerm, _ context: String) throws -> SQLTerm {
        if left.valueClass == .date || right.valueClass == .date { return try dateArithmetic(name, left, right, context) }
        try requireNumbers([left, right], name, context)
        func native(_ symbol: String, _ kind: ValueKind?) -> SQLTerm {
            SQLTerm(text: "(" + left.text + " \(symbol) " + right.text + ")", kind: kind)
        }
        let areIntegers = left.kind?.isInteger == true && right.kind?.isInteger == true
        if let symbol = Self.integerSigns[name] {
            return areIntegers ? native(symbol, .int64) : calculation(name, [left, right], kind: .int64)
        }
        guard let symbol = Self.arithmeticSigns[name] else {
            return calculation(name, [left, right], kind: name == "raise:topower:" ? .double : .int64)
        }
        if left.kind == .decimal || right.kind == .decimal { return calculation(name, [left, right], kind: .decimal) }
        // Whole numbers that overflow become doubles, as in memory.
        return native(symbol, areIntegers ? .int64 : .double)
    }

    /// A date plus or minus seconds is a date; a date minus a date is seconds.
    private func dateArithmetic(_ name: String, _ left: SQLTerm, _ right: SQLTerm, _ context: String) throws -> SQLTerm {
        func isNumber(_ term: SQLTerm) -> Bool { term.valueClass == .number || term.isNull || term.valueClass == .unknown }
        let kind: ValueKind
        switch (name, left.valueClass, right.valueClass) {
        case ("from:subtract:", .date, .date): kind = .double
        case ("add:to:", .date, _) where isNumber(right), ("from:subtract:", .date, _) where isNumber(right): kind = .date
        case ("add:to:", _, .date) where isNumber(left): kind = .date
        default: throw refuse(context, "dates can be added to seconds, and subtracted from dates")
        }
        return SQLTerm(text: "(" + left.text + (name == "add:to:" ? " + " : " - ") + right.text + ")", kind: kind)
    }

    private func requireNumbers(_ terms: [SQLTerm], _ name: String, _ context: String) throws {
        for term in terms where !term.isNull && term.valueClass != .number && term.valueClass != .unknown {
            throw refuse(context, "'\(name)' needs numbers")
        }
    }

    /// A function that the evaluation in memory does.
    func calculation(_ name: String, _ values: [SQLTerm], kind: ValueKind?) -> SQLTerm {
        let arguments = "('\(name)', '\(Self.kinds(of: values))', " + SQLText.joined(values.map(\.mostExact), by: ", ") + ")"
        return SQLTerm(
            text: SQLFunctionName.calculate + arguments, kind: kind,
            exact: kind == .decimal ? SQLFunctionName.calculateExactly + arguments : nil)
    }

    /// A letter for the kind of each value.
    static func kinds(of values: [SQLTerm]) -> String {
        String(
            decoding: values.map { value in
                value.exact == nil ? (value.kind ?? .undefined).rawValue + UInt8(ascii: "A") : SQLFunctionName.exactKind
            }, as: UTF8.self)
    }
}

extension SQLTerm {
    /// The value with all digits that are known of it.
    var mostExact: SQLText { exact ?? text }

    /// The value without what holds for a column or a constant only.
    fileprivate var computed: SQLTerm { SQLTerm(text: text, kind: kind, canBeNull: canBeNull) }
}

extension NSExpression {
    /// Whether it is a key path that starts with a to-many relationship of an entity.
    fileprivate func isToManyPath(of entity: SQLEntity) -> Bool {
        guard expressionType == .keyPath, let first = keyPath.split(separator: ".").first,
            let slot = entity.layout.slotByName[String(first)]
        else { return false }
        return entity.toMany[slot] != nil
    }
}
