import Foundation

/// Writes constants as literals. A constant without a literal form becomes a `CAST` of a literal.
enum LiteralPrinter {
    /// Whether the text must parse back to the same constant. Apple's text of some constants does
    /// not contain enough for that.
    @TaskLocal static var isForParser = false

    static func text(of value: Any?) -> String {
        guard let value = KeyValue.unwrapped(value) else { return value is NSNull && !isForParser ? "<null>" : "nil" }
        if !isForParser, let text = text(ofFloat: value) { return text }
        if let index = value as? CollectionIndex { return index.rawValue }
        switch ComparableValue(value) {
        case .null: return "nil"
        case .string(let text): return quoted(text)
        case .integer(let number): return String(number)
        case .double(let number): return double(number)
        case .decimal(let number): return decimal(number)
        case .date(let seconds): return "CAST(\(dateSeconds(seconds)), \"NSDate\")"
        case .collection(let collection):
            let elements = CollectionElements.of(collection) ?? []
            let texts = elements.map { text(of: $0) }
            return "{" + (CollectionElements.isOrdered(collection) ? texts : texts.sorted()).joined(separator: ", ")
                + "}"
        case .object(let object):
            switch object {
            case let id as UUID where !isForParser: return id.uuidString
            case let id as UUID: return "CAST(\"\(id.uuidString)\", \"NSUUID\")"
            case let url as URL: return "CAST(\(quoted(url.absoluteString)), \"NSURL\")"
            case let data as Data: return "CAST(\"\(data.base64EncodedString())\", \"NSData\")"
            case let expression as NSExpression: return expression.text
            default: return String(describing: object)
            }
        }
    }

    /// Returns a single-precision number with the fewest digits that distinguish it from other
    /// single-precision numbers.
    private static func text(ofFloat value: Any) -> String? {
        let number: Float
        if type(of: value) == Float.self, let float = value as? Float {
            number = float
        } else if let object = value as? NSNumber, String(cString: object.objCType) == "f" {
            number = object.floatValue
        } else {
            return nil
        }
        return number.isFinite && number != number.rounded() ? "\(number)" : nil
    }

    static func quoted(_ text: String) -> String {
        text.inQuotes { scalar in
            if scalar.value >= 0x20 { return nil }
            return (scalar.value < 0x10 ? "\\x0" : "\\x") + String(scalar.value, radix: 16)
        }
    }

    private static func double(_ number: Double) -> String {
        guard number.isFinite else { return "CAST(\"\(number)\", \"NSNumber\")" }
        if number == number.rounded(), abs(number) < 1e15 { return String(Int64(number)) }
        return "\(number)"
    }

    private static func decimal(_ number: Decimal) -> String {
        let text = "\(number)"
        let digits = text.count(where: \.isNumber)
        if digits <= 15 || !text.contains(".") && digits <= 38 { return text }
        return "CAST(\"\(text)\", \"NSDecimalNumber\")"
    }

    /// Writes six decimals, as Apple does, or more if needed to read back the same date.
    private static func dateSeconds(_ seconds: Double) -> String {
        let short = String(format: "%.6f", seconds)
        return Double(short) == seconds ? short : "\(seconds)"
    }
}
