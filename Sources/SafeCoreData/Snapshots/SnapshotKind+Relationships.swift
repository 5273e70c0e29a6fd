// Relationships: a snapshot holds references.

extension _SnapshotKind where Self: _RelationshipKind, Stored == ObjectReference? {
    // A row or an object may lack a required destination; the snapshot then has nil.
    public static func _stored(_ object: NSManagedObject, _ name: StaticString) -> ObjectReference? {
        _ToOneProperty<Destination>.get(object, name).map { ObjectReference($0) }
    }
    public static func _stored(_ row: _StoredRow, _ name: StaticString) -> ObjectReference? {
        row.destination(name).map { ObjectReference($0) }
    }

    public static func _references(_ stored: ObjectReference?) -> [ObjectReference] { stored.map { [$0] } ?? [] }

    public static func _stored(_ stored: ObjectReference?, without missing: Set<ObjectReference>) -> ObjectReference?? {
        if let stored, missing.contains(stored) { return .none }
        return .some(stored)
    }

    public static func _assign(
        _ stored: ObjectReference?, _ object: NSManagedObject, _ name: StaticString,
        _ objects: [ObjectReference: NSManagedObject]
    ) throws {
        let destination: Destination? = try stored.map { try SnapshotTarget.object($0, objects, name) }
        _ToOneProperty<Destination>.set(destination, object, name)
    }
}

extension _ToOneProperty: _SnapshotKind {
    public typealias Stored = ObjectReference?
    public typealias SnapshotValue = ObjectReference?
}

extension _RequiredToOneProperty: _SnapshotKind {
    public typealias Stored = ObjectReference?
    public typealias SnapshotValue = ObjectReference?
}

extension _SnapshotKind where Stored == [ObjectReference] {
    @inlinable
    public static var _isToMany: Bool { true }

    public static func _stored(_ row: _StoredRow, _ name: StaticString) -> [ObjectReference] {
        row.destinations(name).map { ObjectReference($0) }
    }

    public static func _references(_ stored: [ObjectReference]) -> [ObjectReference] { stored }

    public static func _stored(_ stored: [ObjectReference], without missing: Set<ObjectReference>) -> [ObjectReference]?
    {
        stored.filter { !missing.contains($0) }
    }
}

extension _ToManyProperty: _SnapshotKind {
    public typealias SnapshotValue = Set<ObjectReference>

    @inlinable
    public static var _isToMany: Bool { true }

    public static func _stored(_ object: NSManagedObject, _ name: StaticString) -> Set<ObjectReference> {
        Set(get(object, name).map { ObjectReference($0) })
    }
    public static func _stored(_ row: _StoredRow, _ name: StaticString) -> Set<ObjectReference> {
        Set(row.destinations(name).map { ObjectReference($0) })
    }

    /// Encodes the references in the order of their URIs, so that equal snapshots have equal
    /// encodings.
    public static func _encode(
        _ stored: Set<ObjectReference>, _ container: inout KeyedEncodingContainer<_SnapshotKey>, _ key: _SnapshotKey
    ) throws {
        try container.encode(stored.sorted { $0.description < $1.description }, forKey: key)
    }

    public static func _references(_ stored: Set<ObjectReference>) -> [ObjectReference] { Array(stored) }

    public static func _stored(_ stored: Set<ObjectReference>, without missing: Set<ObjectReference>) -> Set<
        ObjectReference
    >? {
        stored.subtracting(missing)
    }

    public static func _assign(
        _ stored: Set<ObjectReference>, _ object: NSManagedObject, _ name: StaticString,
        _ objects: [ObjectReference: NSManagedObject]
    ) throws {
        set(Set(try stored.map { try SnapshotTarget.object($0, objects, name) }), object, name)
    }
}

extension _OrderedProperty: _SnapshotKind {
    public typealias SnapshotValue = [ObjectReference]

    public static func _stored(_ object: NSManagedObject, _ name: StaticString) -> [ObjectReference] {
        get(object, name).map { ObjectReference($0) }
    }

    public static func _assign(
        _ stored: [ObjectReference], _ object: NSManagedObject, _ name: StaticString,
        _ objects: [ObjectReference: NSManagedObject]
    ) throws {
        set(try stored.map { try SnapshotTarget.object($0, objects, name) }, object, name)
    }
}

extension _OrderedSetProperty: _SnapshotKind {
    public typealias SnapshotValue = [ObjectReference]

    public static func _stored(_ object: NSManagedObject, _ name: StaticString) -> [ObjectReference] {
        _OrderedProperty<NSManagedObject>._stored(object, name)
    }

    public static func _assign(
        _ stored: [ObjectReference], _ object: NSManagedObject, _ name: StaticString,
        _ objects: [ObjectReference: NSManagedObject]
    ) throws {
        try _OrderedProperty<NSManagedObject>._assign(stored, object, name, objects)
    }
}

/// Resolves references to objects while snapshots are applied.
private enum SnapshotTarget {
    static func object<Destination: NSManagedObject>(
        _ reference: ObjectReference, _ objects: [ObjectReference: NSManagedObject], _ name: StaticString
    ) throws -> Destination {
        // Every reference was resolved before the first value is assigned.
        guard let object = objects[reference] as? Destination else {
            throw SnapshotError.wrongClass(
                property: name.description, reference: reference, expected: "\(Destination.self)")
        }
        return object
    }
}
