import Foundation

/// A row of a store, named by primary key and entity.
struct RowReference: Hashable, Sendable {
    /// `Z_PK`, unique within the table of the entity's root entity.
    var key: Int64
    /// Index of the concrete entity's layout in the model (`ModelLayout.layouts`).
    var layoutIndex: Int
}

/// One property value outside a row snapshot: a pending change, a default, a bound argument.
///
/// 17 bytes, no allocation for numbers, short strings and references. The cases say how the value is held, not the
/// attribute's type: a date is `.double` (seconds since 2001), a boolean `.integer` (0 or 1).
enum PropertyValue {
    case null
    case integer(Int64)
    case double(Double)
    case string(String)
    case data(Data)
    case uuid(UUID)
    indirect case decimal(Decimal)
    /// A to-one destination that is a row of the same store.
    case reference(RowReference)
    /// A to-one destination in the same context, possibly not saved yet: an object, which only contexts know. No store gets it.
    case object(AnyObject)
    /// Any other value: a transformable's or an undefined attribute's object. No store gets it.
    case custom(CustomValue)

    var isNull: Bool {
        if case .null = self { return true }
        return false
    }

    /// Whether this is a number, date or decimal that is not a number. Stores keep it as nil.
    var isNotANumber: Bool {
        switch self {
        case .double(let double): double.isNaN
        case .decimal(let decimal): decimal.isNaN
        default: false
        }
    }
}

/// A value that the framework only carries: the object of a transformable or undefined attribute.
final class CustomValue {
    let value: Any

    init(_ value: Any) {
        self.value = value
    }
}
