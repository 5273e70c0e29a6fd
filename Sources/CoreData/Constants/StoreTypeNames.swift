// The types of stores under their Objective-C names.
//
// Source: <https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/store-types>

/// A SQLite database.
public let NSSQLiteStoreType = "SQLite"

/// Nothing on disk.
public let NSInMemoryStoreType = "InMemory"

/// One binary file.
public let NSBinaryStoreType = "Binary"

/// One XML file.
public let NSXMLStoreType = "XML"
