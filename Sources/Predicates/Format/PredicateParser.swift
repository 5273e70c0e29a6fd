import Foundation

/// Reads predicates from tokens by recursive descent, one function per level of precedence.
///
/// A parenthesis may open a predicate or an expression. The predicate is tried first. The position
/// where that failed is remembered, so that nested parentheses take no more than quadratic time.
/// The parser reports the error that is furthest into the text.
struct PredicateParser {
    /// The deepest nesting accepted. Evaluating, printing and freeing recurse as deep as the text
    /// nests.
    static let deepestNesting = 128
    /// The tallest tree accepted. A long chain of signs (`1 + 1 + ...`) makes a tree as tall as it
    /// is long.
    static let tallestTree = 256

    private let format: String
    private let tokens: [PredicateToken]
    private(set) var position = 0
    private var nesting = 0
    private var parenthesesWithoutPredicate: Set<Int> = []
    private var furthestError: PredicateFormatError?

    init(format: String, arguments: [Any?]) throws(PredicateFormatError) {
        self.format = format
        var lexer = PredicateLexer(format: format, arguments: arguments)
        tokens = try lexer.tokens()
    }

    mutating func whole<Part>(
        _ parse: (inout PredicateParser) throws(PredicateFormatError) -> Part
    ) throws(PredicateFormatError) -> Part {
        let part = try parse(&self)
        guard case .end = token.kind else { throw furthest(error("\(token.description) was not expected here")) }
        return part
    }

    // MARK: Tokens

    var token: PredicateToken { tokens[position] }

    mutating func advance() {
        if position < tokens.count - 1 { position += 1 }
    }

    func nextIsSymbol(_ symbol: String) -> Bool {
        position + 1 < tokens.count && tokens[position + 1].isSymbol(symbol)
    }

    mutating func take(symbol: String) -> Bool {
        guard token.isSymbol(symbol) else { return false }
        advance()
        return true
    }

    mutating func take(keyword: String) -> Bool {
        guard token.isKeyword(keyword) else { return false }
        advance()
        return true
    }

    mutating func expect(symbol: String) throws(PredicateFormatError) {
        guard take(symbol: symbol) else {
            throw error("\"\(symbol)\" was expected, not \(token.description)")
        }
    }

    // MARK: Errors and limits

    func error(_ message: String, at offset: Int? = nil) -> PredicateFormatError {
        PredicateFormatError(message: message, scalarOffset: offset ?? token.offset, format: format)
    }

    private func furthest(_ error: PredicateFormatError) -> PredicateFormatError {
        guard let furthestError, furthestError.offset > error.offset else { return error }
        return furthestError
    }

    mutating func nested<Result>(
        _ body: (inout PredicateParser) throws(PredicateFormatError) -> Result
    ) throws(PredicateFormatError) -> Result {
        guard nesting < PredicateParser.deepestNesting else {
            throw error("the text nests deeper than \(PredicateParser.deepestNesting) levels")
        }
        nesting += 1
        defer { nesting -= 1 }
        return try body(&self)
    }

    func checked(_ expression: NSExpression) throws(PredicateFormatError) -> NSExpression {
        guard expression.height <= PredicateParser.tallestTree else { throw tooTall }
        return expression
    }

    func checked(_ predicate: NSPredicate) throws(PredicateFormatError) -> NSPredicate {
        guard predicate.height <= PredicateParser.tallestTree else { throw tooTall }
        return predicate
    }

    private var tooTall: PredicateFormatError {
        error("the expression is more than \(PredicateParser.tallestTree) levels deep")
    }

    // MARK: Predicates

    mutating func predicate() throws(PredicateFormatError) -> NSPredicate {
        try nested { parser throws(PredicateFormatError) in
            let first = try parser.conjunction()
            var parts = [first]
            while parser.take(symbol: "||") || parser.take(keyword: "OR") {
                parts.append(try parser.conjunction())
            }
            if parts.count == 1 { return first }
            return try parser.checked(NSCompoundPredicate(orPredicateWithSubpredicates: parts))
        }
    }

    private mutating func conjunction() throws(PredicateFormatError) -> NSPredicate {
        let first = try negation()
        var parts = [first]
        while take(symbol: "&&") || take(keyword: "AND") {
            parts.append(try negation())
        }
        if parts.count == 1 { return first }
        return try checked(NSCompoundPredicate(andPredicateWithSubpredicates: parts))
    }

    private mutating func negation() throws(PredicateFormatError) -> NSPredicate {
        guard take(symbol: "!") || take(keyword: "NOT") else { return try simplePredicate() }
        let operand = try nested { parser throws(PredicateFormatError) in try parser.negation() }
        return try checked(NSCompoundPredicate(notPredicateWithSubpredicate: operand))
    }

    private mutating func simplePredicate() throws(PredicateFormatError) -> NSPredicate {
        if take(keyword: "TRUEPREDICATE") { return NSPredicate(value: true) }
        if take(keyword: "FALSEPREDICATE") { return NSPredicate(value: false) }
        if case .value(let value) = token.kind, let predicate = value as? NSPredicate {
            advance()
            return try checked(predicate)
        }
        if token.isSymbol("("), let predicate = parenthesizedPredicate() { return predicate }
        return try comparison()
    }

    /// Returns `nil`, and does not advance, when the parenthesis does not hold a predicate.
    private mutating func parenthesizedPredicate() -> NSPredicate? {
        let start = position
        guard !parenthesesWithoutPredicate.contains(start) else { return nil }
        do throws(PredicateFormatError) {
            advance()
            let predicate = try predicate()
            try expect(symbol: ")")
            return predicate
        } catch {
            furthestError = furthest(error)
            parenthesesWithoutPredicate.insert(start)
            position = start
            return nil
        }
    }

    private mutating func comparison() throws(PredicateFormatError) -> NSPredicate {
        var modifier = NSComparisonPredicate.Modifier.direct
        var isNegated = false
        if take(keyword: "ANY") || take(keyword: "SOME") {
            modifier = .any
        } else if take(keyword: "ALL") {
            modifier = .all
        } else if take(keyword: "NONE") {
            modifier = .any
            isNegated = true
        }
        do throws(PredicateFormatError) {
            let left = try expression()
            let operation = try comparisonOperator()
            let options = try comparisonOptions(of: operation)
            let rightOffset = token.offset
            let right = try expression()
            try checkRightSide(right, of: operation, at: rightOffset)
            let predicate = NSComparisonPredicate(
                leftExpression: left, rightExpression: right, modifier: modifier, type: operation, options: options)
            return try checked(isNegated ? NSCompoundPredicate(notPredicateWithSubpredicate: predicate) : predicate)
        } catch {
            throw furthest(error)
        }
    }

    private func checkRightSide(
        _ right: NSExpression, of operation: NSComparisonPredicate.Operator, at offset: Int
    ) throws(PredicateFormatError) {
        switch operation {
        case .matches:
            guard let constant = right.body.constant, case .string(let pattern) = ComparableValue(constant) else {
                return
            }
            guard StringComparison.isValidPattern(pattern) else {
                throw error("\"\(pattern)\" is not a regular expression", at: offset)
            }
        case .between:
            let count: Int
            if let elements = right.aggregateElements {
                count = elements.count
            } else if let constant = right.body.constant {
                count = constant.flatMap { CollectionElements.of($0)?.count } ?? 0
            } else {
                return
            }
            guard count == 2 else { throw error("BETWEEN takes a lower and an upper bound: {1, 10}", at: offset) }
        default: return
        }
    }

    private static let signs: [String: NSComparisonPredicate.Operator] = [
        "=": .equalTo, "==": .equalTo, "!=": .notEqualTo, "<>": .notEqualTo, "<": .lessThan, ">": .greaterThan,
        "<=": .lessThanOrEqualTo, "=<": .lessThanOrEqualTo, ">=": .greaterThanOrEqualTo, "=>": .greaterThanOrEqualTo,
    ]
    private static let words: [String: NSComparisonPredicate.Operator] = [
        "BETWEEN": .between, "IN": .in, "CONTAINS": .contains, "BEGINSWITH": .beginsWith, "ENDSWITH": .endsWith,
        "LIKE": .like, "MATCHES": .matches,
    ]

    private mutating func comparisonOperator() throws(PredicateFormatError) -> NSComparisonPredicate.Operator {
        switch token.kind {
        case .symbol(let symbol):
            if let operation = PredicateParser.signs[symbol] {
                advance()
                return operation
            }
        case .identifier(let word, isEscaped: false):
            if let operation = PredicateParser.words[word.uppercased()] {
                advance()
                return operation
            }
        default: break
        }
        throw error("a comparison such as ==, < or CONTAINS was expected, not \(token.description)")
    }

    private mutating func comparisonOptions(
        of operation: NSComparisonPredicate.Operator
    ) throws(PredicateFormatError) -> NSComparisonPredicate.Options {
        var options: NSComparisonPredicate.Options = []
        guard take(symbol: "[") else { return options }
        guard case .identifier(let letters, isEscaped: false) = token.kind else {
            throw error("the letters of string options were expected, not \(token.description)")
        }
        for (index, letter) in letters.lowercased().enumerated() {
            switch letter {
            case "c": options.insert(.caseInsensitive)
            case "d": options.insert(.diacriticInsensitive)
            case "n": options.insert(.normalized)
            case "l": options.insert(.localeSensitive)
            default:
                throw error("\"\(letter)\" is not a string option: c, d, n or l", at: token.offset + index)
            }
        }
        advance()
        try expect(symbol: "]")
        return options
    }
}

extension PredicateToken {
    func isSymbol(_ symbol: String) -> Bool {
        if case .symbol(symbol) = kind { return true }
        return false
    }

    /// Whether the token is the keyword. Keywords may be written in any case.
    func isKeyword(_ keyword: String) -> Bool {
        guard case .identifier(let name, isEscaped: false) = kind else { return false }
        guard name.utf8.count == keyword.utf8.count else { return false }
        // Keywords are ASCII: a small letter differs from its capital in one bit.
        for (letter, capital) in zip(name.utf8, keyword.utf8) {
            let isSmall = letter >= 0x61 && letter <= 0x7a
            if (isSmall ? letter ^ 0x20 : letter) != capital { return false }
        }
        return true
    }
}
