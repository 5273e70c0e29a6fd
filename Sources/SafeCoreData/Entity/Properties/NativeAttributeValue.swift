/// A type that an attribute stores without conversion.
///
/// The requirements are for generated code: they access the object's storage directly.
public protocol NativeAttributeValue: Hashable, Codable, Sendable {
    /// The attribute type that can hold every value.
    static var _attributeType: NSAttributeType { get }
    static func _get(_ object: NSManagedObject, _ name: StaticString) -> Self
    static func _getOptional(_ object: NSManagedObject, _ name: StaticString) -> Self?
    static func _set(_ value: Self, _ object: NSManagedObject, _ name: StaticString)
    static func _setOptional(_ value: Self?, _ object: NSManagedObject, _ name: StaticString)
    /// Returns the value in a row; nil for a null.
    static func _get(_ row: _StoredRow, _ name: StaticString) -> Self?
    /// The value as which a missing value of a required attribute reads.
    static var _empty: Self { get }
}
