import Foundation

/// The values of attributes as texts of an XML file.
enum XMLValue {
    static func type(of slot: PropertySlot) -> String {
        switch slot.kind {
        case .int16: "int16"
        case .int32: "int32"
        case .int64: "int64"
        case .boolean: "bool"
        case .double: "double"
        case .float: "float"
        case .date: "date"
        case .decimal: "decimal"
        case .uuid: "uuid"
        case .uri: "uri"
        case .data, .json: "binary"
        case .transformable: "transformable"
        case .string, .composite, .toOne, .toMany, .orderedToMany, .fetched, .undefined: "string"
        }
    }

    /// As Apple's framework writes dates, but for those whose digits that form would lose.
    private static func date(_ seconds: Double) -> String {
        let text = String(format: "%.20f", seconds)
        return Double(text) == seconds ? text : "\(seconds)"
    }

    static func text(of value: StoredValue, _ slot: PropertySlot) -> String {
        switch value {
        case .null, .reference: ""
        case .integer(let value): "\(value)"
        case .double(let value) where slot.kind == .date: date(value)
        case .double(let value): shortest(slot.kind == .float ? "\(Float(value))" : "\(value)")
        case .decimal(let value): NSDecimalNumber(decimal: value).stringValue
        case .string(let text): text
        case .uuid(let value): value.uuidString
        case .data(let data):
            // Lines of 76 characters; the end tag is on a line of its own.
            XMLStoreText.lines(data.base64EncodedString(), of: 76).joined(separator: "\n")
                + (data.isEmpty ? "" : "\n        ")
        }
    }

    private static func shortest(_ text: String) -> String { text.hasSuffix(".0") ? String(text.dropLast(2)) : text }

    /// - Throws: `StoreFileProblem` for a text that is no value of the attribute's type.
    static func value(of text: String, _ slot: PropertySlot, _ object: FileObject) throws -> StoredValue {
        if slot.kind == .string { return .string(text) }
        let word = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if let value = value(of: word, slot.kind) { return value }
        throw StoreFileProblem.value(slot, object, text: word)
    }

    private static func value(of word: String, _ kind: ValueKind) -> StoredValue? {
        switch kind {
        case .int16: Int16(word).map { .integer(Int64($0)) }
        case .int32: Int32(word).map { .integer(Int64($0)) }
        case .int64: Int64(word).map { .integer($0) }
        case .boolean:
            ["0", "false", "no"].contains(word.lowercased())
                ? .integer(0)
                : ["1", "true", "yes"].contains(word.lowercased()) ? .integer(1) : nil
        case .float: Float(word).map { .double(Double($0)) }
        case .double, .date: Double(word).map { .double($0) }
        case .decimal:
            // Foundation ignores what follows a number.
            Double(word) == nil ? nil : Decimal(string: word, locale: .posix).map { .decimal($0) }
        case .uuid: UUID(uuidString: word).map { .uuid($0) }
        case .uri: .string(word)
        case .data, .json, .transformable:
            Data(base64Encoded: word, options: .ignoreUnknownCharacters).map { .data($0) }
        case .string, .composite, .toOne, .toMany, .orderedToMany, .fetched, .undefined: nil
        }
    }
}
