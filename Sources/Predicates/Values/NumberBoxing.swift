import Foundation

/// How numbers leave expressions: as `NSNumber`, which can be cast to every type of number that holds the value.
///
/// On a Mac the value of `NSExpression(format: "2 * 3")` is an `NSNumber` and may be cast to `Int` and to `Double`; a Swift
/// `Int` in an `Any` could be cast to `Int` only.
enum NumberBoxing {
    /// A number of Swift's as `NSNumber`, and values that no set can hold as an array; any other value as it is.
    static func boxed(_ value: Any?) -> Any? {
        guard let value else { return nil }
        // An NSNumber casts to these types as well: what the value is must be asked first.
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
