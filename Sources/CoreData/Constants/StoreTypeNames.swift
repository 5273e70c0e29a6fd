// The types of stores under their Objective-C names.
//
// Source:
// <https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/store-types>

/// A SQLite database.
///
/// ```swift
/// try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
/// ```
public let NSSQLiteStoreType = "SQLite"

/// Nothing on disk: the objects are gone when the store is removed.
///
/// ```swift
/// try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
/// ```
public let NSInMemoryStoreType = "InMemory"

/// One binary file, which is read when the store is added and written anew by each save.
public let NSBinaryStoreType = "Binary"

/// One XML file, which is read when the store is added and written anew by each save.
public let NSXMLStoreType = "XML"
