// Options for adding stores.
//
// Source: <https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/store-options>

// MARK: For every store

/// True: saves of changes to the store are refused, and its file is not written.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"

/// How many seconds (number) to wait for a store that others have locked.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"

/// True: the store is opened although its entities' version hashes differ from the model's.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"

/// True: a store of another version of the model is migrated when it is added.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"

/// True: where no mapping model is found for a migration, one is inferred.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"

/// The staged migration manager that migrates the store. There are no staged migrations here: a store that is added with one is
/// refused.
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"

/// True: the costly parts of a lightweight migration may wait. Here they are never put off, and a message says so once.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
    "NSPersistentStoreDeferredLightweightMigrationOptionKey"

/// True: changes are recorded as persistent history. Without it a store in which changes were recorded is read-only, so that its
/// history gets no gap.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"

/// True: `NSPersistentStoreRemoteChange` is posted when the store was changed by a save of this process.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey = "NSPersistentStoreRemoteChangeNotificationOptionKey"

// MARK: For SQLite stores

/// Pragmas (`[String: String]`) for the connections of the store.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"

/// True: the database's statistics are renewed when the store is added.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"

/// True: the database is compacted when the store is added.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"

/// How many connections (number) the store opens at most. One of them writes; a fetch waits for a free one, as long as
/// `NSPersistentStoreTimeoutOption` says.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"

/// True, for `destroyPersistentStore`: the store is destroyed even though it is in use or damaged.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"

// MARK: For XML and binary stores

/// True: an XML store is validated against its document type when it is added. There are no XML stores here: a message says so
/// once when another store is given the option.
public let NSValidateXMLStoreOption = "NSValidateXMLStoreOption"

/// Classes that a binary store may decode besides the usual ones. There are no binary stores here: as above.
public let NSBinaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"

/// True: a binary store may decode any class. There are no binary stores here: as above.
public let NSBinaryStoreInsecureDecodingCompatibilityOption = "NSBinaryStoreInsecureDecodingCompatibilityOption"
