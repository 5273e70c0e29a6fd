extension ReadOnly: Hashable {
    /// Views are equal when they show the same object.
    @inlinable
    public static func == (left: ReadOnly, right: ReadOnly) -> Bool { left.object === right.object }

    @inlinable
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(object)) }
}

extension ReadOnly: Identifiable {
    /// The object's ID: temporary until the object is saved, then permanent.
    ///
    /// ```swift
    /// let ids = items.map(\.id)                               // may leave the main actor
    /// ```
    public var id: NSManagedObjectID { object.objectID }
}

extension ReadOnly: CustomStringConvertible, CustomDebugStringConvertible {
    /// The class, the entity, the ID and, when the object is loaded, its values. Does not fire the
    /// fault.
    public var description: String { "read-only \(object.description)" }

    public var debugDescription: String { description }
}

extension ReadOnly: CustomReflectable {
    /// A mirror of the ID only, so that reflection cannot reach the object.
    public var customMirror: Mirror { Mirror(self, children: ["id": id], displayStyle: .struct) }
}
