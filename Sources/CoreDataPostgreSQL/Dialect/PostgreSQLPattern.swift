import CoreData
import Foundation

/// Translates the regular expressions of predicates, which are ICU's, to PostgreSQL's syntax.
///
/// Both engines test whether a whole text matches, so that greed and the order of alternatives do
/// not matter. A part that has no counterpart with the same meaning is refused: references to
/// groups, possessive and atomic parts, conditions on words and graphemes. ICU itself evaluates
/// sets of characters, which are written out as ranges of code points.
struct PostgreSQLPattern {
    /// Returns the expression that matches the same texts.
    static func translation(_ pattern: String, ignoresCase: Bool) throws(SQLRefusal) -> String {
        var parser = PostgreSQLPattern(rest: Array(pattern.unicodeScalars)[...], flags: Flags(ignoresCase: ignoresCase))
        let body = try parser.alternatives()
        if !parser.rest.isEmpty { throw SQLRefusal(reason: "'\(pattern)' is no regular expression") }
        return "^(?:\(body))$"
    }

    private struct Flags: Equatable {
        var ignoresCase = false
        /// Whether a dot also matches the end of a line.
        var matchesLineEnds = false
        /// Whether white space and comments are ignored.
        var isSpaced = false
    }

    private var rest: ArraySlice<Unicode.Scalar>
    private var flags: Flags
    private var depth = 0

    private init(rest: ArraySlice<Unicode.Scalar>, flags: Flags) {
        self.rest = rest
        self.flags = flags
    }

    private func refusal(_ part: String) -> SQLRefusal {
        SQLRefusal(reason: "PostgreSQL has nothing like \(part) in a regular expression")
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func take(_ text: String) -> Bool {
        let scalars = text.unicodeScalars
        guard rest.starts(with: scalars) else { return false }
        rest.removeFirst(scalars.count)
        return true
    }

    // MARK: Structure

    private mutating func alternatives() throws(SQLRefusal) -> String {
        depth += 1
        defer { depth -= 1 }
        // Each level takes a frame of this program's stack.
        if depth > 100 { throw refusal("so many groups within each other") }
        // Flags that are set within a group hold until its end.
        let outer = flags
        defer { flags = outer }
        var parts = [try sequence()]
        while take("|") { parts.append(try sequence()) }
        return parts.joined(separator: "|")
    }

    private mutating func sequence() throws(SQLRefusal) -> String {
        var result = ""
        while let next = rest.first, next != "|", next != ")" {
            if skipSpace() { continue }
            guard let atom = try atom() else { continue }
            result += try quantified(atom)
        }
        return result
    }

    private mutating func skipSpace() -> Bool {
        guard flags.isSpaced, let next = rest.first else { return false }
        if next.properties.isPatternWhitespace {
            rest.removeFirst()
            return true
        }
        guard next == "#" else { return false }
        while let next = rest.first, next != "\n" { _ = take(next) }
        return true
    }

    /// Returns one part with the quantifier that follows it.
    private mutating func quantified(_ atom: String) throws(SQLRefusal) -> String {
        while skipSpace() {}
        guard let next = rest.first else { return atom }
        var bounds: String
        switch next {
        case "*", "+", "?":
            rest.removeFirst()
            bounds = String(next)
        case "{":
            rest.removeFirst()
            bounds = ""
            while let digit = rest.first, digit != "}" {
                guard digit == "," || digit.properties.numericType == .decimal && digit.isASCII else {
                    throw refusal("these bounds")
                }
                bounds.unicodeScalars.append(digit)
                rest.removeFirst()
            }
            guard take("}"), bounds.first?.isNumber == true else { throw refusal("these bounds") }
            let numbers = bounds.split(separator: ",").compactMap { Int($0) }
            guard numbers.allSatisfy({ $0 <= 255 }), numbers.count == bounds.split(separator: ",").count else {
                throw refusal("more than 255 repetitions")
            }
            bounds = "{\(bounds)}"
        default: return atom
        }
        if take("+") { throw refusal("possessive repetitions") }
        // Whether as few characters as possible are taken does not matter.
        _ = take("?")
        return "(?:\(atom))\(bounds)"
    }

    // MARK: Parts

    /// Returns the next part; nil for one that matches nothing by itself, such as a comment.
    private mutating func atom() throws(SQLRefusal) -> String? {
        if rest.first == "[" { return try set() }
        guard let next = rest.popFirst() else { return nil }
        switch next {
        case "(": return try group()
        case ".": return flags.matchesLineEnds ? #"[\U00000001-\U0010FFFF]"# : #"[^\#(Self.lineEnds)]"#
        case "^": return #"\A"#
        case "$":
            // The end of the text, or the last end of a line before it.
            return #"(?:\Z|(?=\r\n\Z)|(?=[\u000B\u000C\u000D\u0085\u2028\u2029]\Z)|(?<!\r)(?=\n\Z))"#
        case "\\": return try escape()
        case "*", "+", "?", "{": throw refusal("a repetition of nothing")
        default: return try literal(next)
        }
    }

    private static let lineEnds = #"\u000A-\u000D\u0085\u2028\u2029"#

    private mutating func group() throws(SQLRefusal) -> String? {
        var opening = "(?:"
        guard take("?") else { return try closed(opening) }
        if take("#") {
            while let next = rest.popFirst(), next != ")" {}
            return nil
        }
        if take(">") { throw refusal("atomic groups") }
        if take("=") {
            opening = "(?="
        } else if take("!") {
            opening = "(?!"
        } else if take("<=") {
            opening = "(?<="
        } else if take("<!") {
            opening = "(?<!"
        } else if take("<") {
            // The name of the group.
            while let next = rest.popFirst(), next != ">" {}
        } else if !take(":") {
            let outer = flags
            try setFlags()
            if take(")") { return nil }
            guard take(":") else { throw refusal("these flags") }
            defer { flags = outer }
            return try closed(opening)
        }
        return try closed(opening)
    }

    private mutating func closed(_ opening: String) throws(SQLRefusal) -> String {
        let body = try alternatives()
        guard take(")") else { throw refusal("an open group") }
        return opening + body + ")"
    }

    private mutating func setFlags() throws(SQLRefusal) {
        var value = true
        while let next = rest.first, next != ")", next != ":" {
            rest.removeFirst()
            switch next {
            case "-": value = false
            case "i": flags.ignoresCase = value
            case "s": flags.matchesLineEnds = value
            case "x": flags.isSpaced = value
            default: throw refusal("the flag '\(next)'")
            }
        }
    }

    private mutating func escape() throws(SQLRefusal) -> String? {
        guard let next = rest.first else { throw refusal("an open escape") }
        switch next {
        case "A":
            rest.removeFirst()
            return #"\A"#
        case "z":
            rest.removeFirst()
            return #"\Z"#
        case "Z":
            rest.removeFirst()
            return #"(?:\Z|(?=\r\n\Z)|(?=[\u000B\u000C\u000D\u0085\u2028\u2029]\Z)|(?<!\r)(?=\n\Z))"#
        case "Q":
            rest.removeFirst()
            var text = ""
            while !rest.isEmpty, !take(#"\E"#) {
                if let scalar = rest.popFirst() { text += try literal(scalar) }
            }
            return text.isEmpty ? nil : text
        case "E":
            rest.removeFirst()
            return nil
        case "d", "D", "w", "W", "s", "S", "h", "H", "v", "V", "p", "P", "N":
            rest.removeFirst()
            var text = "\\" + String(next)
            if "pPN".unicodeScalars.contains(next) {
                while let scalar = rest.popFirst() {
                    text.unicodeScalars.append(scalar)
                    if scalar == "}" { break }
                }
            }
            return try characters(text)
        case "b", "B", "G", "X", "R", "k", "K": throw refusal("'\\\(next)'")
        case "1"..."9": throw refusal("a reference to a group")
        default: return try literal(escapedScalar())
        }
    }

    /// Returns the character that an escape stands for. Its backslash has been read.
    private mutating func escapedScalar() throws(SQLRefusal) -> Unicode.Scalar {
        guard let next = rest.popFirst() else { throw refusal("an open escape") }
        func scalar(_ digits: String, _ radix: Int = 16) throws(SQLRefusal) -> Unicode.Scalar {
            guard let scalar = UInt32(digits, radix: radix).flatMap(Unicode.Scalar.init) else {
                throw refusal("this escape")
            }
            return scalar
        }
        switch next {
        case "a": return "\u{7}"
        case "e": return "\u{1b}"
        case "f": return "\u{c}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "c":
            guard let control = rest.popFirst() else { throw refusal("an open escape") }
            return try scalar(String(control.value & 0x1f, radix: 16))
        case "0":
            let digits = takeDigits(3, radix: 8)
            return try scalar(digits, 8)
        case "x":
            if take("{") {
                let digits = takeDigits(8, radix: 16)
                guard take("}") else { throw refusal("this escape") }
                return try scalar(digits)
            }
            return try scalar(takeDigits(2, radix: 16))
        case "u": return try scalar(takeDigits(4, radix: 16))
        case "U": return try scalar(takeDigits(8, radix: 16))
        default:
            if next.isASCII, next.properties.isAlphabetic || next.properties.numericType != nil {
                throw refusal("'\\\(next)'")
            }
            return next
        }
    }

    private mutating func takeDigits(_ count: Int, radix: Int) -> String {
        var digits = ""
        while digits.count < count, let next = rest.first, Character(next).hexDigitValue.map({ $0 < radix }) == true {
            digits.unicodeScalars.append(next)
            rest.removeFirst()
        }
        return digits
    }

    // MARK: Characters

    /// Returns an expression for one character; where case is ignored, for its other cases too.
    private mutating func literal(_ scalar: Unicode.Scalar) throws(SQLRefusal) -> String {
        // No text of a store contains U+0000.
        if scalar.value == 0 { return Self.nothing }
        guard flags.ignoresCase else { return Self.escaped(scalar) }
        if !scalar.isASCII, Self.folded(scalar).unicodeScalars.count > 1 { throw refusal("'\(scalar)' without case") }
        let chain = ligatureChain(from: scalar)
        if chain.count == 1 { return try oneOfCase(scalar) }
        rest.removeFirst(chain.count - 1)
        return "(?:" + (try spellings(chain[...])).joined(separator: "|") + ")"
    }

    private func oneOfCase(_ scalar: Unicode.Scalar) throws(SQLRefusal) -> String {
        if scalar.isASCII, !scalar.properties.isAlphabetic { return Self.escaped(scalar) }
        return try characters(scalar.isASCII ? "[\(scalar)]" : Self.icuEscaped(scalar))
    }

    private static func folded(_ scalar: Unicode.Scalar) -> String {
        String(scalar).folding(options: .caseInsensitive, locale: nil)
    }

    /// Letters that equal several letters where case is ignored.
    private static let ligatures: [(letters: String, ligatures: String)] = [
        ("ss", "\u{df}\u{1e9e}"), ("ff", "\u{fb00}"), ("fi", "\u{fb01}"), ("fl", "\u{fb02}"), ("ffi", "\u{fb03}"),
        ("ffl", "\u{fb04}"),
        ("st", "\u{fb05}\u{fb06}"),
    ]

    /// Returns a letter and those after it, as long as each may form one letter with the one before
    /// it.
    private func ligatureChain(from scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        var chain = [scalar]
        var following = rest
        while let last = chain.last, let next = following.popFirst() {
            let pair = (String(Character(last)) + String(Character(next))).lowercased()
            guard Self.ligatures.contains(where: { $0.letters == pair }) else { break }
            // A letter with a quantifier is separate.
            if let repetition = following.first, "*+?{".unicodeScalars.contains(repetition) { break }
            chain.append(next)
        }
        return chain
    }

    /// Returns the ways to write the letters, each as a part of an expression.
    private func spellings(_ letters: ArraySlice<Unicode.Scalar>) throws(SQLRefusal) -> [String] {
        guard let first = letters.first else { return [""] }
        if letters.count > 8 { throw refusal("so many letters without case that may be one letter together") }
        var result: [String] = []
        let one = try oneOfCase(first)
        for end in try spellings(letters.dropFirst()) { result.append(one + end) }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: letters)
        let written = String(text).lowercased()
        for (pair, single) in Self.ligatures where written.hasPrefix(pair) {
            let part = "[" + single.unicodeScalars.map(Self.escaped).joined() + "]"
            for end in try spellings(letters.dropFirst(pair.unicodeScalars.count)) { result.append(part + end) }
        }
        return result
    }

    /// An expression that matches no text.
    private static let nothing = #"(?:\Z.)"#

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        if scalar.isASCII, scalar.properties.isAlphabetic || scalar.properties.numericType != nil {
            return String(scalar)
        }
        return #"\U"# + padded(scalar.value)
    }

    private static func icuEscaped(_ scalar: Unicode.Scalar) -> String {
        #"\x{"# + String(scalar.value, radix: 16) + "}"
    }

    private static func padded(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// Reads a set in brackets, at which `rest` begins.
    private mutating func set() throws(SQLRefusal) -> String {
        var text = ""
        var level = 0
        while let next = rest.popFirst() {
            text.unicodeScalars.append(next)
            if next == "\\" {
                if rest.first == "Q" { throw refusal("a quotation in a set") }
                if let escaped = rest.popFirst() { text.unicodeScalars.append(escaped) }
            } else if next == "[" {
                level += 1
            } else if next == "]" {
                level -= 1
                if level == 0 { return try characters(text) }
            }
        }
        throw refusal("an open set")
    }

    /// Returns the characters that ICU counts as members of a set, as a bracket expression.
    private func characters(_ set: String) throws(SQLRefusal) -> String {
        let ranges = try PostgreSQLCharacters.members(of: set, flags.ignoresCase)
        if ranges.isEmpty { return Self.nothing }
        let parts = ranges.map { range in
            range.count == 1
                ? #"\U"# + Self.padded(range.lowerBound)
                : #"\U"# + Self.padded(range.lowerBound) + #"-\U"# + Self.padded(range.upperBound)
        }
        return "[" + parts.joined() + "]"
    }
}
