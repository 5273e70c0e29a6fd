import Foundation

/// Cuts a predicate format into tokens and replaces `%@`, `%K`, `%d` ... by the arguments.
struct PredicateLexer {
    private let format: String
    private let characters: [Unicode.Scalar]
    private var position = 0
    private var arguments: FormatArguments

    init(format: String, arguments: [Any?]) {
        self.format = format
        characters = Array(format.unicodeScalars)
        self.arguments = FormatArguments(arguments)
    }

    mutating func tokens() throws(PredicateFormatError) -> [PredicateToken] {
        var result: [PredicateToken] = []
        while true {
            while let character = current, character.isSpace { position += 1 }
            let start = position
            guard let character = current else {
                result.append(PredicateToken(kind: .end, offset: start))
                return result
            }
            result.append(PredicateToken(kind: try token(startingWith: character), offset: start))
        }
    }

    private var current: Unicode.Scalar? { position < characters.count ? characters[position] : nil }

    private func peek(_ distance: Int) -> Unicode.Scalar? {
        position + distance < characters.count ? characters[position + distance] : nil
    }

    private func text(_ range: Range<Int>) -> String {
        if characters[range].allSatisfy(\.isASCII) {
            return String(unsafeUninitializedCapacity: range.count) { bytes in
                for (place, character) in characters[range].enumerated() {
                    bytes[place] = UInt8(truncatingIfNeeded: character.value)
                }
                return range.count
            }
        }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: characters[range])
        return String(text)
    }

    private func error(_ message: String, at offset: Int) -> PredicateFormatError {
        PredicateFormatError(message: message, scalarOffset: offset, format: format)
    }

    private mutating func token(
        startingWith character: Unicode.Scalar
    ) throws(PredicateFormatError) -> PredicateToken.Kind {
        switch character {
        case "\"", "'":
            return .string(try string(quote: character))
        case "%":
            return try argument()
        case "$":
            position += 1
            guard let name = name() else { throw error("a variable's name is missing after \"$\"", at: position) }
            return .variable(name)
        case "#":
            position += 1
            if let quote = current, quote == "\"" || quote == "'" { return .keyPath(try string(quote: quote)) }
            guard let name = name() else { throw error("a name is missing after \"#\"", at: position) }
            return .identifier(name, isEscaped: true)
        case "@":
            position += 1
            guard let name = name() else { throw error("an operator's name is missing after \"@\"", at: position) }
            return .identifier("@" + name, isEscaped: true)
        case _ where character.isASCIIDigit:
            return .number(try number())
        case "." where peek(1)?.isASCIIDigit ?? false && !followsName:
            return .number(try number())
        case _ where character.startsName:
            return nameOrFunction()
        default:
            return .symbol(try symbol())
        }
    }

    /// Whether a point here, after a name, a bracket or a parenthesis, is a step of a key path.
    private var followsName: Bool {
        guard position > 0 else { return false }
        let previous = characters[position - 1]
        return previous.continuesName || previous == "]" || previous == ")"
    }

    // MARK: Names

    private mutating func name() -> String? {
        guard let first = current, first.startsName else { return nil }
        let start = position
        while let character = current, character.continuesName { position += 1 }
        return text(start..<position)
    }

    private mutating func nameOrFunction() -> PredicateToken.Kind {
        let start = position
        _ = name()
        guard current == ":" else { return .identifier(text(start..<position), isEscaped: false) }
        while let character = current, character == ":" || character.continuesName { position += 1 }
        return .functionName(text(start..<position))
    }

    // MARK: Signs

    private static func isPair(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Bool {
        switch (first, second) {
        case ("=", "="), ("=", ">"), (">", "="), ("=", "<"), ("<", "="), ("!", "="), ("<", ">"): true
        case ("&", "&"), ("|", "|"), ("*", "*"), ("<", "<"), (">", ">"): true
        default: false
        }
    }

    private static func isSign(_ character: Unicode.Scalar) -> Bool {
        switch character {
        case "=", "<", ">", "!", "(", ")", "{", "}", "[", "]", ",", ".", "+", "-", "*", "/", "&", "|", "^", "~": true
        default: false
        }
    }

    private mutating func symbol() throws(PredicateFormatError) -> String {
        let first = characters[position]
        if let second = peek(1), PredicateLexer.isPair(first, second) {
            position += 2
            return text(position - 2..<position)
        }
        guard PredicateLexer.isSign(first) else {
            throw error("\"\(first)\" has no meaning in a predicate", at: position)
        }
        position += 1
        return text(position - 1..<position)
    }

    // MARK: Strings

    private mutating func string(quote: Unicode.Scalar) throws(PredicateFormatError) -> String {
        let start = position
        position += 1
        var text = String.UnicodeScalarView()
        while let character = current {
            position += 1
            if character == quote { return String(text) }
            if character == "\\" {
                text.append(try escape())
            } else {
                text.append(character)
            }
        }
        throw error("the string has no closing \(quote)", at: start)
    }

    private mutating func escape() throws(PredicateFormatError) -> Unicode.Scalar {
        let start = position - 1
        guard let character = current else { throw error("the string ends within an escape", at: start) }
        position += 1
        switch character {
        case "n": return "\n"
        case "t": return "\t"
        case "r": return "\r"
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "x": return try scalar(digits: 2, from: start)
        case "u": return try scalar(digits: 4, from: start)
        case "U": return try scalar(digits: 8, from: start)
        default: return character
        }
    }

    private mutating func scalar(digits: Int, from start: Int) throws(PredicateFormatError) -> Unicode.Scalar {
        let text = self.text(position..<min(position + digits, characters.count))
        guard text.utf8.count == digits, text.allSatisfy(\.isHexDigit), let code = UInt32(text, radix: 16),
            let scalar = Unicode.Scalar(code)
        else { throw error("the escape needs \(digits) hexadecimal digits of a character", at: start) }
        position += digits
        return scalar
    }

    // MARK: Numbers

    private mutating func number() throws(PredicateFormatError) -> Any {
        let start = position
        if current == "0", let letter = peek(1), let radix = ["x": 16, "o": 8, "b": 2][String(letter).lowercased()] {
            position += 2
            let digits = run { $0.continuesName }
            guard let value = UInt64(digits, radix: radix) else {
                throw error("this is not a number of base \(radix)", at: start)
            }
            return Int(exactly: value) ?? Decimal(value)
        }
        _ = run(\.isASCIIDigit)
        var isFraction = false
        if current == ".", peek(1)?.isASCIIDigit ?? false {
            isFraction = true
            position += 1
            _ = run(\.isASCIIDigit)
        }
        if let letter = current, letter == "e" || letter == "E" {
            let sign = peek(1) == "+" || peek(1) == "-" ? 1 : 0
            if peek(1 + sign)?.isASCIIDigit ?? false {
                isFraction = true
                position += 1 + sign
                _ = run(\.isASCIIDigit)
            }
        }
        if current?.continuesName ?? false { throw error("a name cannot start with a digit", at: start) }
        let text = self.text(start..<position)
        if !isFraction, let value = Int(text) { return value }
        if !isFraction, text.count <= 38, let value = Decimal(string: text) { return value }
        guard let value = Double(text), value.isFinite else { throw error("the number is too large", at: start) }
        return value
    }

    private mutating func run(_ belongs: (Unicode.Scalar) -> Bool) -> String {
        let start = position
        while let character = current, belongs(character) { position += 1 }
        return text(start..<position)
    }

    // MARK: Arguments

    private mutating func argument() throws(PredicateFormatError) -> PredicateToken.Kind {
        let start = position
        position += 1
        let flags = run { "-+ #0123456789.".unicodeScalars.contains($0) }
        _ = run { "hlqLzjt".unicodeScalars.contains($0) }
        guard let conversion = current else { throw error("a conversion is missing after \"%\"", at: start) }
        position += 1
        if conversion == "%" { throw error("\"%%\" has no meaning outside of quotes", at: start) }
        guard flags.isEmpty || !(conversion == "@" || conversion == "K") else {
            throw error("\"%\(conversion)\" takes no width", at: start)
        }
        do {
            return try arguments.next(for: Character(conversion))
        } catch {
            throw self.error(error.message, at: start)
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isSpace: Bool { isASCII ? self == " " || (value >= 9 && value <= 13) : properties.isWhitespace }
}
