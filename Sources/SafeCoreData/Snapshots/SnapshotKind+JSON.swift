/// A kind of property whose snapshot holds JSON. The JSON of equal values is equal, and is decoded
/// when the property is read. An encoded snapshot holds the value itself.
public protocol _JSONSnapshotKind: _SnapshotKind where Stored == Data, SnapshotValue: Codable {}

extension _JSONSnapshotKind {
    public static func _stored(_ value: SnapshotValue) -> Data { CodedValue.encode(value) }

    /// Bytes that cannot be decoded stop the program with a message, as there is nothing to return.
    public static func _value(_ stored: Data) -> SnapshotValue {
        do {
            return try CodedValue.decode(SnapshotValue.self, from: stored)
        } catch {
            // An object without a value reads in the same way.
            if stored.isEmpty, let value = _PropertyPlaceholder.missing(SnapshotValue.self) { return value }
            preconditionFailure(
                "What is stored is no \(SnapshotValue.self): \(error). Declare the property optional, or correct the "
                    + "store."
            )
        }
    }

    public static func _encode(
        _ stored: Data, _ container: inout KeyedEncodingContainer<_SnapshotKey>, _ key: _SnapshotKey
    ) throws {
        try container.encode(CodedValue.decode(SnapshotValue.self, from: stored), forKey: key)
    }

    public static func _decode(_ container: KeyedDecodingContainer<_SnapshotKey>, _ key: _SnapshotKey) throws -> Data {
        CodedValue.encode(try container.decode(SnapshotValue.self, forKey: key))
    }
}

/// The same for optional properties. Bytes that cannot be decoded read as nil.
public protocol _OptionalJSONSnapshotKind: _SnapshotKind where Stored == Data?, SnapshotValue == Wrapped? {
    associatedtype Wrapped: Codable
}

extension _OptionalJSONSnapshotKind {
    public static func _stored(_ value: Wrapped?) -> Data? { value.map { CodedValue.encode($0) } }

    public static func _value(_ stored: Data?) -> Wrapped? {
        stored.flatMap { try? CodedValue.decode(Wrapped.self, from: $0) }
    }

    public static func _encode(
        _ stored: Data?, _ container: inout KeyedEncodingContainer<_SnapshotKey>, _ key: _SnapshotKey
    ) throws {
        try container.encode(stored.map { try CodedValue.decode(Wrapped.self, from: $0) }, forKey: key)
    }

    public static func _decode(_ container: KeyedDecodingContainer<_SnapshotKey>, _ key: _SnapshotKey) throws -> Data? {
        try container.decode(Wrapped?.self, forKey: key).map { CodedValue.encode($0) }
    }
}
