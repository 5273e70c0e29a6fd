/// A token of Swift source, with its range in the file's bytes.
struct SwiftToken: Equatable {
    enum Kind: Equatable {
        /// A name or keyword; also in backticks.
        case word
        /// `#keyPath`, `#if`, …
        case directive
        /// `@`, brackets, operators: one character each.
        case symbol
        case number
        /// A text or regular expression with its whole contents.
        case literal
    }

    let kind: Kind
    let range: Range<Int>
    /// The word itself without backticks, or the character of a symbol; empty for literals.
    let text: String
    /// The interpolations of a text that are closed.
    var interpolations: [SwiftInterpolation] = []
}

/// An interpolation in a text: from its backslash to its parenthesis, with the tokens in it.
struct SwiftInterpolation: Equatable {
    let range: Range<Int>
    let tokens: [SwiftToken]
}

/// Splits Swift source into tokens. Comments and white space are not tokens, and a text is a single
/// token, so that nothing in either is treated as code.
struct SwiftLexer {
    private let bytes: [UInt8]
    private var position = 0
    private var tokens: [SwiftToken] = []

    static func tokens(of bytes: [UInt8]) -> [SwiftToken] {
        var lexer = SwiftLexer(bytes: bytes)
        lexer.run(untilParenthesis: false)
        return lexer.tokens
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
        // A byte order mark is not part of the first word.
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { position = 3 }
    }

    private func byte(_ offset: Int = 0) -> UInt8? {
        position + offset < bytes.count ? bytes[position + offset] : nil
    }

    private func hasPrefix(_ text: StaticString, at place: Int? = nil) -> Bool {
        let start = place ?? position
        guard start + text.utf8CodeUnitCount <= bytes.count else { return false }
        return (0..<text.utf8CodeUnitCount).allSatisfy { bytes[start + $0] == text.utf8Start[$0] }
    }

    // MARK: Tokens

    /// Reads to the end, or past the parenthesis that closes an interpolation.
    ///
    /// - Returns: whether there was such a parenthesis.
    @discardableResult
    private mutating func run(untilParenthesis: Bool) -> Bool {
        var depth = 0
        while let next = byte() {
            switch next {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"), 0x0c, 0x0b:
                position += 1
            case UInt8(ascii: "/") where hasPrefix("//"): skipLine()
            case UInt8(ascii: "/") where hasPrefix("/*"): skipBlockComment()
            case UInt8(ascii: "\""): readText(pounds: 0)
            case UInt8(ascii: "#"): readPound()
            case UInt8(ascii: "`"): readEscapedWord()
            case UInt8(ascii: "/") where isRegexStart: readRegex(pounds: 0)
            case _ where Self.startsWord(next): readWord()
            case UInt8(ascii: "0")...UInt8(ascii: "9"): readNumber()
            default:
                if next == UInt8(ascii: "(") { depth += 1 }
                if next == UInt8(ascii: ")") {
                    if untilParenthesis, depth == 0 {
                        position += 1
                        return true
                    }
                    depth -= 1
                }
                add(.symbol, from: position, to: position + 1)
            }
        }
        return false
    }

    private mutating func add(
        _ kind: SwiftToken.Kind, from start: Int, to end: Int, interpolations: [SwiftInterpolation] = []
    ) {
        let text = kind == .literal ? "" : String(decoding: bytes[start..<end], as: UTF8.self)
        tokens.append(
            SwiftToken(kind: kind, range: start..<end, text: text.filter { $0 != "`" }, interpolations: interpolations))
        position = end
    }

    private static func startsWord(_ byte: UInt8) -> Bool {
        byte >= 0x80 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }

    private static func continuesWord(_ byte: UInt8) -> Bool {
        startsWord(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private mutating func readWord() {
        var end = position + 1
        while end < bytes.count, Self.continuesWord(bytes[end]) { end += 1 }
        add(.word, from: position, to: end)
    }

    private mutating func readEscapedWord() {
        var end = position + 1
        while end < bytes.count, bytes[end] != UInt8(ascii: "`"), bytes[end] != UInt8(ascii: "\n") { end += 1 }
        add(.word, from: position, to: min(end + 1, bytes.count))
    }

    private mutating func readNumber() {
        var end = position + 1
        while end < bytes.count {
            // A point belongs to the number if a digit follows: `1.5`, but not `1...2` and
            // `1.description`.
            let isPoint =
                bytes[end] == UInt8(ascii: ".") && end + 1 < bytes.count
                && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[end + 1])
            guard isPoint || Self.continuesWord(bytes[end]) else { break }
            end += 1
        }
        add(.number, from: position, to: end)
    }

    // MARK: Comments

    private mutating func skipLine() {
        while let next = byte(), next != UInt8(ascii: "\n"), next != UInt8(ascii: "\r") { position += 1 }
    }

    private mutating func skipBlockComment() {
        var depth = 0
        while position < bytes.count {
            if hasPrefix("/*") {
                depth += 1
                position += 2
            } else if hasPrefix("*/") {
                depth -= 1
                position += 2
                if depth == 0 { return }
            } else {
                position += 1
            }
        }
    }

    // MARK: Texts

    /// Reads a token that begins with `#`: a text with pounds, a regular expression with pounds, or
    /// a directive.
    private mutating func readPound() {
        var pounds = 0
        while byte(pounds) == UInt8(ascii: "#") { pounds += 1 }
        switch byte(pounds) {
        case UInt8(ascii: "\"")?: readText(pounds: pounds)
        case UInt8(ascii: "/")?
        where pounds > 0 && !hasPrefix("//", at: position + pounds) && !hasPrefix("/*", at: position + pounds):
            readRegex(pounds: pounds)
        case let next? where Self.startsWord(next):
            var end = position + pounds
            while end < bytes.count, Self.continuesWord(bytes[end]) { end += 1 }
            add(.directive, from: position, to: end)
        default: add(.symbol, from: position, to: position + 1)
        }
    }

    private func isPounds(_ count: Int, at place: Int) -> Bool {
        place + count <= bytes.count && (0..<count).allSatisfy { bytes[place + $0] == UInt8(ascii: "#") }
    }

    /// Reads a text, starting at its pounds or quotes, with its interpolations.
    private mutating func readText(pounds: Int) {
        let start = position
        var interpolations: [SwiftInterpolation] = []
        position += pounds
        let isLong = hasPrefix("\"\"\"")
        position += isLong ? 3 : 1
        while let next = byte() {
            if next == UInt8(ascii: "\\"), isPounds(pounds, at: position + 1) {
                let backslash = position
                position += 1 + pounds
                if byte() == UInt8(ascii: "(") {
                    position += 1
                    let kept = tokens
                    tokens = []
                    if run(untilParenthesis: true) {
                        interpolations.append(SwiftInterpolation(range: backslash..<position, tokens: tokens))
                    }
                    tokens = kept
                } else if byte() != nil {
                    position += 1
                }
                continue
            }
            if isLong ? hasPrefix("\"\"\"") : next == UInt8(ascii: "\"") {
                let end = position + (isLong ? 3 : 1)
                if isPounds(pounds, at: end) {
                    position = end + pounds
                    break
                }
            } else if !isLong, next == UInt8(ascii: "\n") || next == UInt8(ascii: "\r") {
                // A single-line text ends here: the source does not compile, and the following
                // bytes are code again.
                break
            }
            position += 1
        }
        add(.literal, from: start, to: min(position, bytes.count), interpolations: interpolations)
    }

    // MARK: Regular expressions

    /// Whether a slash begins a regular expression: at the start of an expression, with its end on
    /// the same line.
    private var isRegexStart: Bool {
        guard let next = byte(1), next != UInt8(ascii: " "), next != UInt8(ascii: "\t"), next != UInt8(ascii: "\n"),
            next != UInt8(ascii: "\r"), startsExpression
        else { return false }
        var place = position + 1
        while place < bytes.count, bytes[place] != UInt8(ascii: "\n"), bytes[place] != UInt8(ascii: "\r") {
            if bytes[place] == UInt8(ascii: "\\") {
                place += 2
                continue
            }
            if bytes[place] == UInt8(ascii: "/") { return bytes[place - 1] != UInt8(ascii: " ") }
            place += 1
        }
        return false
    }

    /// Whether an operand can start here, so that a slash is not a division.
    private var startsExpression: Bool {
        guard let last = tokens.last else { return true }
        switch last.kind {
        case .number, .literal: return false
        case .directive: return true
        case .word: return Self.wordsBeforeExpressions.contains(last.text)
        case .symbol: return ![")", "]", "}", "?", "!", "/"].contains(last.text)
        }
    }

    private static let wordsBeforeExpressions: Set<String> = [
        "return", "in", "case", "try", "await", "if", "guard", "while", "throw", "else",
    ]

    private mutating func readRegex(pounds: Int) {
        let start = position
        position += pounds + 1
        while let next = byte() {
            if next == UInt8(ascii: "\\") {
                position += 2
                continue
            }
            if next == UInt8(ascii: "/"), isPounds(pounds, at: position + 1) {
                position += 1 + pounds
                break
            }
            if pounds == 0, next == UInt8(ascii: "\n") || next == UInt8(ascii: "\r") { break }
            position += 1
        }
        add(.literal, from: start, to: min(position, bytes.count))
    }
}
