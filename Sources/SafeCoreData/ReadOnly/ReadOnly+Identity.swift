extension ReadOnly: Hashable {
    /// Views are equal when they are of the same object.
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
    /// Class, entity, identity and, when loaded, the values. Does not fire the fault.
    public var description: String { "read-only \(object.description)" }

    public var debugDescription: String { description }
}

extension ReadOnly: CustomReflectable {
    /// Shows the identity and nothing that leads to the object.
    public var customMirror: Mirror { Mirror(self, children: ["id": id], displayStyle: .struct) }
}
