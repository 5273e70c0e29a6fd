/// Objects whose values were read again in an event.
///
/// They are hashed only when somebody asks for a set, or for one of them: a merge of many rows mostly asks for neither, and hashing would be half of
/// its time.
final class RereadObjects {
    /// An object may be among them more than once.
    private(set) var objects: ContiguousArray<NSManagedObject>
    private var hashed: Set<NSManagedObject>?

    init(_ objects: ContiguousArray<NSManagedObject> = []) { self.objects = objects }

    var isEmpty: Bool { objects.isEmpty }

    /// How many there are; more where some are among them more than once and nobody has asked for a set.
    var count: Int { hashed?.count ?? objects.count }

    var set: Set<NSManagedObject> {
        if let hashed { return hashed }
        let set = NSManagedObjectContext.set(of: objects)
        hashed = set
        return set
    }

    func contains(_ object: NSManagedObject) -> Bool { !objects.isEmpty && set.contains(object) }

    /// Those that are not among some others.
    func without(_ others: ContiguousArray<NSManagedObject>) -> RereadObjects {
        if objects.isEmpty || others.isEmpty { return self }
        return RereadObjects(ContiguousArray(set.subtracting(others)))
    }
}
