extension NSManagedObjectModel: Sequence {
    /// Goes through the entities, in the order of ``entities``, as a `for` loop does:
    ///
    /// ```swift
    /// for entity in model { print(entity.name ?? "") }
    /// ```
    ///
    /// Entities that are added meanwhile are not met.
    public func makeIterator() -> IndexingIterator<[NSEntityDescription]> { entities.makeIterator() }
}

extension NSEntityDescription: Sequence {
    /// Goes through the properties, inherited ones among them, in the order of ``properties``, as a `for` loop does:
    ///
    /// ```swift
    /// for property in entity { print(property.name) }
    /// ```
    ///
    /// Properties that are added meanwhile are not met.
    public func makeIterator() -> IndexingIterator<[NSPropertyDescription]> { properties.makeIterator() }
}

extension NSManagedObjectModel: NSFastEnumeration {
    /// The entities.
    public var enumeratedElements: [Any] { entities }
}

extension NSEntityDescription: NSFastEnumeration {
    /// The properties, inherited ones among them.
    public var enumeratedElements: [Any] { properties }
}
