extension NSManagedObjectModel: Sequence {
    /// Returns an iterator over the entities, in the order of ``entities``, as a `for` loop uses
    /// it:
    ///
    /// ```swift
    /// for entity in model { print(entity.name ?? "") }
    /// ```
    ///
    /// Entities that are added meanwhile are not visited.
    public func makeIterator() -> IndexingIterator<[NSEntityDescription]> { entities.makeIterator() }
}

extension NSEntityDescription: Sequence {
    /// Returns an iterator over the properties, inherited ones included.
    ///
    /// The order is that of ``properties``. A `for` loop uses it:
    ///
    /// ```swift
    /// for property in entity { print(property.name) }
    /// ```
    ///
    /// Properties that are added meanwhile are not visited.
    public func makeIterator() -> IndexingIterator<[NSPropertyDescription]> { properties.makeIterator() }
}

extension NSManagedObjectModel: NSFastEnumeration {
    /// The entities.
    public var enumeratedElements: [Any] { entities }
}

extension NSEntityDescription: NSFastEnumeration {
    /// The properties, inherited ones included.
    public var enumeratedElements: [Any] { properties }
}
