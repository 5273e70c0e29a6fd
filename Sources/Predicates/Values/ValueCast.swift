import Foundation

enum ValueCast {
    /// Returns the value of a cast whose parts are literals. Dates and the like then need no work
    /// at evaluation. `nil` when the cast has to wait until evaluation: its type is not one of
    /// those that stand for a literal.
    static func literal(_ value: Any?, as typeName: String) -> Any? {
        switch (typeName, ComparableValue(value)) {
        case ("NSNumber", .string(let text)) where Double(text)?.isFinite == false: return Double(text)
        case ("NSDate", _), ("NSUUID", _), ("NSURL", _), ("NSData", _), ("NSDecimalNumber", _):
            return cast(value, to: typeName)
        default: return nil
        }
    }

    static func cast(_ value: Any?, to typeName: String) -> Any? {
        let value = ComparableValue(value)
        switch typeName {
        case "NSDate":
            if case .date = value { return value.value }
            return number(value).map { Date(timeIntervalSinceReferenceDate: $0) }
        case "NSNumber":
            if case .date(let seconds) = value { return seconds }
            if case .string(let text) = value { return Int(text) ?? Double(text) }
            return value.doubleValue == nil ? nil : value.value
        case "NSDecimalNumber":
            if case .string(let text) = value { return Decimal(string: text) }
            return value.decimalValue
        case "NSString":
            if case .date(let seconds) = value { return "\(Date(timeIntervalSinceReferenceDate: seconds))" }
            return value.stringValue
        case "NSUUID":
            if case .object(let id as UUID) = value { return id }
            return value.stringValue.flatMap { UUID(uuidString: $0) }
        case "NSURL":
            if case .object(let url as URL) = value { return url }
            return value.stringValue.flatMap { URL(string: $0) }
        case "NSData":
            if case .object(let data as Data) = value { return data }
            return value.stringValue.flatMap { Data(base64Encoded: $0) }
        default:
            return nil
        }
    }

    private static func number(_ value: ComparableValue) -> Double? {
        if case .string(let text) = value { return Double(text) }
        return value.doubleValue
    }
}
