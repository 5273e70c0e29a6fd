import CoreData

/// Converts values to Swift expressions.
enum SwiftLiteral {
    static func dictionary(_ texts: [String: String]) -> String {
        "[" + texts.sorted { $0.key < $1.key }.map { "\(text($0.key)): \(text($0.value))" }.joined(separator: ", ")
            + "]"
    }

    static func text(_ text: String) -> String {
        text.inQuotes { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
                "\\u{\(String(scalar.value, radix: 16))}"
            default: nil
            }
        }
    }

    /// Returns a literal for a regular expression, without doubled backslashes if possible.
    static func pattern(_ pattern: String) -> String {
        let plain = text(pattern)
        let isRaw = pattern.contains("\\") && !pattern.contains("\"#") && !pattern.contains("\\#")
        let onlyBackslashes = plain.replacingOccurrences(of: "\\\\", with: "\\") == "\"\(pattern)\""
        return isRaw && onlyBackslashes ? "#\"\(pattern)\"#" : plain
    }

    static func list(_ names: [String]) -> String { "[\(names.map(text).joined(separator: ", "))]" }

    static func lists(_ lists: [[String]]) -> String { "[\(lists.map(list).joined(separator: ", "))]" }

    /// Returns the default value of an attribute; nil if Swift's type has no such value.
    static func defaultValue(of attribute: NSAttributeDescription) -> String? {
        if attribute.attributeType == .binaryDataAttributeType, let data = attribute.defaultValue as? Data {
            return data.isEmpty ? "Data()" : "Data(base64Encoded: \"\(data.base64EncodedString())\")!"
        }
        guard let text = attribute.defaultValueText else { return nil }
        switch attribute.attributeType {
        case .stringAttributeType: return self.text(text)
        case .booleanAttributeType: return text == "YES" ? "true" : "false"
        case .UUIDAttributeType: return "UUID(uuidString: \"\(text)\")!"
        case .URIAttributeType: return "URL(string: \(self.text(text)))!"
        default: return value(text, type: attribute.attributeType)
        }
    }

    /// Returns an expression for a number or date in the form of model files; nil if it is out of
    /// the range of Swift's type.
    static func value(_ text: String, type: NSAttributeType) -> String? {
        switch type {
        case .integer16AttributeType: Int16(text) == nil ? nil : text
        case .integer32AttributeType: Int32(text) == nil ? nil : text
        case .integer64AttributeType: Int64(text) == nil ? nil : text
        case .doubleAttributeType, .floatAttributeType: text
        case .decimalAttributeType: decimal(text)
        case .dateAttributeType: "Date(timeIntervalSinceReferenceDate: \(text))"
        default: nil
        }
    }

    /// Returns a literal if the compiler reads the same number from it, which it converts through
    /// `Double`.
    private static func decimal(_ text: String) -> String {
        if Int64(text) != nil { return text }
        if let double = Double(text), Decimal(string: text) == Decimal(double), text.contains(".") { return text }
        return "Decimal(string: \"\(text)\")!"
    }

    static func range(from least: String?, to greatest: String?) -> String {
        switch (least, greatest) {
        case (let least?, let greatest?): enclosed(least) + "..." + enclosed(greatest)
        case (let least?, nil): enclosed(least) + "..."
        case (nil, let greatest?): "..." + enclosed(greatest)
        case (nil, nil): "..."
        }
    }

    /// Encloses values in parentheses if their operators would be parsed together with the dots of
    /// a range.
    private static func enclosed(_ value: String) -> String {
        value.hasPrefix("-") || value.hasSuffix("!") ? "(\(value))" : value
    }
}
