extension ChangeTracker {
    /// Deleted new objects, which stay in the context until the next save. The save writes nothing
    /// for them.
    var discarded: ContiguousArray<NSManagedObject> {
        deleted.count == 0 ? [] : deleted.objects.filter { $0.flags.contains(.discarded) }
    }

    /// Whether a new object that was deleted, or was given up because of a conflict, stays until
    /// the next save.
    func keepsUntilSave(_ object: NSManagedObject) -> Bool { object.listIndex >= 0 }
}
