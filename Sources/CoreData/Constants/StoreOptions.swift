// Options for adding stores.
//
// Source: <https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/store-options>

// MARK: For every store

/// A `Bool` or number. True: saves of changes to the store are refused, and its file is not written. False unless set.
///
/// ```swift
/// let store = try coordinator.addPersistentStore(type: .sqlite, at: url, options: [NSReadOnlyPersistentStoreOption: true])
/// ```
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"

/// How many seconds to wait for a store that others have locked: a number, 0 or more; 60 for SQLite stores unless set, 30 for
/// PostgreSQL stores. After that requests throw. More than 24 days, such as `.infinity`, are 24 days. Closing a store waits for nobody.
///
/// ```swift
/// try coordinator.addPersistentStore(type: .sqlite, at: url, options: [NSPersistentStoreTimeoutOption: 5])
/// ```
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"

/// A `Bool` or number. True: the store is opened although its entities' version hashes differ from the model's. False unless set.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"

/// A `Bool` or number. True: a store of another version of the model is migrated when it is added, which takes time for its rows. False
/// unless set, and true in an `NSPersistentStoreDescription`.
///
/// ```swift
/// let options = [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
/// try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
/// ```
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"

/// A `Bool` or number. True: where no mapping model is found for a migration, one is inferred. False unless set, and true in an
/// `NSPersistentStoreDescription`.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"

/// The staged migration manager that migrates the store. There are no staged migrations here: a store that is added with one is
/// refused.
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"

/// A `Bool` or number. True: the costly parts of a lightweight migration may wait. Here they are never put off, and a message says so once.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
    "NSPersistentStoreDeferredLightweightMigrationOptionKey"

/// A `Bool` or number, or a dictionary, which stands for true. True: changes are recorded as persistent history. Without it a store in
/// which changes were recorded is read-only, so that its history gets no gap. SQLite stores alone record it: a message says so once where
/// another is given the option.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"

/// A `Bool` or number. True: `NSPersistentStoreRemoteChange` is posted when the store was changed by a save of this process, and for a
/// PostgreSQL store also when others have changed it, which takes a connection of its own. False unless set.
///
/// ```swift
/// description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
/// ```
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey = "NSPersistentStoreRemoteChangeNotificationOptionKey"

// MARK: For SQLite stores

/// Pragmas (`[String: String]`) for the connections of the store: plain names and values. A
/// dictionary of anything else has the store refused (134080). `page_size`, `encoding` and `auto_vacuum` count for the file that is made;
/// one that is there keeps its own.
///
/// ```swift
/// let options = [NSSQLitePragmasOption: ["synchronous": "FULL"]]
/// try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
/// ```
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"

/// A `Bool` or number. True: the database's statistics are renewed when the store is added, which reads its indexes.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"

/// A `Bool` or number. True: the database is compacted when the store is added, which writes all of it anew.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"

/// How many connections the store opens at most: a number of at least 1. One of them writes, and with 1 reads too; a fetch waits for a
/// free one, as long as `NSPersistentStoreTimeoutOption` says.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"

/// A `Bool` or number, for `destroyPersistentStore`. True: the store is destroyed even though it is damaged, or others do not give up its
/// locks within `NSPersistentStoreTimeoutOption`. An empty file then takes the place of a SQLite store's, and what those others write is lost.
///
/// ```swift
/// try coordinator.destroyPersistentStore(at: url, type: .sqlite, options: [NSPersistentStoreForceDestroyOption: true])
/// ```
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"

/// How a store's files are encrypted (`FileProtectionType`) on systems that do it by themselves. Linux does not: a message says so once
/// when a store is given the option.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"

// MARK: For XML and binary stores

/// A `Bool`. True: an XML store is validated against its document type when it is added. There are no XML stores here: a message says so
/// once when another store is given the option.
public let NSValidateXMLStoreOption = "NSValidateXMLStoreOption"

/// Classes that a binary store may decode besides the usual ones. There are no binary stores here: as above.
public let NSBinaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"

/// True: a binary store may decode any class. There are no binary stores here: as above.
public let NSBinaryStoreInsecureDecodingCompatibilityOption = "NSBinaryStoreInsecureDecodingCompatibilityOption"
