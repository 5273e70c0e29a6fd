/// Objects whose values were read again in an event.
///
/// They are hashed only when a set, or a search for an object, is needed. A merge of many rows
/// mostly needs neither, and hashing would take half of its time.
final class RereadObjects {
    /// An object may be in the list more than once.
    private(set) var objects: ContiguousArray<NSManagedObject>
    private var hashed: Set<NSManagedObject>?

    init(_ objects: ContiguousArray<NSManagedObject> = []) { self.objects = objects }

    var isEmpty: Bool { objects.isEmpty }

    /// The number of objects. Duplicates count until a set was made.
    var count: Int { hashed?.count ?? objects.count }

    var set: Set<NSManagedObject> {
        if let hashed { return hashed }
        let set = NSManagedObjectContext.set(of: objects)
        hashed = set
        return set
    }

    func contains(_ object: NSManagedObject) -> Bool { !objects.isEmpty && set.contains(object) }

    /// Returns the objects that are not in the given list.
    func without(_ others: ContiguousArray<NSManagedObject>) -> RereadObjects {
        if objects.isEmpty || others.isEmpty { return self }
        return RereadObjects(ContiguousArray(set.subtracting(others)))
    }
}
