import CoreData
import Foundation

/// A JSON value whose objects keep the order of their keys.
indirect enum JSONValue: Equatable {
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
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let number): number
        case .string(let string): Self.quoted(string)
        case .array(let values): "[" + values.map(\.compact).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.map { Self.quoted($0.key) + ": " + $0.value.compact }.joined(separator: ", ") + "}"
        }
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
