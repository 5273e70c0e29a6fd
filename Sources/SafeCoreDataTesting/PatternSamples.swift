/// Generates texts that a regular expression matches.
///
/// It supports characters, classes, groups, alternatives and repetitions. It does not support
/// look-around, back-references and character properties.
struct PatternSamples {
    private indirect enum Part {
        case one(of: [Character])
        case sequence([Part])
        case choice([Part])
        case repeated(Part, least: Int, most: Int)
    }

    private struct Unknown: Error {}

    private var rest: Substring

    private init(_ pattern: String) {
        rest = pattern[...]
    }

    /// Returns a text for a number; nil for a pattern with an unsupported element. Texts for
    /// different numbers differ if the pattern allows it.
    static func text(matching pattern: String, _ number: Int) -> String? {
        var samples = PatternSamples(pattern)
        guard let part = try? samples.choice(), samples.rest.isEmpty else { return nil }
        return write(part, number)
    }

    private static func write(_ part: Part, _ number: Int) -> String {
        switch part {
        case .one(let characters): return String(characters[number % characters.count])
        // Neighbouring parts differ, and later parts change once all values of the earlier ones
        // have been used.
        case .sequence(let parts): return parts.enumerated().map { write($1, number + $0 * (1 + number / 7)) }.joined()
        case .choice(let parts): return write(parts[number % parts.count], number)
        case .repeated(let part, let least, let most):
            let count = Swift.min(Swift.max(least, 1 + number % 3), most)
            return (0..<count).map { write(part, number + $0 * (1 + number / 7)) }.joined()
        }
    }

    // MARK: Reading

    private mutating func choice() throws -> Part {
        var parts = [try sequence()]
        while rest.first == "|" {
            rest.removeFirst()
            parts.append(try sequence())
        }
        return parts.count == 1 ? parts[0] : .choice(parts)
    }

    private mutating func sequence() throws -> Part {
        var parts: [Part] = []
        while let next = rest.first, next != "|", next != ")" {
            rest.removeFirst()
            guard let part = try atom(next) else { continue }
            parts.append(try repetition(of: part))
        }
        return .sequence(parts)
    }

    /// Returns nil for anchors, which match no character.
    private mutating func atom(_ first: Character) throws -> Part? {
        switch first {
        case "^", "$": return nil
        case ".": return .one(of: Self.letters + Self.digits)
        case "[": return .one(of: try characterClass())
        case "\\": return try escape().map { .one(of: $0) }
        case "(":
            if rest.hasPrefix("?") {
                guard rest.hasPrefix("?:") else { throw Unknown() }
                rest.removeFirst(2)
            }
            let group = try choice()
            guard rest.popFirst() == ")" else { throw Unknown() }
            return group
        case "*", "+", "?", "{": throw Unknown()
        default: return .one(of: [first])
        }
    }

    private mutating func repetition(of part: Part) throws -> Part {
        let repeated: Part
        switch rest.first {
        case "*": repeated = .repeated(part, least: 0, most: .max)
        case "+": repeated = .repeated(part, least: 1, most: .max)
        case "?": repeated = .repeated(part, least: 0, most: 1)
        case "{":
            guard let end = rest.firstIndex(of: "}") else { throw Unknown() }
            let bounds = rest[rest.index(after: rest.startIndex)..<end].split(
                separator: ",", omittingEmptySubsequences: false)
            guard let least = bounds.first.flatMap({ Int($0) }), least <= 1_000 else { throw Unknown() }
            let most = bounds.count == 1 ? least : Int(bounds[1]) ?? .max
            repeated = .repeated(part, least: least, most: Swift.max(least, most))
            rest = rest[end...]
        default: return part
        }
        rest.removeFirst()
        // Lazy and possessive quantifiers match the same whole texts.
        if rest.first == "?" || rest.first == "+" { rest.removeFirst() }
        return repeated
    }

    /// Returns nil for escapes that match no character.
    private mutating func escape() throws -> [Character]? {
        switch rest.popFirst() {
        case "d": return Self.digits
        case "w": return Self.letters + Self.digits + ["_"]
        case "s": return [" "]
        case "D": return Self.letters
        case "W": return ["-"]
        case "S": return Self.letters + Self.digits
        case "t": return ["\t"]
        case "n": return ["\n"]
        case "b", "A", "z", "Z": return nil
        case let character? where !character.isLetter && !character.isNumber: return [character]
        default: throw Unknown()
        }
    }

    private mutating func characterClass() throws -> [Character] {
        let isNegated = rest.first == "^"
        if isNegated { rest.removeFirst() }
        var members: [Character] = []
        while let next = rest.popFirst(), next != "]" || members.isEmpty {
            if next == "[" || next == "&" && rest.first == "&" { throw Unknown() }
            guard next != "\\" else {
                members += try escape() ?? []
                continue
            }
            if rest.first == "-", let last = rest.dropFirst().first, last != "]", last != "\\" {
                rest.removeFirst(2)
                members += try Self.range(next, last)
            } else {
                members.append(next)
            }
        }
        if isNegated { members = (Self.letters + Self.digits).filter { !members.contains($0) } }
        guard !members.isEmpty else { throw Unknown() }
        return members
    }

    private static func range(_ first: Character, _ last: Character) throws -> [Character] {
        guard let lower = first.unicodeScalars.first?.value, let upper = last.unicodeScalars.first?.value,
            lower <= upper
        else {
            throw Unknown()
        }
        return (lower...Swift.min(upper, lower + 63)).compactMap { Unicode.Scalar($0) }.map { Character($0) }
    }

    private static let letters = Array("abcdefghijklmnopqrstuvwxyz")
    private static let digits = Array("0123456789")
}
