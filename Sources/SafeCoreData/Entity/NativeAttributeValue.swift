/// A type that an attribute holds as it is.
///
/// The requirements are for generated code: they lead straight to the object's storage.
public protocol NativeAttributeValue: Hashable, Codable, Sendable {
    /// The attribute type that holds every value.
    static var _attributeType: NSAttributeType { get }
    static func _get(_ object: NSManagedObject, _ name: StaticString) -> Self
    static func _getOptional(_ object: NSManagedObject, _ name: StaticString) -> Self?
    static func _set(_ value: Self, _ object: NSManagedObject, _ name: StaticString)
    static func _setOptional(_ value: Self?, _ object: NSManagedObject, _ name: StaticString)
    /// The value in a row; nil for a null.
    static func _get(_ row: _StoredRow, _ name: StaticString) -> Self?
    /// What a missing value of a required attribute reads as.
    static var _empty: Self { get }
}
