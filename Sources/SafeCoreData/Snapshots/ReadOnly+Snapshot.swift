extension ReadOnly where Object: EntityObject {
    /// The object's values as they are now, for other threads; see ``EntityObject/snapshot(_:)``.
    public func snapshot() -> Object.Snapshot { object.snapshot() }
}

extension ReadContext {
    /// Snapshots of what a request finds, straight from rows; see `NSManagedObjectContext.snapshots(of:)`.
    ///
    /// - Throws: what the fetch throws.
    public func snapshots<Object: EntityObject>(of request: NSFetchRequest<Object>) throws -> [Object.Snapshot] {
        try context.snapshots(of: request)
    }
}
