/// The values of a managed object at one time: `Item.Snapshot`, which `@Entity` generates for each
/// class.
///
/// It holds the attributes as values and the relationships as references. It may be passed to other
/// threads, is equal to a snapshot of the same object with the same values, and is encoded with one
/// key for each property and `objectID` for the object. A snapshot may be partial: reading a
/// property that it does not have stops the program; `has(_:)` checks for a property.
///
/// ```swift
/// let snapshot = item.snapshot()                          // Item.Snapshot: may go to any task
/// let data = try JSONEncoder().encode(snapshot)
/// ```
public protocol EntitySnapshot: Hashable, Codable, Sendable, CustomStringConvertible {
    /// The class of the object.
    associatedtype Object: EntityObject

    /// A reference to the object.
    var objectID: ObjectReference { get set }

    /// Creates a snapshot without any values.
    init(_ objectID: ObjectReference)

    /// Creates a snapshot of an object or a row.
    init(_reading reader: borrowing _SnapshotReader)

    /// Calls the visitor for each property, those of superclasses first.
    mutating func _visit<Visitor: _SnapshotVisitor>(_ visitor: inout Visitor) throws
}

/// An operation that is applied to each property of a snapshot.
public protocol _SnapshotVisitor {
    mutating func visit<Kind: _SnapshotKind>(
        _ property: inout SnapshotProperty<Kind>, _ name: StaticString, isDerived: Bool
    ) throws
}

extension EntitySnapshot {
    /// Calls a visitor that changes nothing.
    func visit(_ visitor: inout some _SnapshotVisitor) throws {
        var copy = self
        try copy._visit(&visitor)
    }

    /// Calls the visitor for each property of an empty snapshot.
    static func visitAll(_ visitor: inout some _SnapshotVisitor) throws { try Self(.nowhere).visit(&visitor) }

    /// The names of the properties for which the snapshot has values, in the order of their
    /// declaration.
    ///
    /// Cost: O(number of properties).
    ///
    /// ```swift
    /// let part = item.snapshot(\.name)
    /// print(part.propertyNames)                               // ["name"]
    /// ```
    public var propertyNames: [String] {
        var names = PresentNames()
        try? visit(&names)
        return names.names
    }

    /// Whether the snapshot has a value for a property.
    ///
    /// Cost: O(number of properties).
    ///
    /// ```swift
    /// if snapshot.has(\.stockCount) { print(snapshot.stockCount) }
    /// ```
    public func has(_ keyPath: PartialKeyPath<Object>) -> Bool {
        guard let name = Object.keyName(for: keyPath) else { return false }
        return propertyNames.contains(name)
    }
}

extension EntitySnapshot {
    /// The names of all properties of the snapshot type, those of superclasses first.
    static var allPropertyNames: [String] {
        var names = AllNames()
        try? visitAll(&names)
        return names.names
    }

    /// Checks that the type has all properties of a class, which may be a subclass of the type's
    /// own class.
    ///
    /// - Throws: `SnapshotError.losesProperties`.
    @usableFromInline
    static func _requireAll(of objectClass: NSManagedObject.Type) throws {
        guard let own = (objectClass as? any EntityObject.Type)?._snapshotType, own != Self.self else { return }
        try require(own.allPropertyNames, of: "\(objectClass)")
    }

    /// Checks that the type has certain properties of a class.
    ///
    /// - Throws: `SnapshotError.losesProperties`.
    static func require(_ names: some Sequence<String>, of objectClass: String) throws {
        let lost = Set(names).subtracting(allPropertyNames).sorted()
        if lost.isEmpty { return }
        throw SnapshotError.losesProperties(
            snapshot: "\(Object.self).Snapshot", objectClass: objectClass, properties: lost)
    }
}

private struct AllNames: _SnapshotVisitor {
    var names: [String] = []

    mutating func visit<Kind: _SnapshotKind>(
        _ property: inout SnapshotProperty<Kind>, _ name: StaticString, isDerived: Bool
    ) {
        names.append(name.description)
    }
}

private struct PresentNames: _SnapshotVisitor {
    var names: [String] = []

    mutating func visit<Kind: _SnapshotKind>(
        _ property: inout SnapshotProperty<Kind>, _ name: StaticString, isDerived: Bool
    ) {
        if property.stored != nil { names.append(name.description) }
    }
}
