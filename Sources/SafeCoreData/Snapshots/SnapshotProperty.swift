/// A property of a snapshot: its stored value, or nothing in a partial snapshot.
@propertyWrapper
public struct SnapshotProperty<Kind: _SnapshotKind>: Hashable, Sendable {
    public var stored: Kind.Stored?

    /// Creates a property without a value. The kind decides the type.
    @inlinable
    public init(_ kind: Kind.Type) {}

    @inlinable
    public var wrappedValue: Kind.SnapshotValue {
        get {
            guard let stored else {
                preconditionFailure(
                    "The snapshot is partial and was made without this property. has(_:) tells which it was made with.")
            }
            return Kind._value(stored)
        }
        set { stored = Kind._stored(newValue) }
    }

    /// Reads the value from an object or a row, unless the snapshot excludes this property.
    @inlinable @inline(__always)
    public mutating func _read(_ reader: borrowing _SnapshotReader, _ name: StaticString) {
        if let names = reader.names, !names.contains(name.description) { return }
        if let row = reader.row {
            stored = Kind._stored(row, name)
        } else if let object = reader.object {
            stored = Kind._stored(object, name)
        }
    }
}

extension SnapshotProperty {
    /// Whether both have the same value or no value. Text is compared by its code points.
    public static func == (left: SnapshotProperty, right: SnapshotProperty) -> Bool {
        KeptValue.areSame(left.stored, right.stored)
    }
}

/// The comparison of stored values of snapshots.
enum KeptValue {
    /// Whether two values are the same, and so whether a snapshot changes an object. Text is
    /// compared by its code points.
    static func areSame<Value: Equatable>(_ left: Value, _ right: Value) -> Bool {
        guard left == right else { return false }
        guard let text = left as? String, let other = right as? String else { return true }
        return LiteralText.areSame(text, other)
    }
}

/// The source of a snapshot's values: a row, or an object if there is no row.
public struct _SnapshotReader {
    @usableFromInline let row: _StoredRow?
    @usableFromInline let object: NSManagedObject?
    /// The names of the requested properties; nil for all.
    @usableFromInline let names: Set<String>?

    @inlinable
    init(_ row: _StoredRow, names: Set<String>?) {
        self.row = row
        object = nil
        self.names = names
    }

    @inlinable
    init(_ object: NSManagedObject, names: Set<String>?) {
        row = nil
        self.object = object
        self.names = names
    }

    /// The reference to the object or the row.
    @inlinable @inline(__always)
    public var _reference: ObjectReference {
        if let (origin, key) = row?.keyIdentity { return ObjectReference(origin: origin, key: key) }
        return readReference()
    }

    @inline(never) @usableFromInline
    func readReference() -> ObjectReference {
        if let row { return ObjectReference(row.identity) }
        // Either the row or the object exists: both initializers ensure that.
        return object.map { ObjectReference($0) } ?? .nowhere
    }
}
