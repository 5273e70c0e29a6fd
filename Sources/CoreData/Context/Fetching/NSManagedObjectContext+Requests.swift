import Foundation

// Requests of every kind.

extension NSPersistentStoreCoordinator {
    /// Executes a request against the stores on behalf of a context.
    ///
    /// ```swift
    /// let items = try coordinator.execute(request, with: context) as? [Item] ?? []
    /// ```
    ///
    /// - Returns: For a fetch request the array of fetched results; for a save request an empty
    ///   array; otherwise an `NSPersistentStoreResult`. A save request writes exactly the objects
    ///   it names, without `willSave` and validation.
    /// - Throws: The errors of the request; code 134060 when the context works on another
    ///   coordinator.
    @discardableResult
    public func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        guard context.persistentStoreCoordinator === self else {
            throw CoreDataErrors.otherCoordinator(context.nameInMessages)
        }
        return try request.answer(for: context)
    }
}
