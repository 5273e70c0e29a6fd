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

extension Bool: SortableValue {}
extension Int: SortableValue {}
extension Int8: SortableValue {}
extension Int16: SortableValue {}
extension Int32: SortableValue {}
extension Int64: SortableValue {}
extension UInt: SortableValue {}
extension UInt8: SortableValue {}
extension UInt16: SortableValue {}
extension UInt32: SortableValue {}
extension UInt64: SortableValue {}
extension Double: SortableValue {}
extension Float: SortableValue {}
extension Decimal: SortableValue {}
extension String: SortableValue {}
extension Date: SortableValue {}
extension Data: SortableValue {}
extension UUID: SortableValue {}
extension URL: SortableValue {}
extension NSNumber: SortableValue {}
extension NSManagedObject: SortableValue {}
extension Optional: SortableValue where Wrapped: SortableValue {}

extension Ordering {
    /// Sorts smaller raw values first.
    public static func ascending<Value: RawRepresentable>(_ keyPath: KeyPath<Object, Value>) -> Ordering
    where Value.RawValue: NativeAttributeValue {
        by(keyPath, isAscending: true)
    }

    /// Sorts smaller raw values first, nil before all others.
    public static func ascending<Value: RawRepresentable>(_ keyPath: KeyPath<Object, Value?>) -> Ordering
    where Value.RawValue: NativeAttributeValue {
        by(keyPath, isAscending: true)
    }

    /// Sorts greater raw values first.
    public static func descending<Value: RawRepresentable>(_ keyPath: KeyPath<Object, Value>) -> Ordering
    where Value.RawValue: NativeAttributeValue {
        by(keyPath, isAscending: false)
    }

    /// Sorts greater raw values first, nil after all others.
    public static func descending<Value: RawRepresentable>(_ keyPath: KeyPath<Object, Value?>) -> Ordering
    where Value.RawValue: NativeAttributeValue {
        by(keyPath, isAscending: false)
    }

    // MARK: Values without an order

    @available(
        *, unavailable,
        message: """
            no store can sort by this: relationships with several objects, Codable and transformable values have no order; sort by a \
            number, text, date or raw value, or sort the result
            """
    )
    @_disfavoredOverload
    public static func ascending<Value>(_ keyPath: KeyPath<Object, Value>) -> Ordering { by(keyPath, isAscending: true) }

    @available(
        *, unavailable,
        message: """
            no store can sort by this: relationships with several objects, Codable and transformable values have no order; sort by a \
            number, text, date or raw value, or sort the result
            """
    )
    @_disfavoredOverload
    public static func descending<Value>(_ keyPath: KeyPath<Object, Value>) -> Ordering { by(keyPath, isAscending: false) }
}
