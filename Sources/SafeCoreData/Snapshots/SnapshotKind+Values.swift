// Attributes whose values differ from the stored ones: Foundation's decimal class, Codable types,
// transformables.

extension _DecimalNumberProperty: _SnapshotKind {
    public static func _stored(_ object: NSManagedObject, _ name: StaticString) -> Decimal {
        Decimal._get(object, name)
    }
    public static func _stored(_ row: _StoredRow, _ name: StaticString) -> Decimal { row._decimal(name) ?? 0 }
    public static func _stored(_ value: NSDecimalNumber) -> Decimal { value.decimalValue }
    public static func _value(_ stored: Decimal) -> NSDecimalNumber { NSDecimalNumber(decimal: stored) }

    public static func _assign(
        _ stored: Decimal, _ object: NSManagedObject, _ name: StaticString,
        _ objects: [ObjectReference: NSManagedObject]
    ) {
        Decimal._set(stored, object, name)
    }
}

extension _OptionalDecimalNumberProperty: _SnapshotKind {
    public static func _stored(_ object: NSManagedObject, _ name: StaticString) -> Decimal? {
        Decimal._getOptional(object, name)
    }
    public static func _stored(_ row: _StoredRow, _ name: StaticString) -> Decimal? { row._decimal(name) }
    public static func _stored(_ value: NSDecimalNumber?) -> Decimal? { value?.decimalValue }
    public static func _value(_ stored: Decimal?) -> NSDecimalNumber? { stored.map { NSDecimalNumber(decimal: $0) } }

    public static func _assign(
        _ stored: Decimal?, _ object: NSManagedObject, _ name: StaticString,
        _ objects: [ObjectReference: NSManagedObject]
    ) {
        Decimal._setOptional(stored, object, name)
    }
}

extension _CodedProperty: _JSONSnapshotKind {
    public typealias SnapshotValue = Value

    public static func _samples() -> [Any]? { PropertySamples.encoded(Value.self) }
    public static func _uncodedProperties() -> [String] { PropertySamples.uncodedProperties(of: Value.self) }

    public static func _stored(_ object: NSManagedObject, _ name: StaticString) -> Data { Data._get(object, name) }
    public static func _stored(_ row: _StoredRow, _ name: StaticString) -> Data { row._data(name) ?? Data() }

    public static func _assign(
        _ stored: Data, _ object: NSManagedObject, _ name: StaticString, _ objects: [ObjectReference: NSManagedObject]
    ) {
        // A missing value stays missing: the save then reports that it is required.
        Data._setOptional(stored.isEmpty ? nil : stored, object, name)
    }
}

extension _OptionalCodedProperty: _OptionalJSONSnapshotKind {
    public static func _samples() -> [Any]? { PropertySamples.encoded(Wrapped.self) }
    public static func _uncodedProperties() -> [String] { PropertySamples.uncodedProperties(of: Wrapped.self) }

    public static func _stored(_ object: NSManagedObject, _ name: StaticString) -> Data? {
        Data._getOptional(object, name)
    }
    public static func _stored(_ row: _StoredRow, _ name: StaticString) -> Data? { row._data(name) }

    public static func _assign(
        _ stored: Data?, _ object: NSManagedObject, _ name: StaticString, _ objects: [ObjectReference: NSManagedObject]
    ) {
        Data._setOptional(stored, object, name)
    }
}

// A snapshot holds the bytes that the transformer made: the values themselves need not be
// `Sendable`.
extension _SnapshotKind where Stored == Data?, SnapshotValue == Data?, Self: _TransformableKind {
    public static func _stored(_ object: NSManagedObject, _ name: StaticString) -> Data? {
        object.transformedDataIfAny(forKey: name.description)
    }
    public static func _stored(_ row: _StoredRow, _ name: StaticString) -> Data? { row._data(name) }

    public static func _assign(
        _ stored: Data?, _ object: NSManagedObject, _ name: StaticString, _ objects: [ObjectReference: NSManagedObject]
    ) {
        object.setTransformedData(stored, forKey: name.description)
    }
}

/// The kinds of properties whose values a transformer turns into bytes.
public protocol _TransformableKind: _EntityPropertyKind {}

extension _TransformableProperty: _SnapshotKind, _TransformableKind {
    public typealias Stored = Data?
    public typealias SnapshotValue = Data?
}

extension _OptionalTransformableProperty: _SnapshotKind, _TransformableKind {
    public typealias Stored = Data?
    public typealias SnapshotValue = Data?
}
