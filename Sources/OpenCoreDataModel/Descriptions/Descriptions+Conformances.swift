extension NSEntityDescription: PredicateComparable, KeyValueCoding {
    /// In predicates, an entity equals the entity with the same name in another copy of the model.
    public func isEqualInPredicate(to other: Any) -> Bool {
        (other as? NSEntityDescription).map { $0.name == name } ?? false
    }

    /// Returns `name` or `managedObjectClassName`, for predicates such as `entity.name == "Novel"`.
    ///
    /// nil for any other key.
    public func value(forKey key: String) -> Any? {
        switch key {
        case "name": name
        case "managedObjectClassName": managedObjectClassName
        default: nil
        }
    }

    /// Does nothing: entities are not written by name.
    public func setValue(_ value: Any?, forKey key: String) {}
}

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
