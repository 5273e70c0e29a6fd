import Foundation

extension PredicateParser {
    /// The precedence, loosest first: set operators, infix operators, prefix signs, powers, steps
    /// of key paths.
    mutating func expression() throws(PredicateFormatError) -> NSExpression {
        try nested { parser throws(PredicateFormatError) in
            var left = try parser.operation()
            while let operation = parser.setOperation() {
                parser.advance()
                left = try parser.checked(NSExpression(body: .set(operation, left, try parser.operation())))
            }
            return left
        }
    }

    private func setOperation() -> ExpressionBody.SetOperation? {
        guard case .identifier(let word, isEscaped: false) = token.kind else { return nil }
        return ExpressionBody.SetOperation(rawValue: word.uppercased())
    }

    /// Parses left-associative operators that have at least the given precedence.
    private mutating func operation(minimum: Int = 1) throws(PredicateFormatError) -> NSExpression {
        var left = try signed()
        while case .symbol(let symbol) = token.kind, let function = BuiltInFunction.leftAssociative[symbol],
            let sign = function.infix, sign.precedence >= minimum
        {
            advance()
            left = try call(function, [left, try operation(minimum: sign.precedence + 1)])
        }
        return left
    }

    /// Parses `-x` as `0 - x` and `~x` as a complement. The minus of a literal belongs to the
    /// literal.
    private mutating func signed() throws(PredicateFormatError) -> NSExpression {
        if take(symbol: "+") { return try nested { parser throws(PredicateFormatError) in try parser.signed() } }
        if take(symbol: "~") {
            let operand = try nested { parser throws(PredicateFormatError) in try parser.signed() }
            return try call(.onesComplement, [operand])
        }
        guard take(symbol: "-") else { return try power() }
        if case .number(let number) = token.kind, !nextIsSymbol("**") {
            advance()
            switch number {
            case let value as Int: return NSExpression(forConstantValue: -value)
            case let value as Double: return NSExpression(forConstantValue: -value)
            case let value as Decimal:
                let negative = -value
                return NSExpression(forConstantValue: negative == Decimal(Int.min) ? Int.min : negative)
            default: return NSExpression(forConstantValue: number)
            }
        }
        let operand = try nested { parser throws(PredicateFormatError) in try parser.signed() }
        return try call(.subtract, [NSExpression(forConstantValue: 0), operand])
    }

    private mutating func power() throws(PredicateFormatError) -> NSExpression {
        let base = try steps()
        guard take(symbol: "**") else { return base }
        let exponent = try nested { parser throws(PredicateFormatError) in try parser.signed() }
        return try call(.raise, [base, exponent])
    }

    private func call(
        _ function: BuiltInFunction, _ arguments: [NSExpression]
    ) throws(PredicateFormatError) -> NSExpression {
        try checked(NSExpression(body: .function(FunctionCall(function, arguments))))
    }

    // MARK: Key paths and indexes

    private mutating func steps() throws(PredicateFormatError) -> NSExpression {
        var value = try primary()
        while true {
            if take(symbol: ".") {
                // All keys at once: appending them one by one takes time that grows with the square
                // of their number.
                var keys = [try key()]
                while take(symbol: ".") { keys.append(try key()) }
                value = try checked(value.appending(keys.joined(separator: ".")))
            } else if take(symbol: "[") {
                let index = try index()
                try expect(symbol: "]")
                value = try call(.objectAtIndex, [value, index])
            } else {
                return value
            }
        }
    }

    private mutating func key() throws(PredicateFormatError) -> String {
        switch token.kind {
        case .identifier(let key, _), .keyPath(let key), .value(let key as String):
            advance()
            return key
        case .value(let expression as NSExpression):
            guard let path = expression.keyPathFromEvaluatedObject else {
                throw error("a key was expected after \".\", not the expression \(expression)")
            }
            advance()
            return path
        default:
            throw error("a key was expected after \".\", not \(token.description)")
        }
    }

    private mutating func index() throws(PredicateFormatError) -> NSExpression {
        if case .identifier(let word, isEscaped: false) = token.kind,
            let index = CollectionIndex(rawValue: word.uppercased()), nextIsSymbol("]")
        {
            advance()
            return NSExpression(forConstantValue: index)
        }
        return try expression()
    }

    // MARK: The smallest parts

    private mutating func primary() throws(PredicateFormatError) -> NSExpression {
        let token = self.token
        switch token.kind {
        case .string(let value):
            advance()
            return NSExpression(forConstantValue: value)
        case .number(let value):
            advance()
            return NSExpression(forConstantValue: value)
        case .value(let value):
            advance()
            guard let value else { return NSExpression(forConstantValue: nil) }
            if ComparableValue.isPlain(type(of: value)) { return NSExpression(forConstantValue: value) }
            if value is NSPredicate {
                throw error("a predicate was given where a value was expected", at: token.offset)
            }
            return try checked(NSExpression.wrapping(value))
        case .keyPath(let path):
            advance()
            return NSExpression(forKeyPath: path)
        case .variable(let name):
            advance()
            return NSExpression(forVariable: name)
        case .functionName(let name):
            advance()
            return try function(named: name, at: token.offset)
        case .identifier(let name, let isEscaped):
            advance()
            return try named(name, isEscaped: isEscaped, at: token.offset)
        case .symbol("("):
            advance()
            let value = try expression()
            try expect(symbol: ")")
            return value
        case .symbol("{"):
            advance()
            return try checked(NSExpression(forAggregate: try list(endingWith: "}")))
        case .symbol, .end:
            throw error("an expression was expected, not \(token.description)")
        }
    }

    private mutating func named(
        _ name: String, isEscaped: Bool, at offset: Int
    ) throws(PredicateFormatError) -> NSExpression {
        if isEscaped { return NSExpression(forKeyPath: name) }
        let word = name.uppercased()
        switch word {
        case "NULL", "NIL": return NSExpression(forConstantValue: nil)
        case "TRUE", "YES": return NSExpression(forConstantValue: true)
        case "FALSE", "NO": return NSExpression(forConstantValue: false)
        case "SELF": return .expressionForEvaluatedObject()
        case "ANYKEY": return .expressionForAnyKey()
        default: break
        }
        if ReservedWords.all.contains(word) {
            throw error("\"\(name)\" is a reserved word here; write #\(name) for a key of that name", at: offset)
        }
        guard token.isSymbol("(") else { return NSExpression(forKeyPath: name) }
        switch word {
        case "SUBQUERY": return try subquery()
        case "TERNARY": return try conditional()
        case "FUNCTION": return try method(at: offset)
        case "CAST": return try cast(at: offset)
        case "FETCH": return try fetch(at: offset)
        default: return try function(named: name, at: offset)
        }
    }

    private mutating func list(endingWith closing: String) throws(PredicateFormatError) -> [NSExpression] {
        var elements: [NSExpression] = []
        if take(symbol: closing) { return elements }
        repeat {
            elements.append(try expression())
        } while take(symbol: ",")
        guard take(symbol: closing) else {
            throw error("\",\" or \"\(closing)\" was expected, not \(token.description)")
        }
        return elements
    }

    // MARK: Functions

    /// Reads the rest of `FETCH(request, context, countOnly)`.
    private mutating func fetch(at offset: Int) throws(PredicateFormatError) -> NSExpression {
        try expect(symbol: "(")
        let parts = try list(endingWith: ")")
        guard parts.count == 3, let countOnly = parts[2].body.constant as? Bool else {
            throw error("FETCH takes a request, a context, and YES or NO", at: offset)
        }
        return try checked(NSExpression(fetch: parts[0], context: parts[1], countOnly: countOnly))
    }

    private mutating func function(named name: String, at offset: Int) throws(PredicateFormatError) -> NSExpression {
        guard let function = BuiltInFunction(name: name) else {
            throw error("there is no function \"\(name)\"", at: offset)
        }
        try expect(symbol: "(")
        let arguments = try list(endingWith: ")")
        if function.takesManyValues {
            guard !arguments.isEmpty else {
                throw error("\"\(function.rawValue)\" takes at least one value", at: offset)
            }
        } else if arguments.count != function.parameterCount {
            throw error(
                "\"\(function.rawValue)\" takes \(function.parameterCount) values, not \(arguments.count)", at: offset)
        }
        return try call(function, arguments)
    }

    private mutating func method(at offset: Int) throws(PredicateFormatError) -> NSExpression {
        try expect(symbol: "(")
        let parts = try list(endingWith: ")")
        guard parts.count >= 2, let constant = parts[1].body.constant,
            case .string(let selector) = ComparableValue(constant)
        else { throw error("FUNCTION takes a target, a selector in quotes and the arguments", at: offset) }
        return try checked(
            NSExpression(forFunction: parts[0], selectorName: selector, arguments: Array(parts.dropFirst(2))))
    }

    private mutating func cast(at offset: Int) throws(PredicateFormatError) -> NSExpression {
        try expect(symbol: "(")
        let parts = try list(endingWith: ")")
        guard parts.count == 2, let typeName = parts[1].body.constant,
            case .string(let name) = ComparableValue(typeName)
        else { throw error("CAST takes a value and a type in quotes", at: offset) }
        if let value = parts[0].body.constant, let constant = ValueCast.literal(value, as: name) {
            return NSExpression(forConstantValue: constant)
        }
        return try call(.cast, parts)
    }

    private mutating func conditional() throws(PredicateFormatError) -> NSExpression {
        try expect(symbol: "(")
        let test = try predicate()
        try expect(symbol: ",")
        let first = try expression()
        try expect(symbol: ",")
        let second = try expression()
        try expect(symbol: ")")
        return try checked(NSExpression(forConditional: test, trueExpression: first, falseExpression: second))
    }

    private mutating func subquery() throws(PredicateFormatError) -> NSExpression {
        try expect(symbol: "(")
        let collection = try expression()
        try expect(symbol: ",")
        guard case .variable(let name) = token.kind else {
            throw error("a variable such as $x was expected, not \(token.description)")
        }
        advance()
        try expect(symbol: ",")
        let condition = try predicate()
        try expect(symbol: ")")
        return try checked(NSExpression(forSubquery: collection, usingIteratorVariable: name, predicate: condition))
    }
}
