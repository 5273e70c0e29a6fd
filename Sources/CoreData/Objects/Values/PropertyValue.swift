import Foundation

/// The value of an attribute or to-one relationship, in a store's or a context's form.
enum PropertyValue {
    case stored(StoredValue)
    /// A to-one destination in the same context, possibly not saved yet.
    case object(NSManagedObject)
    /// The object of a transformable or undefined attribute.
    case custom(CustomValue)

    static var null: PropertyValue { .stored(.null) }

    init(_ value: AttributeValue) {
        switch value {
        case .stored(let value): self = .stored(value)
        case .custom(let value): self = .custom(value)
        }
    }

    /// Nil if the type of `object` does not fit the property's.
    init?(_ object: Any?, kind: ValueKind) {
        if kind == .toOne {
            guard let object = PropertyConversion.present(object) else {
                self = .null
                return
            }
            guard let destination = object as? NSManagedObject else { return nil }
            self = .object(destination)
        } else {
            guard let value = PropertyConversion.value(from: object, kind: kind) else { return nil }
            self.init(value)
        }
    }

    var isNull: Bool {
        if case .stored(.null) = self { return true }
        return false
    }

    /// Whether this is a number, date or decimal that is not a number. Stores keep it as nil.
    var isNotANumber: Bool {
        if case .stored(let value) = self { return value.isNotANumber }
        return false
    }

    /// The object of a to-one destination; nil for any other value.
    @inline(__always)
    var destination: NSManagedObject? {
        if case .object(let object) = self { return object }
        return nil
    }

    /// The row of a to-one destination of which only the row is known; nil for any other value.
    var reference: RowReference? {
        if case .stored(.reference(let reference)) = self { return reference }
        return nil
    }

    /// The value for key-value coding; nil for a reference, which needs a context.
    func object(kind: ValueKind) -> Any? {
        switch self {
        case .stored(let value): PropertyConversion.object(from: value, kind: kind)
        case .object(let object): object
        case .custom(let custom): custom.value
        }
    }

    /// The value in a store's form. To-one destinations must have a row.
    ///
    /// - Throws: a validation error when a transformable cannot be transformed.
    func stored(_ slot: PropertySlot) throws -> StoredValue {
        switch self {
        case .stored(let value): value
        case .object(let destination): .reference(destination.rowReference)
        case .custom(let custom): try PropertyConversion.storeValue(.custom(custom), slot: slot)
        }
    }
}

extension NSManagedObject {
    /// A reference to the object's row, by its current key.
    @inline(__always)
    final var rowReference: RowReference { RowReference(key: key, layoutIndex: layout.index) }
}
