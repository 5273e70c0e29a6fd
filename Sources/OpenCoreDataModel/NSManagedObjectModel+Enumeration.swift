extension NSManagedObjectModel: NSFastEnumeration {
    public var enumeratedElements: [Any] { entities }
}

extension NSEntityDescription: NSFastEnumeration {
    public var enumeratedElements: [Any] { properties }
}
