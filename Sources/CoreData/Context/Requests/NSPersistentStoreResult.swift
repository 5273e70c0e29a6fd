import Foundation

/// What a store answered: the base class of results that are more than an array.
open class NSPersistentStoreResult: NSObject {}
