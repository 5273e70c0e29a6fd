import Foundation

/// The forms of attribute values at the untyped edge of the interface.
enum AttributeValue {
    /// Returns a value in the form that attributes of a type have: `NSNumber`, and Swift's values
    /// for Foundation's immutable classes. Everything else stays as it is.
    static func normalized(_ value: Any, for type: NSAttributeType) -> Any {
        switch value {
        case let value as NSNumber: return number(value, for: type)
        case let value as Decimal: return NSDecimalNumber(decimal: value)
        case let value as Bool: return number(NSNumber(value: value), for: type)
        case let value as Double: return number(NSNumber(value: value), for: type)
        case let value as Float: return number(NSNumber(value: value), for: type)
        case let value as any BinaryInteger: return number(integer(value), for: type)
        case is NSMutableString, is NSMutableData: return value
        case let value as NSString: return value as String
        case let value as NSData: return value as Data
        case let value as NSDate: return value as Date
        case let value as NSUUID: return value as UUID
        case let value as NSURL: return value as URL
        default: return value
        }
    }

    private static func integer(_ value: any BinaryInteger) -> NSNumber {
        if let signed = Int64(exactly: value) { return NSNumber(value: signed) }
        return NSNumber(value: UInt64(truncatingIfNeeded: value))
    }

    private static func number(_ value: NSNumber, for type: NSAttributeType) -> NSNumber {
        guard type == .decimalAttributeType, !(value is NSDecimalNumber) else { return value }
        return NSDecimalNumber(decimal: value.decimalValue)
    }
}
