extension NSManagedObjectModel: NSFastEnumeration {
    /// The entities.
    public var enumeratedElements: [Any] { entities }
}

extension NSEntityDescription: NSFastEnumeration {
    /// The properties, inherited ones among them.
    public var enumeratedElements: [Any] { properties }
}
