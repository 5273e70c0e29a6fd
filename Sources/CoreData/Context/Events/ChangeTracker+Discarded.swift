extension ChangeTracker {
    /// Deleted new objects, which stay until the next save; it writes nothing for them.
    var discarded: ContiguousArray<NSManagedObject> {
        deleted.count == 0 ? [] : deleted.objects.filter { $0.flags.contains(.discarded) }
    }

    /// Whether a new object that was deleted or given up stays until the next save.
    func keepsUntilSave(_ object: NSManagedObject) -> Bool { object.listIndex >= 0 }
}
