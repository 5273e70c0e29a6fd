extension NSManagedObjectContext {
    /// Fetches objects as views that cannot be written.
    ///
    /// ```swift
    /// let items = try context.fetch(readOnly: NSFetchRequest<Item>(entityName: "Item"))
    /// ```
    ///
    /// Cost: that of the fetch and one reference for each object.
    ///
    /// - Throws: errors of the fetch.
    public func fetch<Object: NSManagedObject>(readOnly request: NSFetchRequest<Object>) throws -> [ReadOnly<Object>] {
        try fetch(request).map { ReadOnly($0) }
    }
}
