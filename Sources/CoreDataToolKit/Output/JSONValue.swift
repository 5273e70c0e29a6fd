import CoreData
import Foundation

/// A JSON value whose objects keep the order of their keys.
enum JSONValue: Equatable {
    case null
    case bool(Bool)
    /// A number as it is written: exact, whatever its size.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    struct Member: Equatable {
        let key: String
        let value: JSONValue

        init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    static func integer(_ value: some BinaryInteger) -> JSONValue { .number(String(value)) }

    /// Returns a number; null for infinities and NaN, which JSON does not have.
    static func double(_ value: Double) -> JSONValue { value.isFinite ? .number("\(value)") : .null }

    static func optional(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    var compact: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Adds the JSON text in one line.
    func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.appendBytes(of: "null")
        case .bool(let value): bytes.appendBytes(of: value ? "true" : "false")
        case .number(let number): bytes.appendBytes(of: number)
        case .string(let string): Self.append(string, to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.appendBytes(of: ", ") }
                value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.appendBytes(of: ", ") }
                Self.append(member.key, to: &bytes)
                bytes.appendBytes(of: ": ")
                member.value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Adds an object.
    ///
    /// - Parameter keys: the keys of the values, in quotes.
    static func append(_ values: some Sequence<JSONValue>, keys: [String], to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "{"))
        for (index, (key, value)) in zip(keys, values).enumerated() {
            if index > 0 { bytes.appendBytes(of: ", ") }
            bytes.appendBytes(of: key)
            bytes.appendBytes(of: ": ")
            value.append(to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    /// Adds a text in quotes. Most texts have no character that is escaped.
    private static func append(_ string: String, to bytes: inout [UInt8]) {
        let count = bytes.count
        bytes.append(UInt8(ascii: "\""))
        var string = string
        let isPlain = string.withUTF8 { text in
            guard text.allSatisfy({ $0 >= 0x20 && $0 < 0x7f && $0 != 0x22 && $0 != 0x5c }) else { return false }
            bytes.append(contentsOf: text)
            return true
        }
        if isPlain { return bytes.append(UInt8(ascii: "\"")) }
        bytes.removeLast(bytes.count - count)
        bytes.appendBytes(of: quoted(string))
    }

    /// Returns the JSON text with a line for each member and element.
    func indented(_ depth: Int = 0) -> String {
        let inner = String(repeating: "  ", count: depth + 1)
        let outer = String(repeating: "  ", count: depth)
        switch self {
        case .array(let values) where !values.isEmpty:
            return "[\n" + values.map { inner + $0.indented(depth + 1) }.joined(separator: ",\n") + "\n\(outer)]"
        case .object(let members) where !members.isEmpty:
            let lines = members.map { inner + Self.quoted($0.key) + ": " + $0.value.indented(depth + 1) }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(outer)}"
        default: return compact
        }
    }

    private static func quoted(_ string: String) -> String {
        string.inQuotes { scalar in
            switch scalar {
            case "\u{0}"..<" ", "\u{7f}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: return nil
            }
        }
    }
}

extension [UInt8] {
    /// Adds the bytes of a text at once.
    mutating func appendBytes(of text: String) {
        var text = text
        text.withUTF8 { append(contentsOf: $0) }
    }
}
