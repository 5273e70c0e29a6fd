import Foundation

extension CocoaError {
    /// The optimistic locking conflicts that a save could not resolve.
    public var persistentStoreSaveConflicts: [NSMergeConflict]? {
        userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
    }
}
