/// A type that an attribute stores without conversion.
///
/// The requirements are for generated code: they access the object's storage directly.
public protocol NativeAttributeValue: Hashable, Codable, ReadOnlyValue, SortableValue {
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

// Each type calls the engine's own accessor, so that the compiler selects its overload: nothing is
// boxed or converted twice.

extension NativeAttributeValue {
    @inlinable @inline(__always)
    public static func _set(_ value: Self, _ object: NSManagedObject, _ name: StaticString) {
        _setOptional(value, object, name)
    }
}

extension NativeAttributeValue where Self: ExpressibleByIntegerLiteral {
    @inlinable public static var _empty: Self { 0 }
}

extension NativeAttributeValue where Self: FixedWidthInteger {
    @inlinable @inline(__always)
    public static func _get(_ object: NSManagedObject, _ name: StaticString) -> Self {
        Self(truncatingIfNeeded: object._managedValue(forSlotNamed: name) as Int64)
    }
    @inlinable @inline(__always)
    public static func _getOptional(_ object: NSManagedObject, _ name: StaticString) -> Self? {
        object._managedValue(forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _set(_ value: Self, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(Int64(truncatingIfNeeded: value), forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _setOptional(_ value: Self?, _ object: NSManagedObject, _ name: StaticString) {
        object._setManagedValue(value, forSlotNamed: name)
    }
    @inlinable @inline(__always)
    public static func _get(_ row: _StoredRow, _ name: StaticString) -> Self? {
        row._integer(name).map { Self(truncatingIfNeeded: $0) }
    }
}

extension Int8: NumberOrDate { public static var _attributeType: NSAttributeType { .integer16AttributeType } }
extension Int16: NumberOrDate { public static var _attributeType: NSAttributeType { .integer16AttributeType } }
extension Int32: NumberOrDate { public static var _attributeType: NSAttributeType { .integer32AttributeType } }
extension Int64: NumberOrDate { public static var _attributeType: NSAttributeType { .integer64AttributeType } }
extension Int: NumberOrDate { public static var _attributeType: NSAttributeType { .integer64AttributeType } }
extension UInt8: NumberOrDate { public static var _attributeType: NSAttributeType { .integer16AttributeType } }
extension UInt16: NumberOrDate { public static var _attributeType: NSAttributeType { .integer32AttributeType } }
extension UInt32: NumberOrDate { public static var _attributeType: NSAttributeType { .integer64AttributeType } }
extension UInt64: NumberOrDate { public static var _attributeType: NSAttributeType { .integer64AttributeType } }
extension UInt: NumberOrDate { public static var _attributeType: NSAttributeType { .integer64AttributeType } }
