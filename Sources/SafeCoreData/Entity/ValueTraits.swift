// What may be done with the values of a type, besides storing them. Every native type can be
// returned by views and sorted: `NativeAttributeValue` inherits from both protocols.

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

extension NSNumber: ReadOnlyValue {}
extension NSManagedObjectID: ReadOnlyValue {}
extension NSEntityDescription: ReadOnlyValue {}
extension Optional: ReadOnlyValue where Wrapped: ReadOnlyValue {}
extension Array: ReadOnlyValue where Element: ReadOnlyValue {}
extension Set: ReadOnlyValue where Element: ReadOnlyValue {}
extension Dictionary: ReadOnlyValue where Key: ReadOnlyValue, Value: ReadOnlyValue {}

/// A type whose values a store can sort: numbers, texts, dates, bytes and identifiers, and
/// optionals of these.
///
/// Types with such raw values are sorted by their raw values. A to-one relationship would be sorted
/// by the primary key of its destination, which is meaningless: name a property of the destination,
/// `\.supplier?.name`. To-many relationships have no order, and neither have `Codable` and
/// transformable values, which are stored as bytes.
///
/// ```swift
/// // Date is sortable; Set<Tag> would not compile
/// let byDate = Ordering<Item>.descending(\.created)
/// ```
public protocol SortableValue {}

extension NSNumber: SortableValue {}
extension NSManagedObject: SortableValue {}
extension Optional: SortableValue where Wrapped: SortableValue {}

// The kinds of attributes that options may limit. The compiler checks for them before the model
// does.

/// The kind of an attribute that is stored as a number or a date.
public protocol _NumberOrDateKind: _AttributeKind {}

/// The kind of an attribute that is stored as a text.
public protocol _TextKind: _AttributeKind {}

/// A type that is stored as a number or a date.
public protocol NumberOrDate: NativeAttributeValue {}

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
