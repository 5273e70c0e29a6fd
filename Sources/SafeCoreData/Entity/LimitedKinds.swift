// The kinds of attributes that options may limit: the compiler asks for them before the model does.

/// The kind of an attribute that is stored as a number or a date.
public protocol NumberOrDateKind: AttributeKind {}

/// The kind of an attribute that is stored as a text.
public protocol TextKind: AttributeKind {}

/// A type that an attribute holds as a number or a date.
public protocol NumberOrDate: NativeAttributeValue {}

extension Int: NumberOrDate {}
extension Int8: NumberOrDate {}
extension Int16: NumberOrDate {}
extension Int32: NumberOrDate {}
extension Int64: NumberOrDate {}
extension UInt: NumberOrDate {}
extension UInt8: NumberOrDate {}
extension UInt16: NumberOrDate {}
extension UInt32: NumberOrDate {}
extension UInt64: NumberOrDate {}
extension Double: NumberOrDate {}
extension Float: NumberOrDate {}
extension Decimal: NumberOrDate {}
extension Date: NumberOrDate {}

extension NativeProperty: NumberOrDateKind where Value: NumberOrDate {}
extension OptionalNativeProperty: NumberOrDateKind where Wrapped: NumberOrDate {}
extension RawProperty: NumberOrDateKind where Value.RawValue: NumberOrDate {}
extension OptionalRawProperty: NumberOrDateKind where Wrapped.RawValue: NumberOrDate {}
extension DecimalNumberProperty: NumberOrDateKind {}
extension OptionalDecimalNumberProperty: NumberOrDateKind {}

extension NativeProperty: TextKind where Value == String {}
extension OptionalNativeProperty: TextKind where Wrapped == String {}
extension RawProperty: TextKind where Value.RawValue == String {}
extension OptionalRawProperty: TextKind where Wrapped.RawValue == String {}
