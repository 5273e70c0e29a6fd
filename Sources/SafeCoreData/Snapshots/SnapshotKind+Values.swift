// Attributes whose values are not what the store keeps: Foundation's decimal class, Codable types, transformables.

extension DecimalNumberProperty: SnapshotKind {
    public static func _stored(_ object: NSManagedObject, _ name: StaticString) -> Decimal { Decimal._get(object, name) }
    public static func _stored(_ row: _StoredRow, _ name: StaticString) -> Decimal { row._decimal(name) ?? 0 }
    public static func _stored(_ value: NSDecimalNumber) -> Decimal { value.decimalValue }
    public static func _value(_ stored: Decimal) -> NSDecimalNumber { NSDecimalNumber(decimal: stored) }

    public static func _assign(
        _ stored: Decimal, _ object: NSManagedObject, _ name: StaticString, _ objects: [ObjectReference: NSManagedObject]
    ) {
        Decimal._set(stored, object, name)
    }
}

extension OptionalDecimalNumberProperty: SnapshotKind {
    public static func _stored(_ object: NSManagedObject, _ name: StaticString) -> Decimal? {
        Decimal._getOptional(object, name)
    }
    public static func _stored(_ row: _StoredRow, _ name: StaticString) -> Decimal? { row._decimal(name) }
    public static func _stored(_ value: NSDecimalNumber?) -> Decimal? { value?.decimalValue }
    public static func _value(_ stored: Decimal?) -> NSDecimalNumber? { stored.map { NSDecimalNumber(decimal: $0) } }

    public static func _assign(
        _ stored: Decimal?, _ object: NSManagedObject, _ name: StaticString, _ objects: [ObjectReference: NSManagedObject]
    ) {
        Decimal._setOptional(stored, object, name)
    }
}

// A snapshot keeps the bytes, which are equal for equal values, and decodes when it is read; encoded it has the value.
extension CodedProperty: SnapshotKind {
    public static func _samples() -> [Any]? { PropertySamples.encoded(Value.self) }
    public static func _propertiesLeftOut() -> [String] { PropertySamples.propertiesLeftOut(of: Value.self) }

    public static func _stored(_ object: NSManagedObject, _ name: StaticString) -> Data { Data._get(object, name) }
    public static func _stored(_ row: _StoredRow, _ name: StaticString) -> Data { row._data(name) ?? Data() }
    public static func _stored(_ value: Value) -> Data { CodedValue.encode(value) }

    /// Bytes that are no value of the type stop the program with a message, as there is nothing to return.
    public static func _value(_ stored: Data) -> Value {
        do {
            return try CodedValue.decode(Value.self, from: stored)
        } catch {
            preconditionFailure("The stored bytes are no \(Value.self): \(error). Declare the property optional, or correct the store.")
        }
    }

    public static func _encode(
        _ stored: Data, _ container: inout KeyedEncodingContainer<SnapshotKey>, _ key: SnapshotKey
    ) throws {
        try container.encode(CodedValue.decode(Value.self, from: stored), forKey: key)
    }

    public static func _decode(_ container: KeyedDecodingContainer<SnapshotKey>, _ key: SnapshotKey) throws -> Data {
        CodedValue.encode(try container.decode(Value.self, forKey: key))
    }

    public static func _assign(
        _ stored: Data, _ object: NSManagedObject, _ name: StaticString, _ objects: [ObjectReference: NSManagedObject]
    ) {
        Data._set(stored, object, name)
    }
}

extension OptionalCodedProperty: SnapshotKind {
    public static func _samples() -> [Any]? { PropertySamples.encoded(Wrapped.self) }
    public static func _propertiesLeftOut() -> [String] { PropertySamples.propertiesLeftOut(of: Wrapped.self) }

    public static func _stored(_ object: NSManagedObject, _ name: StaticString) -> Data? { Data._getOptional(object, name) }
    public static func _stored(_ row: _StoredRow, _ name: StaticString) -> Data? { row._data(name) }
    public static func _stored(_ value: Wrapped?) -> Data? { value.map { CodedValue.encode($0) } }
    public static func _value(_ stored: Data?) -> Wrapped? {
        stored.flatMap { try? CodedValue.decode(Wrapped.self, from: $0) }
    }

    public static func _encode(
        _ stored: Data?, _ container: inout KeyedEncodingContainer<SnapshotKey>, _ key: SnapshotKey
    ) throws {
        try container.encode(stored.map { try CodedValue.decode(Wrapped.self, from: $0) }, forKey: key)
    }

    public static func _decode(_ container: KeyedDecodingContainer<SnapshotKey>, _ key: SnapshotKey) throws -> Data? {
        try container.decode(Wrapped?.self, forKey: key).map { CodedValue.encode($0) }
    }

    public static func _assign(
        _ stored: Data?, _ object: NSManagedObject, _ name: StaticString, _ objects: [ObjectReference: NSManagedObject]
    ) {
        Data._setOptional(stored, object, name)
    }
}

// A snapshot has the bytes that the transformer made: the values themselves need not be able to cross threads.
extension SnapshotKind where Stored == Data?, SnapshotValue == Data?, Self: TransformableKind {
    public static func _stored(_ object: NSManagedObject, _ name: StaticString) -> Data? {
        try? object.transformedData(forKey: name.description)
    }
    public static func _stored(_ row: _StoredRow, _ name: StaticString) -> Data? { row._data(name) }
    public static func _stored(_ value: Data?) -> Data? { value }
    public static func _value(_ stored: Data?) -> Data? { stored }

    public static func _assign(
        _ stored: Data?, _ object: NSManagedObject, _ name: StaticString, _ objects: [ObjectReference: NSManagedObject]
    ) {
        object.setTransformedData(stored, forKey: name.description)
    }
}

/// The kinds of properties whose values a transformer turns into bytes.
public protocol TransformableKind: EntityPropertyKind {}

extension TransformableProperty: SnapshotKind, TransformableKind {
    public typealias Stored = Data?
    public typealias SnapshotValue = Data?
}

extension OptionalTransformableProperty: SnapshotKind, TransformableKind {
    public typealias Stored = Data?
    public typealias SnapshotValue = Data?
}
