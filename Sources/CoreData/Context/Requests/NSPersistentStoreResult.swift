import Foundation

/// An answer of a store: the base class of results that are more than an array.
///
/// ```swift
/// let result = try context.execute(request) as? NSBatchUpdateResult
/// ```
open class NSPersistentStoreResult: NSObject {}
