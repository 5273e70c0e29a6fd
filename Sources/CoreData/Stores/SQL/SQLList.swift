import Foundation

/// Lists of constants for IN.
enum SQLList {
    /// The elements of an array, set or ordered set; nil for any other value.
    static func elements(of value: Any?) -> [Any]? {
        switch value {
        case let array as [Any]: return array
        case let set as Set<AnyHashable>: return set.map { $0.base }
        case let set as NSSet: return set.allObjects
        case let set as NSOrderedSet: return set.array
        default: return nil
        }
    }

    /// A subquery over one bound JSON text that holds all values; nil when they are not of one kind.
    static func json(_ values: [SQLText], decimal: Bool) -> SQLText? {
        guard values.allSatisfy({ $0.sql == "?" && $0.arguments.count == 1 }),
            let first = values.first?.arguments.first,
            !decimal
        else { return nil }
        var json = "["
        json.reserveCapacity(values.count * 12)
        var column = "value"
        func append(_ text: String) {
            if json.utf8.count > 1 { json += "," }
            json += text
        }
        for value in values {
            switch (first, value.arguments[0]) {
            case (.integer, .integer(let integer)): append(String(integer))
            case (.integer, .reference(let row)), (.reference, .reference(let row)): append(String(row.key))
            case (.reference, .integer(let integer)): append(String(integer))
            case (.double, .double(let double)):
                column = "\(SQLFunctionName.double)(value)"
                append(String(Int64(bitPattern: double.bitPattern)))
            case (.string, .string(let string)):
                // SQLite takes a NUL in the JSON for the end of a text.
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
        return SQLText("(SELECT \(column) FROM json_each(?))", [.string(json + "]")])
    }

    /// The same for keys.
    static func json(_ keys: some Sequence<Int64>) -> String {
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
