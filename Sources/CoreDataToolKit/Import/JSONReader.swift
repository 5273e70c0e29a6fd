/// Parses JSON text strictly (RFC 8259), with numbers as they are written.
///
/// Nesting, and the length of numbers, are limited. Duplicate keys are kept.
struct JSONReader {
    struct Failure: Error, Equatable {
        /// The fault and its place in the text.
        let reason: String
    }

    private let bytes: [UInt8]
    private var index = 0

    static let deepest = 100
    static let longestNumber = 4096

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the only value in a text.
    static func value(_ bytes: [UInt8]) throws(Failure) -> JSONValue {
        var reader = JSONReader(bytes)
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        if reader.index < bytes.count { throw reader.failure("there is more behind the value") }
        return value
    }

    private func failure(_ problem: String) -> Failure {
        Failure(reason: "\(problem) (byte \(index + 1))")
    }

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipSpace() {
        while let byte = current, [0x20, 0x0a, 0x0d, 0x09].contains(byte) { index += 1 }
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard let byte = current, UInt32(byte) == character.value else { return false }
        index += 1
        return true
    }

    // MARK: Values

    private mutating func value(depth: Int) throws(Failure) -> JSONValue {
        skipSpace()
        guard let byte = current else { throw failure("the text ends in the middle of a value") }
        switch Unicode.Scalar(byte) {
        case "{": return try object(depth: depth)
        case "[": return try array(depth: depth)
        case "\"": return .string(try string())
        case "t": return try word("true", .bool(true))
        case "f": return try word("false", .bool(false))
        case "n": return try word("null", .null)
        case "-", "0"..."9": return .number(try number())
        default: throw failure("this is no JSON value")
        }
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(Failure) -> JSONValue {
        guard bytes[index...].starts(with: word.utf8) else { throw failure("this is no JSON value") }
        index += word.utf8.count
        return value
    }

    private mutating func open(depth: Int) throws(Failure) {
        if depth >= Self.deepest { throw failure("values are nested more than \(Self.deepest) levels deep") }
        index += 1
    }

    private mutating func array(depth: Int) throws(Failure) -> JSONValue {
        try open(depth: depth)
        var values: [JSONValue] = []
        skipSpace()
        if skip("]") { return .array(values) }
        while true {
            values.append(try value(depth: depth + 1))
            skipSpace()
            if skip("]") { return .array(values) }
            if !skip(",") { throw failure(current == nil ? "the text ends within a list" : "a comma or ] is missing") }
        }
    }

    private mutating func object(depth: Int) throws(Failure) -> JSONValue {
        try open(depth: depth)
        var members: [JSONValue.Member] = []
        skipSpace()
        if skip("}") { return .object(members) }
        while true {
            skipSpace()
            guard current == UInt8(ascii: "\"") else {
                throw failure(current == nil ? "the text ends within an object" : "a key in quotes is missing")
            }
            let key = try string()
            skipSpace()
            if !skip(":") { throw failure(current == nil ? "the text ends within an object" : "a colon is missing") }
            members.append(.init(key, try value(depth: depth + 1)))
            skipSpace()
            if skip("}") { return .object(members) }
            if !skip(",") {
                throw failure(current == nil ? "the text ends within an object" : "a comma or } is missing")
            }
        }
    }

    // MARK: Numbers

    private mutating func digits() throws(Failure) {
        let start = index
        while let byte = current, (0x30...0x39).contains(byte) { index += 1 }
        if index == start { throw failure("a digit is missing in a number") }
        if index - start > Self.longestNumber { throw failure("a number has more than \(Self.longestNumber) digits") }
    }

    private mutating func number() throws(Failure) -> String {
        let start = index
        _ = skip("-")
        if !skip("0") { try digits() }
        if let byte = current, (0x30...0x39).contains(byte) { throw failure("a number begins with a zero") }
        if skip(".") { try digits() }
        if skip("e") || skip("E") {
            if !skip("+") { _ = skip("-") }
            try digits()
        }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    // MARK: Texts

    private mutating func string() throws(Failure) -> String {
        index += 1
        let start = index
        while let byte = current, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { index += 1 }
        var text = Array(bytes[start..<index])
        while !skip("\"") {
            guard let byte = current else { throw failure("the text ends within a string") }
            if byte < 0x20 { throw failure("a control character in a string is not escaped") }
            index += 1
            if byte == UInt8(ascii: "\\") {
                text += String(try escaped()).utf8
            } else {
                text.append(byte)
            }
        }
        guard let valid = String(validating: text, as: UTF8.self) else {
            throw failure("a string is not valid UTF-8")
        }
        return valid
    }

    private mutating func escaped() throws(Failure) -> Unicode.Scalar {
        guard let byte = current else { throw failure("the text ends within a string") }
        index += 1
        switch Unicode.Scalar(byte) {
        case "\"", "\\", "/": return Unicode.Scalar(byte)
        case "b": return "\u{8}"
        case "f": return "\u{c}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u": return try scalar()
        default: throw failure("there is no such escape in strings")
        }
    }

    /// Reads the digits behind `\u`, and the second half of a surrogate pair.
    private mutating func scalar() throws(Failure) -> Unicode.Scalar {
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xdc00, skip("\\"), skip("u"), case let second = try codeUnit(),
            (0xdc00...0xdfff).contains(second),
            let scalar = Unicode.Scalar(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))
        else { throw failure("half of a surrogate pair stands alone") }
        return scalar
    }

    private mutating func codeUnit() throws(Failure) -> UInt32 {
        let digits = bytes[index...].prefix(4)
        guard digits.count == 4,
            digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit && $0 < 0x80 }),
            let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw failure("\\u needs four hexadecimal digits") }
        index += 4
        return unit
    }
}
