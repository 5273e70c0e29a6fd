import Foundation

/// Reads a property list in XML.
///
/// (developer.apple.com/library/archive/documentation/Cocoa/Conceptual/PropertyLists, "Introduction
/// to Property Lists")
package enum XMLPropertyListReader {
    /// Reads a whole list. Cost: O(number of bytes); the parser limits the depth.
    /// - Throws: `ModelReadingError` of kind `damaged`.
    static func read(_ data: Data) throws -> PropertyListValue {
        try value(ofList: ModelElementParser.parse(data, file: nil))
    }

    /// Reads a list that is an element of another file.
    /// - Throws: `ModelReadingError` of kind `damaged`.
    package static func value(ofList root: ModelElement) throws -> PropertyListValue {
        guard root.name == "plist", root.children.count == 1 else {
            throw damaged("it is not one 'plist' with one value", root)
        }
        return try value(of: root.children[0])
    }

    private static func value(of element: ModelElement) throws -> PropertyListValue {
        switch element.name {
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "string": return .string(element.content)
        case "integer": return try integer(element)
        case "real":
            guard let value = Double(trimmed(element)) else { throw damaged("a 'real' is no number", element) }
            return .real(value)
        case "date":
            guard let date = ISO8601DateFormatter().date(from: trimmed(element)) else {
                throw damaged("a 'date' is none", element)
            }
            return .date(date.timeIntervalSinceReferenceDate)
        case "data":
            guard let data = Data(base64Encoded: element.content.filter { !$0.isWhitespace }) else {
                throw damaged("a 'data' is not in base 64", element)
            }
            return .data(data)
        case "array": return .array(try element.children.map { try value(of: $0) })
        case "dict":
            var entries: [String: PropertyListValue] = [:]
            var children = element.children[...]
            while let key = children.popFirst() {
                guard key.name == "key", let child = children.popFirst() else {
                    throw damaged("a key has no value", key)
                }
                entries[key.content] = try value(of: child)
            }
            return .dictionary(entries)
        default: throw damaged("'\(element.name)' is no kind of value", element)
        }
    }

    private static func integer(_ element: ModelElement) throws -> PropertyListValue {
        let text = trimmed(element)
        if let value = Int64(text) { return .integer(value) }
        if let value = UInt64(text) { return .unsignedInteger(value) }
        if text.hasPrefix("0x"), let value = Int64(text.dropFirst(2), radix: 16) { return .integer(value) }
        throw damaged("an 'integer' is no number, or too large", element)
    }

    private static func trimmed(_ element: ModelElement) -> String {
        element.content.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func damaged(_ problem: String, _ element: ModelElement) -> ModelReadingError {
        ModelReadingError.damagedArchive("The property list is damaged in line \(element.line): \(problem).")
    }
}
