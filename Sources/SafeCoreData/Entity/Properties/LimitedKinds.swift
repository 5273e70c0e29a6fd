// The kinds of attributes that options may limit. The compiler checks for them before the model
// does.

/// The kind of an attribute that is stored as a number or a date.
public protocol _NumberOrDateKind: _AttributeKind {}

/// The kind of an attribute that is stored as a text.
public protocol _TextKind: _AttributeKind {}

/// A type that is stored as a number or a date.
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

extension _NativeProperty: _NumberOrDateKind where Value: NumberOrDate {}
extension _OptionalNativeProperty: _NumberOrDateKind where Wrapped: NumberOrDate {}
extension _RawProperty: _NumberOrDateKind where Value.RawValue: NumberOrDate {}
extension _OptionalRawProperty: _NumberOrDateKind where Wrapped.RawValue: NumberOrDate {}
extension _DecimalNumberProperty: _NumberOrDateKind {}
extension _OptionalDecimalNumberProperty: _NumberOrDateKind {}

extension _NativeProperty: _TextKind where Value == String {}
extension _OptionalNativeProperty: _TextKind where Wrapped == String {}
extension _RawProperty: _TextKind where Value.RawValue == String {}
extension _OptionalRawProperty: _TextKind where Wrapped.RawValue == String {}
