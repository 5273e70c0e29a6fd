import Foundation

/// Converts the numbers that expressions return to `NSNumber`, which can be cast to every type of
/// number.
enum NumberBoxing {
    /// Returns a number as `NSNumber`, values that no set can hold as an array, and all else
    /// unchanged.
    static func boxed(_ value: Any?) -> Any? {
        guard let value else { return nil }
        // An NSNumber can be cast to these types as well, so its own type is checked first.
        if type(of: value) is AnyClass { return value }
        return switch value {
        case let number as Bool: NSNumber(value: number)
        case let number as Int: NSNumber(value: number)
        case let number as Double: NSNumber(value: number)
        case let number as Int64: NSNumber(value: number)
        case let number as Int32: NSNumber(value: number)
        case let number as Int16: NSNumber(value: number)
        case let number as Int8: NSNumber(value: number)
        case let number as UInt: NSNumber(value: number)
        case let number as UInt64: NSNumber(value: number)
        case let number as UInt32: NSNumber(value: number)
        case let number as UInt16: NSNumber(value: number)
        case let number as UInt8: NSNumber(value: number)
        case let number as Float: NSNumber(value: number)
        case let number as CGFloat: NSNumber(value: Double(number))
        case let values as DistinctValues: values.values
        default: value
        }
    }
}
