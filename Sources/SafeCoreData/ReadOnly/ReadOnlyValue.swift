/// A value that a read-only view returns as it is, because nothing can be changed through it.
///
/// The types of Core Data's attributes conform. A type of your own needs no conformance if it has
/// raw values or is `Codable`; any other type, such as that of a transformable attribute, adopts
/// this protocol:
///
/// ```swift
/// extension Color: ReadOnlyValue {}
/// ```
///
/// The compiler refuses types that are not `Sendable`, such as managed objects.
public protocol ReadOnlyValue: Sendable {}

extension Bool: ReadOnlyValue {}
extension Int: ReadOnlyValue {}
extension Int8: ReadOnlyValue {}
extension Int16: ReadOnlyValue {}
extension Int32: ReadOnlyValue {}
extension Int64: ReadOnlyValue {}
extension UInt: ReadOnlyValue {}
extension UInt8: ReadOnlyValue {}
extension UInt16: ReadOnlyValue {}
extension UInt32: ReadOnlyValue {}
extension UInt64: ReadOnlyValue {}
extension Double: ReadOnlyValue {}
extension Float: ReadOnlyValue {}
extension String: ReadOnlyValue {}
extension Date: ReadOnlyValue {}
extension UUID: ReadOnlyValue {}
extension URL: ReadOnlyValue {}
extension Data: ReadOnlyValue {}
extension Decimal: ReadOnlyValue {}
extension NSNumber: ReadOnlyValue {}
extension NSManagedObjectID: ReadOnlyValue {}
extension NSEntityDescription: ReadOnlyValue {}
extension Optional: ReadOnlyValue where Wrapped: ReadOnlyValue {}
extension Array: ReadOnlyValue where Element: ReadOnlyValue {}
extension Set: ReadOnlyValue where Element: ReadOnlyValue {}
extension Dictionary: ReadOnlyValue where Key: ReadOnlyValue, Value: ReadOnlyValue {}
