import Foundation

/// JSON in one form for each value, whatever its spelling.
///
/// It has no spaces, and its keys and escapes are as `JSONEncoder` writes them with `.sortedKeys`
/// and `.withoutEscapingSlashes`.
///
/// Numbers keep all of their digits. They are written as `JSONEncoder` writes a number of their
/// value: in full where they are whole and have up to 39 digits, and with an exponent where a
/// double would have one. A whole double from 1e16 on has the digits of an integer, because the
/// text does not show which of the two was meant; and -0 is 0.
package struct CanonicalJSON {
    /// The reason why bytes are refused.
    package enum Problem: Error {
        case noJSON
        /// A text has the character U+0000.
        case zero
        /// A number has more digits before or after its decimal point than a database's numbers
        /// have.
        case number
    }

    /// The most levels to which arrays and objects nest, as with `JSONDecoder`.
    private static let deepest = 512

    /// The most digits of whole numbers, including those of 128 bits: `JSONDecoder` reads none of
    /// them with an exponent.
    private static let mostDigits = 39

    private let text: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var depth = 0
    private var output: [UInt8]

    private init(_ text: UnsafeBufferPointer<UInt8>) {
        self.text = text
        output = []
        output.reserveCapacity(text.count)
    }

    /// Returns the canonical bytes of a JSON text.
    package static func bytes(of text: UnsafeBufferPointer<UInt8>) throws(Problem) -> [UInt8] {
        var reader = CanonicalJSON(text)
        reader.skipSpaces()
        try reader.readValue()
        reader.skipSpaces()
        if reader.position < text.count { throw .noJSON }
        return reader.output
    }

    /// Whether two JSON texts have the same value.
    static func areSame(_ left: Data, _ right: Data) -> Bool {
        func bytes(_ data: Data) -> [UInt8]? {
            data.withUnsafeBytes { try? Self.bytes(of: $0.bindMemory(to: UInt8.self)) }
        }
        return bytes(left).map { $0 == bytes(right) } ?? false
    }

    // MARK: Values

    private var next: UInt8? { position < text.count ? text[position] : nil }

    private mutating func skipSpaces() {
        while let byte = next, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { position += 1 }
    }

    private mutating func readValue() throws(Problem) {
        switch next {
        case UInt8(ascii: "{"): try readObject()
        case UInt8(ascii: "["): try readArray()
        case UInt8(ascii: "\""): try readString()
        case UInt8(ascii: "t"): try readWord("true")
        case UInt8(ascii: "f"): try readWord("false")
        case UInt8(ascii: "n"): try readWord("null")
        default: try readNumber()
        }
    }

    private mutating func readWord(_ word: StaticString) throws(Problem) {
        let end = position + word.utf8CodeUnitCount
        guard end <= text.count, memcmp(text.baseAddress! + position, word.utf8Start, word.utf8CodeUnitCount) == 0
        else { throw .noJSON }
        output.append(contentsOf: text[position..<end])
        position = end
    }

    /// Reads a given character if it is next; returns whether it was.
    private mutating func reads(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// Begins an array or object.
    private mutating func open() throws(Problem) {
        depth += 1
        if depth > Self.deepest { throw .noJSON }
        output.append(text[position])
        position += 1
        skipSpaces()
    }

    private mutating func close(_ character: Unicode.Scalar) {
        depth -= 1
        output.append(UInt8(ascii: character))
    }

    private mutating func readArray() throws(Problem) {
        try open()
        if !reads("]") {
            while true {
                try readValue()
                skipSpaces()
                if reads("]") { break }
                guard reads(",") else { throw .noJSON }
                output.append(UInt8(ascii: ","))
                skipSpaces()
            }
        }
        close("]")
    }

    // MARK: Objects

    /// A member of an object: the place of the member and of its key in the output, without a
    /// comma.
    private struct Member {
        let start: Int
        let endOfKey: Int
        var end: Int
    }

    private mutating func readObject() throws(Problem) {
        try open()
        let start = output.count
        var members: [Member] = []
        var isInOrder = true
        if !reads("}") {
            while true {
                let first = output.count
                guard next == UInt8(ascii: "\"") else { throw .noJSON }
                try readString()
                var member = Member(start: first, endOfKey: output.count, end: 0)
                skipSpaces()
                guard reads(":") else { throw .noJSON }
                output.append(UInt8(ascii: ":"))
                skipSpaces()
                try readValue()
                member.end = output.count
                if isInOrder, let last = members.last { isInOrder = compare(last, member) < 0 }
                members.append(member)
                skipSpaces()
                if reads("}") { break }
                guard reads(",") else { throw .noJSON }
                output.append(UInt8(ascii: ","))
                skipSpaces()
            }
        }
        if !isInOrder { arrange(members, from: start) }
        close("}")
    }

    /// Sorts the members of an object by their keys. Of several members with one key, the last one
    /// is kept.
    private mutating func arrange(_ members: [Member], from start: Int) {
        let sorted = members.indices.sorted {
            let order = compare(members[$0], members[$1])
            return order == 0 ? $0 < $1 : order < 0
        }
        var arranged: [UInt8] = []
        arranged.reserveCapacity(output.count - start)
        for (place, index) in sorted.enumerated() {
            if place + 1 < sorted.count, compare(members[index], members[sorted[place + 1]]) == 0 { continue }
            if !arranged.isEmpty { arranged.append(UInt8(ascii: ",")) }
            arranged.append(contentsOf: output[members[index].start..<members[index].end])
        }
        output.replaceSubrange(start..., with: arranged)
    }

    /// Compares the keys of two members by their bytes in UTF-8.
    private func compare(_ left: Member, _ right: Member) -> Int {
        output.withUnsafeBufferPointer { output in
            // Leaves out the quotation marks around the keys.
            var (one, other) = (left.start + 1, right.start + 1)
            while one < left.endOfKey - 1, other < right.endOfKey - 1 {
                let (first, second) = (Self.character(output, &one), Self.character(output, &other))
                if first != second { return Int(first) - Int(second) }
            }
            return (left.endOfKey - 1 - one).signum() - (right.endOfKey - 1 - other).signum()
        }
    }

    /// Returns the next byte of a text that this type wrote, without its escape.
    private static func character(_ text: UnsafeBufferPointer<UInt8>, _ place: inout Int) -> UInt8 {
        defer { place += 1 }
        guard text[place] == UInt8(ascii: "\\") else { return text[place] }
        place += 1
        switch text[place] {
        case UInt8(ascii: "u"):
            place += 4
            return hexadecimal(text[place - 1]) << 4 | hexadecimal(text[place])
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "f"): return 0x0c
        case UInt8(ascii: "n"): return 0x0a
        case UInt8(ascii: "r"): return 0x0d
        case UInt8(ascii: "t"): return 0x09
        default: return text[place]
        }
    }

    // MARK: Texts

    private mutating func readString() throws(Problem) {
        output.append(UInt8(ascii: "\""))
        position += 1
        var begin = position
        var isASCII = true
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                try copy(from: begin, isASCII)
                output.append(byte)
                position += 1
                return
            case UInt8(ascii: "\\"):
                try copy(from: begin, isASCII)
                try readEscape()
                (begin, isASCII) = (position, true)
                continue
            case 0..<0x20: throw byte == 0 ? .zero : .noJSON
            case 0x80...: isASCII = false
            default: break
            }
            position += 1
        }
        throw .noJSON
    }

    /// Copies a part of a text without escapes.
    private mutating func copy(from start: Int, _ isASCII: Bool) throws(Problem) {
        let part = UnsafeBufferPointer(rebasing: text[start..<position])
        if !isASCII, String(validating: part, as: UTF8.self) == nil { throw .noJSON }
        output.append(contentsOf: part)
    }

    private mutating func readEscape() throws(Problem) {
        position += 1
        guard let byte = next else { throw .noJSON }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "r"),
            UInt8(ascii: "t"):
            output.append(UInt8(ascii: "\\"))
            output.append(byte)
        case UInt8(ascii: "/"): output.append(byte)
        case UInt8(ascii: "u"):
            var unit = try readUnit()
            if unit & 0xfc00 == 0xd800 {
                guard reads("\\"), reads("u") else { throw .noJSON }
                let low = try readUnit()
                guard low & 0xfc00 == 0xdc00 else { throw .noJSON }
                unit = 0x10000 + (unit & 0x3ff) << 10 + low & 0x3ff
            }
            guard let scalar = Unicode.Scalar(unit) else { throw .noJSON }
            try append(scalar)
        default: throw .noJSON
        }
    }

    /// Reads four hexadecimal digits.
    private mutating func readUnit() throws(Problem) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, isxdigit(Int32(byte)) != 0 else { throw .noJSON }
            unit = unit << 4 | UInt32(Self.hexadecimal(byte))
            position += 1
        }
        return unit
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 {
        digit <= UInt8(ascii: "9") ? digit - UInt8(ascii: "0") : (digit | 0x20) - UInt8(ascii: "a") + 10
    }

    private mutating func append(_ scalar: Unicode.Scalar) throws(Problem) {
        switch scalar {
        case "\0": throw .zero
        case "\"", "\\": output += [UInt8(ascii: "\\"), UInt8(scalar.value)]
        case "\u{8}": output += "\\b".utf8
        case "\u{c}": output += "\\f".utf8
        case "\n": output += "\\n".utf8
        case "\r": output += "\\r".utf8
        case "\t": output += "\\t".utf8
        case ..<" ": output += ("\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)).utf8
        default: output += UTF8.encode(scalar)!
        }
    }

    // MARK: Numbers

    /// Reads a number as digits without leading or trailing zeros and the power of ten of the first
    /// digit, and writes it.
    private mutating func readNumber() throws(Problem) {
        let isNegative = reads("-")
        var digits: [UInt8] = []
        var exponent = -1
        let start = position
        while let byte = next, isDigit(byte) {
            if !digits.isEmpty || byte != UInt8(ascii: "0") {
                digits.append(byte)
                exponent += 1
            }
            position += 1
        }
        guard position > start, position == start + 1 || text[start] != UInt8(ascii: "0") else { throw .noJSON }
        if reads(".") {
            let start = position
            while let byte = next, isDigit(byte) {
                if !digits.isEmpty || byte != UInt8(ascii: "0") { digits.append(byte) } else { exponent -= 1 }
                position += 1
            }
            if position == start { throw .noJSON }
        }
        exponent = Self.sum(exponent, try readExponent())
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        if digits.isEmpty { return output.append(UInt8(ascii: "0")) }
        // These are the limits of PostgreSQL's `numeric`.
        guard exponent < 131_072, digits.count - 1 - exponent <= 16_383 else { throw .number }
        if isNegative { output.append(UInt8(ascii: "-")) }
        write(digits, exponent)
    }

    private func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    private static func sum(_ left: Int, _ right: Int) -> Int {
        let (sum, overflows) = left.addingReportingOverflow(right)
        return overflows ? right.signum() * Int.max : sum
    }

    private mutating func readExponent() throws(Problem) -> Int {
        guard reads("e") || reads("E") else { return 0 }
        let isNegative = reads("-")
        if !isNegative { _ = reads("+") }
        let start = position
        var exponent = 0
        while let byte = next, isDigit(byte) {
            // Larger exponents are refused anyway.
            exponent = min(exponent * 10 + Int(byte - UInt8(ascii: "0")), 1 << 32)
            position += 1
        }
        if position == start { throw .noJSON }
        return isNegative ? -exponent : exponent
    }

    private mutating func write(_ digits: [UInt8], _ exponent: Int) {
        let point = UInt8(ascii: ".")
        if exponent < -4 || exponent >= Self.mostDigits, digits.count <= 17 {
            output.append(digits[0])
            if digits.count > 1 { output.append(point) }
            output += digits.dropFirst()
            output += (exponent < 0 ? "e-" : "e+").utf8
            if exponent.magnitude < 10 { output.append(UInt8(ascii: "0")) }
            output += String(exponent.magnitude).utf8
        } else if exponent < 0 {
            output += "0.".utf8
            output.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: -exponent - 1))
            output += digits
        } else {
            output += digits.prefix(exponent + 1)
            output.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: max(0, exponent + 1 - digits.count)))
            if digits.count > exponent + 1 {
                output.append(point)
                output += digits.dropFirst(exponent + 1)
            }
        }
    }
}
