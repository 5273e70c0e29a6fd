import Foundation

extension CocoaError {
    /// The optimistic locking conflicts that a save could not resolve.
    ///
    /// ```swift
    /// do {
    ///     try context.save()
    /// } catch let error as CocoaError where error.code == .managedObjectMerge {
    ///     for conflict in error.persistentStoreSaveConflicts ?? [] {
    ///         context.refresh(conflict.sourceObject, mergeChanges: true)
    ///     }
    ///     try context.save()              // the changes, based on the present rows
    /// }
    /// ```
    public var persistentStoreSaveConflicts: [NSMergeConflict]? {
        userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
    }
}
