// Attributes of native types and raw values: a snapshot holds the same values as the store.

extension _NativeProperty: _SnapshotKind {
    public typealias Stored = Value
    public typealias SnapshotValue = Value

    @inlinable @inline(__always)
    public static func _stored(_ object: NSManagedObject, _ name: StaticString) -> Value { Value._get(object, name) }

    @inlinable @inline(__always)
    public static func _stored(_ row: _StoredRow, _ name: StaticString) -> Value {
        Value._get(row, name) ?? Value._empty
    }
}

extension _OptionalNativeProperty: _SnapshotKind {
    public typealias Stored = Wrapped?
    public typealias SnapshotValue = Wrapped?

    @inlinable @inline(__always)
    public static func _stored(_ object: NSManagedObject, _ name: StaticString) -> Wrapped? {
        Wrapped._getOptional(object, name)
    }

    @inlinable @inline(__always)
    public static func _stored(_ row: _StoredRow, _ name: StaticString) -> Wrapped? { Wrapped._get(row, name) }
}

extension _RawProperty: _SnapshotKind {
    public static func _samples() -> [Any]? { PropertySamples.rawValues(of: Value.self) }

    @inlinable @inline(__always)
    public static func _stored(_ object: NSManagedObject, _ name: StaticString) -> Value.RawValue {
        Value.RawValue._get(object, name)
    }

    @inlinable @inline(__always)
    public static func _stored(_ row: _StoredRow, _ name: StaticString) -> Value.RawValue {
        Value.RawValue._get(row, name) ?? Value.RawValue._empty
    }

    @inlinable @inline(__always)
    public static func _stored(_ value: Value) -> Value.RawValue { value.rawValue }

    /// An invalid raw value stops the program with a message, as there is nothing to return.
    @inlinable @inline(__always)
    public static func _value(_ stored: Value.RawValue) -> Value { Value(rawValue: stored) ?? placeholder(for: stored) }

    /// Returns the value as which a missing value reads, in snapshots and in objects.
    @inline(never) @usableFromInline
    static func placeholder(for stored: Value.RawValue) -> Value {
        if stored == Value.RawValue._empty, let value = _PropertyPlaceholder.missing(Value.self) { return value }
        preconditionFailure(
            "\(stored) stands for no \(Value.self): declare the property optional, or correct the store.")
    }

    /// - Throws: `EncodingError` where the snapshot has no valid value.
    public static func _encode(
        _ stored: Value.RawValue, _ container: inout KeyedEncodingContainer<_SnapshotKey>, _ key: _SnapshotKey
    ) throws {
        guard Value(rawValue: stored) != nil else { throw SnapshotCoding.missing(stored, Value.self, container, key) }
        try container.encode(stored, forKey: key)
    }

    public static func _decode(
        _ container: KeyedDecodingContainer<_SnapshotKey>, _ key: _SnapshotKey
    ) throws -> Value.RawValue {
        let raw = try container.decode(Value.RawValue.self, forKey: key)
        guard Value(rawValue: raw) != nil else { throw SnapshotCoding.unknown(raw, Value.self, container, key) }
        return raw
    }

    public static func _assign(
        _ stored: Value.RawValue, _ object: NSManagedObject, _ name: StaticString,
        _ objects: [ObjectReference: NSManagedObject]
    ) {
        // A missing value stays missing if the empty raw value is not valid for the type.
        if stored == Value.RawValue._empty, Value(rawValue: stored) == nil {
            Value.RawValue._setOptional(nil, object, name)
        } else {
            Value.RawValue._set(stored, object, name)
        }
    }
}

extension _OptionalRawProperty: _SnapshotKind {
    public static func _samples() -> [Any]? { PropertySamples.rawValues(of: Wrapped.self) }

    @inlinable @inline(__always)
    public static func _stored(_ object: NSManagedObject, _ name: StaticString) -> Wrapped.RawValue? {
        Wrapped.RawValue._getOptional(object, name)
    }

    @inlinable @inline(__always)
    public static func _stored(_ row: _StoredRow, _ name: StaticString) -> Wrapped.RawValue? {
        Wrapped.RawValue._get(row, name)
    }

    @inlinable @inline(__always)
    public static func _stored(_ value: Wrapped?) -> Wrapped.RawValue? { value?.rawValue }

    @inlinable @inline(__always)
    public static func _value(_ stored: Wrapped.RawValue?) -> Wrapped? { stored.flatMap { Wrapped(rawValue: $0) } }

    public static func _decode(
        _ container: KeyedDecodingContainer<_SnapshotKey>, _ key: _SnapshotKey
    ) throws -> Wrapped.RawValue? {
        let raw = try container.decode(Wrapped.RawValue?.self, forKey: key)
        if let raw, Wrapped(rawValue: raw) == nil { throw SnapshotCoding.unknown(raw, Wrapped.self, container, key) }
        return raw
    }

    public static func _assign(
        _ stored: Wrapped.RawValue?, _ object: NSManagedObject, _ name: StaticString,
        _ objects: [ObjectReference: NSManagedObject]
    ) {
        Wrapped.RawValue._setOptional(stored, object, name)
    }
}

enum SnapshotCoding {
    /// The error for a required value that a row does not have.
    static func missing<Raw, Value>(
        _ raw: Raw, _ type: Value.Type, _ container: KeyedEncodingContainer<_SnapshotKey>, _ key: _SnapshotKey
    ) -> EncodingError {
        EncodingError.invalidValue(
            raw,
            EncodingError.Context(
                codingPath: container.codingPath + [key],
                debugDescription:
                    "'\(key.stringValue)' is required and has no value, as \(raw) stands for no \(type): correct the "
                    + "store."
            ))
    }

    /// The error for an encoded raw value that its type does not have.
    static func unknown<Raw, Value>(
        _ raw: Raw, _ type: Value.Type, _ container: KeyedDecodingContainer<_SnapshotKey>, _ key: _SnapshotKey
    ) -> DecodingError {
        DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "\(raw) stands for no \(type).")
    }
}
