/// A type whose values a store can put in an order: numbers, texts, dates, bytes and identifiers, optional ones too.
///
/// Types with raw values of these are sorted by their raw values. An object that a relationship leads to is sorted by its key, which
/// says nothing: name one of its properties, `\.supplier?.name`. Relationships with several objects have no order, nor have `Codable`
/// and transformable values, which stores keep as bytes.
///
/// ```swift
/// let byDate = Ordering<Item>.descending(\.created)       // Date is sortable; Set<Tag> would not compile
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
    /// Smaller raw values first.
    public static func ascending<Value: RawRepresentable>(_ keyPath: KeyPath<Object, Value>) -> Ordering
    where Value.RawValue: NativeAttributeValue {
        by(keyPath, isAscending: true)
    }

    /// Smaller raw values first, nil before all others.
    public static func ascending<Value: RawRepresentable>(_ keyPath: KeyPath<Object, Value?>) -> Ordering
    where Value.RawValue: NativeAttributeValue {
        by(keyPath, isAscending: true)
    }

    /// Greater raw values first.
    public static func descending<Value: RawRepresentable>(_ keyPath: KeyPath<Object, Value>) -> Ordering
    where Value.RawValue: NativeAttributeValue {
        by(keyPath, isAscending: false)
    }

    /// Greater raw values first, nil after all others.
    public static func descending<Value: RawRepresentable>(_ keyPath: KeyPath<Object, Value?>) -> Ordering
    where Value.RawValue: NativeAttributeValue {
        by(keyPath, isAscending: false)
    }

    // MARK: What has no order

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
