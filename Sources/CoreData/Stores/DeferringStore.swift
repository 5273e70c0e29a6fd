/// A store that may leave a part of a lightweight migration for later.
protocol DeferringStore: NSPersistentStore {
    /// Does one task that a migration left, and notes in the metadata whether others remain.
    ///
    /// - Returns: whether a task was done.
    func finishMigrationTask() throws -> Bool
}
