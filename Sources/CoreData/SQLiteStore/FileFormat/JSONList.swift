import Foundation

/// A list of values as one JSON text, which a statement binds and expands.
struct JSONList {
    let text: String
    /// The SQL expression that converts an element of the text to a value.
    let column: String

    /// - Returns: nil when the values are of different kinds, or cannot be written as text.
    init?(_ values: [StoredValue]) {
        guard let first = values.first else { return nil }
        var json = "["
        json.reserveCapacity(values.count * 12)
        var column = "value"
        func append(_ text: String) {
            if json.utf8.count > 1 { json += "," }
            json += text
        }
        for value in values {
            switch (first, value) {
            case (.integer, .integer(let integer)): append(String(integer))
            case (.integer, .reference(let row)), (.reference, .reference(let row)): append(String(row.key))
            case (.reference, .integer(let integer)): append(String(integer))
            case (.double, .double(let double)):
                column = "\(SQLFunctionName.double)(value)"
                append(String(Int64(bitPattern: double.bitPattern)))
            case (.string, .string(let string)):
                // SQLite reads a NUL in the JSON as the end of a text.
                guard !string.utf8.contains(0), let data = try? JSONEncoder().encode(string) else { return nil }
                append(String(decoding: data, as: UTF8.self))
            case (.uuid, .uuid(let uuid)):
                column = "\(SQLFunctionName.bytes)(value)"
                append("\"" + uuid.uuidString.replacingOccurrences(of: "-", with: "") + "\"")
            case (.data, .data(let data)):
                column = "\(SQLFunctionName.bytes)(value)"
                append("\"" + data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "\"")
            default: return nil
            }
        }
        text = json + "]"
        self.column = column
    }

    /// Keys as a JSON text.
    static func text(of keys: some Sequence<Int64>) -> String {
        var json = "["
        var isFirst = true
        for key in keys {
            if !isFirst { json += "," }
            isFirst = false
            json += String(key)
        }
        return json + "]"
    }
}
