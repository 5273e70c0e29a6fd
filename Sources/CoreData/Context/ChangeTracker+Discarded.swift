extension ChangeTracker {
    /// New objects that were deleted and stay in the context until the next save, which writes nothing of them.
    var discarded: ContiguousArray<NSManagedObject> {
        deleted.count == 0 ? [] : deleted.objects.filter { $0.flags.contains(.discarded) }
    }

    /// Whether a new object that was deleted, or gave way to another, stays until the next save.
    func keepsUntilSave(_ object: NSManagedObject) -> Bool { object.listIndex >= 0 }
}
