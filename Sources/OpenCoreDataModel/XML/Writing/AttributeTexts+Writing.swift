import Foundation

// The counterpart of reading: texts from which reading makes the same values.
extension AttributeTexts {
    /// Returns the text of a default value; nil when the type has no text for it.
    func text(ofDefault value: Any) -> String? {
        switch (type, value) {
        case (.stringAttributeType, let value as String): value
        case (.booleanAttributeType, let value as NSNumber): value.boolValue ? "YES" : "NO"
        case (.UUIDAttributeType, let value as UUID): value.uuidString
        case (.URIAttributeType, let value as URL): value.absoluteString.isEmpty ? nil : value.absoluteString
        default: text(ofLimit: value)
        }
    }

    /// Returns the text of a number or a date; nil when the type has no text for it.
    func text(ofLimit value: Any) -> String? {
        switch (type, value) {
        case (.dateAttributeType, let value as Date): text(of: value.timeIntervalSinceReferenceDate)
        case (.integer16AttributeType, let value as NSNumber), (.integer32AttributeType, let value as NSNumber),
            (.integer64AttributeType, let value as NSNumber):
            isInteger(value) ? "\(value.int64Value)" : nil
        case (.doubleAttributeType, let value as NSNumber): value.doubleValue.isFinite ? "\(value.doubleValue)" : nil
        case (.floatAttributeType, let value as NSNumber): value.floatValue.isFinite ? "\(value.floatValue)" : nil
        case (.decimalAttributeType, let value as NSNumber): value.decimalValue.isNaN ? nil : "\(value.decimalValue)"
        default: nil
        }
    }

    private func isInteger(_ number: NSNumber) -> Bool {
        NSNumber(value: number.int64Value) == number || number.decimalValue == Decimal(number.int64Value)
    }

    private func text(of seconds: Double) -> String? {
        guard seconds.isFinite else { return nil }
        return Int64(exactly: seconds).map { "\($0)" } ?? "\(seconds)"
    }
}

extension NSAttributeDescription {
    /// The default value as model files write it; nil when it has no text.
    package var defaultValueText: String? {
        defaultValue.flatMap { AttributeTexts(type: attributeType).text(ofDefault: $0) }
    }

    /// Returns a number or a date as model files write it; nil for any other value.
    package func limitText(_ value: Any) -> String? { AttributeTexts(type: attributeType).text(ofLimit: value) }
}
