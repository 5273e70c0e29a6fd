import Predicates

/// The texts in a model file for an attribute's default value and the limits of its values.
struct AttributeTexts {
    let type: NSAttributeType

    /// Creates an error from a problem and an advice.
    typealias Failure = (_ problem: String, _ advice: String) -> ModelReadingError

    /// Returns the default value; nil when the element has none.
    func defaultValue(of element: ModelElement, failure: Failure) throws -> Any? {
        if type == .dateAttributeType {
            return try element.text("defaultDateTimeInterval").map { try date($0, "default", failure) }
        }
        guard let text = element.attributes["defaultValueString"] else { return nil }
        switch type {
        case .stringAttributeType: return text
        case .booleanAttributeType:
            return Self.trimmed(text).isEmpty ? nil : NSNumber(value: Self.truth(text))
        case .UUIDAttributeType:
            // Editors accept any text here, and applications ship with such models: a text that is
            // not a UUID is no default.
            return UUID(uuidString: text)
        case .URIAttributeType:
            if text.isEmpty { return nil }
            guard let value = URL(string: text) else { throw wrong(text, "default", failure) }
            return value
        default: return !type.isNumeric || Self.trimmed(text).isEmpty ? nil : try number(text, "default", failure)
        }
    }

    /// Returns the limits that the element contains.
    func limits(of element: ModelElement, failure: Failure) throws -> [AttributeLimit] {
        switch type {
        case .stringAttributeType: return try textLimits(of: element, failure: failure)
        case .dateAttributeType:
            let least = try element.text("minDateTimeInterval").map { try date($0, "minimum", failure) }
            let greatest = try element.text("maxDateTimeInterval").map { try date($0, "maximum", failure) }
            return AttributeLimit.dates(from: least, to: greatest)
        default:
            guard type.isNumeric else { return [] }
            let least = try element.text("minValueString").map { try number($0, "minimum", failure) }
            let greatest = try element.text("maxValueString").map { try number($0, "maximum", failure) }
            return AttributeLimit.numbers(from: least, to: greatest)
        }
    }

    private func textLimits(of element: ModelElement, failure: Failure) throws -> [AttributeLimit] {
        let least = try element.text("minValueString").map { try length($0, "minimum", failure) }
        let greatest = try element.text("maxValueString").map { try length($0, "maximum", failure) }
        let lengths = AttributeLimit.lengths(from: least, to: greatest)
        return lengths + (element.text("regularExpressionString").map { [AttributeLimit.pattern($0)] } ?? [])
    }

    private static func trimmed(_ text: String) -> String { text.trimmingCharacters(in: .whitespacesAndNewlines) }

    /// Reads a truth value as `NSString.boolValue` does. After a sign and zeros, a digit from 1, a
    /// Y or a T means true.
    private static func truth(_ text: String) -> Bool {
        let rest = trimmed(text).drop { $0 == "+" || $0 == "-" }.drop { $0 == "0" }
        return rest.first.map { "123456789YyTt".contains($0) } ?? false
    }

    /// The texts that the editor leaves for a number when the attribute was a Boolean before.
    private static let truthNumbers = ["yes": "1", "true": "1", "no": "0", "false": "0"]

    private func length(_ text: String, _ role: String, _ failure: Failure) throws -> NSNumber {
        let trimmed = Self.trimmed(text)
        guard let value = Int(trimmed) ?? Double(trimmed).flatMap({ Int(exactly: $0) }), value >= 0 else {
            throw wrong(text, role, failure)
        }
        return NSNumber(value: value)
    }

    private func date(_ text: String, _ role: String, _ failure: Failure) throws -> Date {
        guard let seconds = Double(Self.trimmed(text)), seconds.isFinite else { throw wrong(text, role, failure) }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    private func number(_ given: String, _ role: String, _ failure: Failure) throws -> NSNumber {
        let trimmed = Self.trimmed(given)
        let text = Self.truthNumbers[trimmed.lowercased()] ?? trimmed
        guard let value = Double(text), value.isFinite else { throw wrong(given, role, failure) }
        switch type {
        case .decimalAttributeType:
            guard let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")), !value.isNaN else {
                throw wrong(given, role, failure)
            }
            return NSDecimalNumber(decimal: value)
        case .doubleAttributeType: return NSNumber(value: value)
        case .floatAttributeType: return NSNumber(value: Float(value))
        default:
            // A fraction is cut off, as the framework's model compiler does.
            guard let value = Int64(text) ?? Int64(exactly: value.rounded(.towardZero)) else {
                throw wrong(given, role, failure)
            }
            return NSNumber(value: value)
        }
    }

    private func wrong(_ text: String, _ role: String, _ failure: Failure) -> ModelReadingError {
        failure("The \(role) '\(text)' is not a value of the attribute's type.", "Correct the value or the type.")
    }
}
