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

    /// The JSON text on one line.
    var compact: String {
        var text = ""
        append(to: &text)
        return text
    }

    private func append(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .number(let number): text += number
        case .string(let string): Self.append(string, to: &text)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += ", " }
                value.append(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += ", " }
                Self.append(member.key, to: &text)
                text += ": "
                member.value.append(to: &text)
            }
            text += "}"
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
            let lines = members.map { inner + JSONValue.string($0.key).compact + ": " + $0.value.indented(depth + 1) }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(outer)}"
        default: return compact
        }
    }

    private static func append(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\u{0}"..<" ", "\u{7f}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
