import Foundation

extension PropertyValue {
    /// A to-one destination.
    @inline(__always)
    static func destination(_ object: NSManagedObject) -> PropertyValue { .object(object) }

    /// The object of a to-one destination; nil for any other value.
    @inline(__always)
    var destination: NSManagedObject? {
        // Nothing but managed objects is ever put there.
        if case .object(let object) = self { return unsafeDowncast(object, to: NSManagedObject.self) }
        return nil
    }
}

extension PendingValues {
    /// The object of a to-one destination in a slot; nil for any other value, and for none.
    @inline(__always)
    func destination(_ slot: Int) -> NSManagedObject? {
        withUnsafeMutablePointers { header, values in
            header.pointee.mask.contains(slot) ? values[slot].destination : nil
        }
    }
}

extension PropertyConversion {
    /// The value to keep for a property of an object, nil when `object`'s type does not fit the property's.
    static func objectValue(from object: Any?, kind: ValueKind) -> PropertyValue? {
        guard kind == .toOne else { return value(from: object, kind: kind) }
        guard let object = unwrapped(object), !(object is NSNull) else { return .null }
        return (object as? NSManagedObject).map(PropertyValue.destination)
    }

    /// The value in the form that a store keeps. To-one destinations must have a row.
    ///
    /// - Throws: a validation error when a transformable cannot be transformed.
    static func rowValue(_ value: PropertyValue, slot: PropertySlot) throws -> PropertyValue {
        guard let destination = value.destination else { return try storeValue(value, slot: slot) }
        return .reference(RowReference(key: destination.key, layoutIndex: destination.layout.index))
    }
}
