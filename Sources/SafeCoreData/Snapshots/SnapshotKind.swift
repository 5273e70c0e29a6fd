/// How a kind of property appears in snapshots.
public protocol _SnapshotKind: _EntityPropertyKind {
    /// What a snapshot keeps: raw values, bytes, references. Always a value that may cross threads.
    associatedtype Stored: Hashable & Sendable
    /// What reading the snapshot's property gives.
    associatedtype SnapshotValue

    /// Whether a row does not hold the value: it takes another fetch.
    static var _isToMany: Bool { get }
    static func _stored(_ object: NSManagedObject, _ name: StaticString) -> Stored
    static func _stored(_ row: _StoredRow, _ name: StaticString) -> Stored
    static func _stored(_ value: SnapshotValue) -> Stored
    static func _value(_ stored: Stored) -> SnapshotValue

    static func _encode(_ stored: Stored, _ container: inout KeyedEncodingContainer<_SnapshotKey>, _ key: _SnapshotKey) throws
    static func _decode(_ container: KeyedDecodingContainer<_SnapshotKey>, _ key: _SnapshotKey) throws -> Stored

    /// Values that key-value coding takes, for types that have only certain ones; nil where every value of the attribute's
    /// type will do.
    static func _samples() -> [Any]?

    /// The stored properties of the value's type that are lost when it is encoded.
    static func _uncodedProperties() -> [String]

    /// The class of the objects that the value leads to; nil for attributes.
    static var _destination: NSManagedObject.Type? { get }
    /// The objects that the value leads to.
    static func _references(_ stored: Stored) -> [ObjectReference]
    /// The value without the objects that do not exist; nil where nothing is left to say, so that the object's value stays.
    static func _stored(_ stored: Stored, without missing: Set<ObjectReference>) -> Stored?
    /// Gives the object the value.
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

// Most kinds are encoded as they are kept.
extension _SnapshotKind where Stored: Codable {
    public static func _encode(
        _ stored: Stored, _ container: inout KeyedEncodingContainer<_SnapshotKey>, _ key: _SnapshotKey
    ) throws {
        try container.encode(stored, forKey: key)
    }

    public static func _decode(_ container: KeyedDecodingContainer<_SnapshotKey>, _ key: _SnapshotKey) throws -> Stored {
        try container.decode(Stored.self, forKey: key)
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
