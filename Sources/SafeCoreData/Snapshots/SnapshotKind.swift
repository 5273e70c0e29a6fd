/// The representation of a kind of property in snapshots.
public protocol _SnapshotKind: _EntityPropertyKind {
    /// The type of the stored value: raw values, bytes, references. Always `Sendable`.
    associatedtype Stored: Hashable & Sendable
    /// The type of the snapshot's property.
    associatedtype SnapshotValue

    /// Whether the value is not in the row and takes another fetch.
    static var _isToMany: Bool { get }
    static func _stored(_ object: NSManagedObject, _ name: StaticString) -> Stored
    static func _stored(_ row: _StoredRow, _ name: StaticString) -> Stored
    static func _stored(_ value: SnapshotValue) -> Stored
    static func _value(_ stored: Stored) -> SnapshotValue

    static func _encode(_ stored: Stored, _ container: inout KeyedEncodingContainer<_SnapshotKey>, _ key: _SnapshotKey)
        throws
    static func _decode(_ container: KeyedDecodingContainer<_SnapshotKey>, _ key: _SnapshotKey) throws -> Stored

    /// Returns sample values that key-value coding accepts, for types with restricted values; nil
    /// if every value of the attribute's type is valid.
    static func _samples() -> [Any]?

    /// Returns the stored properties of the value's type that are lost in encoding.
    static func _uncodedProperties() -> [String]

    /// The destination class of a relationship; nil for attributes.
    static var _destination: NSManagedObject.Type? { get }
    /// Returns the references to the destination objects in a value.
    static func _references(_ stored: Stored) -> [ObjectReference]
    /// Returns the value without references to missing objects; nil if the object's present value
    /// should stay.
    static func _stored(_ stored: Stored, without missing: Set<ObjectReference>) -> Stored?
    /// Sets the value of the object.
    static func _assign(
        _ stored: Stored, _ object: NSManagedObject, _ name: StaticString, _ objects: [ObjectReference: NSManagedObject]
    ) throws
}

extension _SnapshotKind {
    @inlinable
    public static var _isToMany: Bool { false }

    public static func _samples() -> [Any]? { nil }

    public static func _uncodedProperties() -> [String] { [] }

    public static var _destination: NSManagedObject.Type? { nil }

    public static func _references(_ stored: Stored) -> [ObjectReference] { [] }

    public static func _stored(_ stored: Stored, without missing: Set<ObjectReference>) -> Stored? { stored }
}

// Most kinds encode the stored value.
extension _SnapshotKind where Stored: Codable {
    public static func _encode(
        _ stored: Stored, _ container: inout KeyedEncodingContainer<_SnapshotKey>, _ key: _SnapshotKey
    ) throws {
        try container.encode(stored, forKey: key)
    }

    public static func _decode(_ container: KeyedDecodingContainer<_SnapshotKey>, _ key: _SnapshotKey) throws -> Stored
    {
        try container.decode(Stored.self, forKey: key)
    }
}

// Most snapshots show the stored value.
extension _SnapshotKind where Stored == SnapshotValue {
    @inlinable @inline(__always)
    public static func _stored(_ value: SnapshotValue) -> Stored { value }

    @inlinable @inline(__always)
    public static func _value(_ stored: Stored) -> SnapshotValue { stored }
}

// Objects take native values as they are stored.
extension _SnapshotKind where Stored == Value {
    public static func _assign(
        _ stored: Stored, _ object: NSManagedObject, _ name: StaticString, _ objects: [ObjectReference: NSManagedObject]
    ) {
        set(stored, object, name)
    }
}

/// The key of a property in an encoded snapshot.
public struct _SnapshotKey: CodingKey, ExpressibleByStringLiteral, Sendable {
    public let stringValue: String
    public var intValue: Int? { nil }

    public init(stringValue: String) { self.stringValue = stringValue }
    public init?(intValue: Int) { nil }
    public init(stringLiteral value: String) { stringValue = value }
    init(_ name: StaticString) { stringValue = name.description }
}

extension _SnapshotKind where Self: _RelationshipKind {
    public static var _destination: NSManagedObject.Type? { Destination.self }
}
