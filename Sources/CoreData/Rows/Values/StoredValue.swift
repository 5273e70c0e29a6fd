import Foundation

/// A reference to a row of a store, by primary key and entity.
package struct RowReference: Hashable, Sendable {
    /// `Z_PK`, unique within the table of the entity's root entity.
    package var key: Int64
    /// Index of the concrete entity's layout in the model (`ModelLayout.layouts`).
    package var layoutIndex: Int

    package init(key: Int64, layoutIndex: Int) {
        self.key = key
        self.layoutIndex = layoutIndex
    }
}

/// One property value in the form of stores, outside of a row: a change, a default, a bound
/// argument.
///
/// It takes 17 bytes, without an allocation for numbers, short strings and references. The cases
/// show how the value is held, not the attribute's type: a date is `.double` (seconds since 2001),
/// a boolean `.integer` (0 or 1).
package enum StoredValue: Hashable {
    case null
    case integer(Int64)
    case double(Double)
    case string(String)
    case data(Data)
    case uuid(UUID)
    indirect case decimal(Decimal)
    /// A to-one destination: a row of the same store.
    case reference(RowReference)

    /// Whether two values are equal: held in the same way, and texts with the same code points.
    package static func == (left: StoredValue, right: StoredValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.string(let left), .string(let right)): LiteralText.areSame(left, right)
        case (.data(let left), .data(let right)): left == right
        case (.uuid(let left), .uuid(let right)): left == right
        case (.decimal(let left), .decimal(let right)): left == right
        case (.reference(let left), .reference(let right)): left == right
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: break
        case .integer(let integer): hasher.combine(integer)
        case .double(let double): hasher.combine(double)
        case .string(let string): hasher.combine(LiteralText(string))
        case .data(let data): hasher.combine(data)
        case .uuid(let uuid): hasher.combine(uuid)
        case .decimal(let decimal): hasher.combine(decimal)
        case .reference(let reference): hasher.combine(reference)
        }
    }

    package var isNull: Bool {
        if case .null = self { return true }
        return false
    }

    /// Whether the bytes of both values are the same JSON value.
    func isSameJSON(as other: StoredValue) -> Bool {
        guard case (.data(let mine), .data(let theirs)) = (self, other) else { return false }
        return CanonicalJSON.areSame(mine, theirs)
    }

    /// Whether this is a number, date or decimal that is NaN. Stores keep it as nil.
    package var isNotANumber: Bool {
        switch self {
        case .double(let double): double.isNaN
        case .decimal(let decimal): decimal.isNaN
        default: false
        }
    }
}

/// The value of an attribute in memory: a value in the store's form, or an object that a
/// transformer converts to that form.
enum AttributeValue {
    case stored(StoredValue)
    case custom(CustomValue)

    static var null: AttributeValue { .stored(.null) }

    var isNull: Bool {
        if case .stored(.null) = self { return true }
        return false
    }
}

/// A value that the framework only passes on: the object of a transformable or undefined attribute.
final class CustomValue {
    let value: Any

    init(_ value: Any) {
        self.value = value
    }
}
