import CoreData
import Foundation
import Synchronization

/// The characters that belong to a set of a regular expression, as ICU evaluates it.
enum PostgreSQLCharacters {
    private static let sets = Mutex<[String: [ClosedRange<UInt32>]]>([:])

    static func members(of set: String, _ ignoresCase: Bool) throws(SQLRefusal) -> [ClosedRange<UInt32>] {
        let key = (ignoresCase ? "i" : "-") + set
        if let simple = simpleMembers(of: set, ignoresCase) { return simple }
        if let known = sets.withLock({ $0[key] }) { return known }
        // Each match is limited to 500 characters, because each character takes memory.
        guard
            let expression = try? NSRegularExpression(
                pattern: "(?:\(set)){1,500}", options: ignoresCase ? .caseInsensitive : [])
        else {
            throw SQLRefusal(reason: "'\(set)' is no set of characters")
        }
        var ranges: [ClosedRange<UInt32>] = []
        let all = allCharacters
        expression.enumerateMatches(in: all.text, options: [], range: NSRange(location: 0, length: all.units)) {
            result, _, _ in
            guard let range = result?.range, range.length > 0 else { return }
            let first = Self.scalar(at: range.location)
            let last = Self.scalar(at: range.location + range.length - 1)
            if let previous = ranges.last, previous.upperBound + 1 == first {
                ranges[ranges.count - 1] = previous.lowerBound...last
            } else {
                ranges.append(first...last)
            }
        }
        let found = ranges.flatMap { split($0) }
        sets.withLock { sets in
            if sets.count > 200 { sets.removeAll() }
            sets[key] = found
        }
        return found
    }

    /// Returns the members of a set of plain ASCII characters, as most sets are; nil for other
    /// sets.
    private static func simpleMembers(of set: String, _ ignoresCase: Bool) -> [ClosedRange<UInt32>]? {
        var body = Array(set.utf8.dropFirst().dropLast())[...]
        guard set.utf8.first == UInt8(ascii: "["), set.utf8.last == UInt8(ascii: "]"), !body.isEmpty else { return nil }
        let isNegated = body.first == UInt8(ascii: "^")
        if isNegated { body.removeFirst() }
        func isPlain(_ byte: UInt8) -> Bool {
            Unicode.Scalar(byte).properties.isAlphabetic && byte < 0x80 || byte >= 0x30 && byte <= 0x39
                || "_%+@.,;!#~/ ".utf8.contains(byte)
        }
        var members = [Bool](repeating: false, count: 128)
        var others: [UInt32] = []
        func insert(_ byte: UInt8) {
            members[Int(byte)] = true
            guard ignoresCase, Unicode.Scalar(byte).properties.isAlphabetic else { return }
            members[Int(byte ^ 0x20)] = true
            // The long s, and the Kelvin sign.
            if byte | 0x20 == UInt8(ascii: "s") { others.append(0x17f) }
            if byte | 0x20 == UInt8(ascii: "k") { others.append(0x212a) }
        }
        let dash = UInt8(ascii: "-")
        if body.count > 1, body.last == dash {
            members[Int(dash)] = true
            body.removeLast()
        }
        while let first = body.popFirst() {
            guard isPlain(first) else { return nil }
            guard body.first == dash else {
                insert(first)
                continue
            }
            body.removeFirst()
            guard let last = body.popFirst(), isPlain(last), first <= last else { return nil }
            for byte in first...last { insert(byte) }
        }
        var ranges: [ClosedRange<UInt32>] = []
        for value in (0..<128).filter({ members[$0] }).map(UInt32.init) + Set(others).sorted() {
            if let previous = ranges.last, previous.upperBound + 1 == value {
                ranges[ranges.count - 1] = previous.lowerBound...value
            } else {
                ranges.append(value...value)
            }
        }
        if !isNegated { return ranges }
        var start: UInt32 = 1
        var complement: [ClosedRange<UInt32>] = []
        for range in ranges {
            if start < range.lowerBound { complement.append(start...(range.lowerBound - 1)) }
            start = range.upperBound + 1
        }
        return (complement + [start...0x10ffff]).flatMap(split)
    }

    /// Splits a range around the surrogates, which are no characters.
    private static func split(_ range: ClosedRange<UInt32>) -> [ClosedRange<UInt32>] {
        guard range.lowerBound < 0xd800, range.upperBound > 0xdfff else { return [range] }
        return [range.lowerBound...0xd7ff, 0xe000...range.upperBound]
    }

    /// Every code point but zero, in order, and the number of their UTF-16 code units.
    private static let allCharacters: (text: String, units: Int) = {
        var scalars = String.UnicodeScalarView()
        for value in UInt32(1)...0x10ffff { if let scalar = Unicode.Scalar(value) { scalars.append(scalar) } }
        let text = String(scalars)
        return (text, text.utf16.count)
    }()

    /// Returns the code point at an offset among the UTF-16 code units of `allCharacters`.
    private static func scalar(at unit: Int) -> UInt32 {
        let below = 0xd800 - 1
        if unit < below { return UInt32(unit + 1) }
        let middle = below + 0x2000
        return unit < middle ? UInt32(unit - below + 0xe000) : UInt32((unit - middle) / 2 + 0x10000)
    }
}
