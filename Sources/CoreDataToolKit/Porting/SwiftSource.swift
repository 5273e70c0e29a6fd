/// A Swift file for the porter: its tokens, the types around them, and which of them are compiled
/// on Linux.
struct SwiftSource {
    /// A type or extension around some tokens.
    struct Scope {
        enum Kind: Equatable {
            case type, `extension`, `protocol`
        }

        let kind: Kind
        let name: String
        /// The names after the colon, the superclass first.
        let inherited: [String]
        /// The token indices from the opening to the closing brace.
        var body: Range<Int>
    }

    let bytes: [UInt8]
    let tokens: [SwiftToken]
    /// The scopes, in the order of their beginnings.
    private(set) var scopes: [Scope] = []
    /// For each token, whether it is in code that Linux does not compile.
    private(set) var isInactive: [Bool]
    private let lineStarts: [Int]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        tokens = SwiftLexer.tokens(of: bytes)
        var starts = [0]
        for (place, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") { starts.append(place + 1) }
        lineStarts = starts
        isInactive = ConditionalCode.inactive(tokens, lineOf: Self.line(starts))
        findScopes()
    }

    private static func line(_ starts: [Int]) -> (Int) -> Int {
        { place in
            var (low, high) = (0, starts.count - 1)
            while low < high {
                let middle = (low + high + 1) / 2
                if starts[middle] <= place { low = middle } else { high = middle - 1 }
            }
            return low + 1
        }
    }

    /// Returns the line of an offset in the bytes, counted from 1.
    func line(of place: Int) -> Int { Self.line(lineStarts)(place) }

    func line(ofToken index: Int) -> Int { line(of: tokens[index].range.lowerBound) }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// Returns the text of tokens, including the text between them.
    func text(ofTokens range: Range<Int>) -> String {
        range.isEmpty
            ? "" : text(tokens[range.lowerBound].range.lowerBound..<tokens[range.upperBound - 1].range.upperBound)
    }

    /// Returns the text of a token; empty before the first token and after the last.
    func word(_ index: Int) -> String { tokens.indices.contains(index) ? tokens[index].text : "" }

    /// Whether the tokens from an index on have these texts.
    func matches(_ texts: String..., at index: Int) -> Bool {
        texts.enumerated().allSatisfy { word(index + $0.offset) == $0.element }
    }

    /// Returns the token that closes the bracket at an index; nil if there is none.
    func closing(_ index: Int) -> Int? {
        guard let close = ["(": ")", "[": "]", "{": "}"][word(index)] else { return nil }
        return bracket(close, matching: word(index), in: index..<tokens.count)
    }

    /// Returns the opening parenthesis for a closing one; nil if there is none.
    func opening(_ index: Int) -> Int? { bracket("(", matching: ")", in: stride(from: index, through: 0, by: -1)) }

    /// Returns the opening brace of the innermost block around a token; nil outside all braces.
    func brace(around index: Int) -> Int? {
        bracket("{", matching: "}", in: stride(from: index - 1, through: 0, by: -1), depth: 1)
    }

    /// - Parameter depth: the number of brackets to match before the first place.
    private func bracket(
        _ wanted: String, matching other: String, in places: some Sequence<Int>, depth: Int = 0
    ) -> Int? {
        var depth = depth
        for place in places where tokens[place].kind == .symbol {
            if tokens[place].text == other { depth += 1 }
            if tokens[place].text == wanted {
                depth -= 1
                if depth == 0 { return place }
            }
        }
        return nil
    }

    // MARK: Declarations

    /// Words that can precede a declaration's keyword.
    static let modifiers: Set<String> = [
        "public", "private", "fileprivate", "internal", "open", "package", "final", "static", "class", "override",
        "required",
        "convenience", "lazy", "weak", "unowned", "dynamic", "nonisolated", "mutating", "nonmutating", "indirect",
        "optional",
    ]

    static let declarationWords: Set<String> = [
        "var", "let", "func", "init", "deinit", "subscript", "class", "struct", "enum", "extension", "protocol",
        "actor", "typealias",
        "case",
        "import",
    ]

    /// Returns the keyword of the declaration whose attributes and modifiers begin at a token; nil
    /// if none follows.
    func declaration(from index: Int) -> Int? {
        var place = index
        while place < tokens.count {
            let text = tokens[place].text
            if text == "@" {
                place += 2
                if word(place) == "(", let close = closing(place), isAttached(place) { place = close + 1 }
            } else if text == "class",
                Self.modifiers.contains(word(place + 1)) || Self.declarationWords.contains(word(place + 1))
            {
                place += 1
            } else if Self.declarationWords.contains(text) {
                return place
            } else if Self.modifiers.contains(text) {
                place += 1
                if word(place) == "(", let close = closing(place) { place = close + 1 }
            } else {
                return nil
            }
        }
        return nil
    }

    /// Whether nothing is between a token and the one before it.
    func isAttached(_ index: Int) -> Bool {
        index > 0 && tokens[index].range.lowerBound == tokens[index - 1].range.upperBound
    }

    /// Returns the token at which the attributes and modifiers of a declaration begin.
    func start(ofDeclaration keyword: Int) -> Int {
        var place = keyword
        while place > 0 {
            let before = place - 1
            if Self.modifiers.contains(word(before)) {
                place = before
            } else if word(before) == ")", let open = opening(before), Self.modifiers.contains(word(open - 1)) {
                place = open - 1
            } else if word(before) == ")", let open = opening(before), word(open - 2) == "@" {
                place = open - 2
            } else if tokens[before].kind == .word, word(before - 1) == "@" {
                place = before - 1
            } else {
                break
            }
        }
        return place
    }

    func modifiers(of keyword: Int) -> [String] { (start(ofDeclaration: keyword)..<keyword).map { word($0) } }

    // MARK: Scopes

    /// Whether a declaration is a member of a type or extension, not a declaration within a method.
    func isMember(_ keyword: Int) -> Bool {
        guard let brace = brace(around: keyword) else { return false }
        return scopes.contains { $0.body.lowerBound == brace }
    }

    /// Returns the keyword of the member of a type or extension whose body contains a token.
    func member(around index: Int) -> Int? {
        guard let scope = scope(around: index), var inner = brace(around: index), inner != scope.body.lowerBound else {
            return nil
        }
        while let outer = brace(around: inner), outer != scope.body.lowerBound { inner = outer }
        return stride(from: inner, through: scope.body.lowerBound, by: -1).first {
            tokens[$0].kind == .word && ["func", "init", "var", "subscript"].contains(tokens[$0].text)
        }
    }

    private mutating func findScopes() {
        let kinds: [String: Scope.Kind] = [
            "class": .type, "struct": .type, "enum": .type, "actor": .type, "extension": .extension,
            "protocol": .protocol,
        ]
        for (index, token) in tokens.enumerated() where token.kind == .word {
            guard let kind = kinds[token.text], tokens.indices.contains(index + 1), tokens[index + 1].kind == .word,
                !Self.modifiers.contains(word(index + 1)), !Self.declarationWords.contains(word(index + 1)),
                ![".", ":", ","].contains(word(index - 1)) || word(index - 1) == "}",
                let open = bodyStart(after: index + 1), let close = closing(open)
            else { continue }
            let (name, inherited) = head(index + 1..<open)
            scopes.append(Scope(kind: kind, name: name, inherited: inherited, body: open..<close))
        }
    }

    /// Returns the brace that opens the body of a type, if only names, generics and conditions
    /// precede it.
    private func bodyStart(after index: Int) -> Int? {
        var place = index
        while place < tokens.count {
            switch word(place) {
            case "{": return place
            case "}", ";", "=", "(", ")": return nil
            default: place += 1
            }
        }
        return nil
    }

    /// Returns the name and the inherited types between a type's keyword and its brace.
    private func head(_ range: Range<Int>) -> (String, [String]) {
        var name = ""
        var inherited: [String] = []
        var depth = 0
        var current = ""
        var isInherited = false
        for place in range {
            let text = word(place)
            if text == "<" { depth += 1 }
            if depth == 0 {
                if text == "where" { break }
                if text == ":" {
                    isInherited = true
                } else if !isInherited {
                    if tokens[place].kind == .word { name = text }
                } else if text == "," {
                    inherited.append(current)
                    current = ""
                } else if tokens[place].kind == .word, word(place - 1) != "@" {
                    // The last part of `CoreData.NSManagedObject`.
                    current = text
                }
            }
            if text == ">" { depth -= 1 }
        }
        if !current.isEmpty { inherited.append(current) }
        return (name, inherited)
    }

    func scope(around index: Int) -> Scope? {
        scopes.last { $0.body.contains(index) && $0.body.lowerBound != index }
    }
}
