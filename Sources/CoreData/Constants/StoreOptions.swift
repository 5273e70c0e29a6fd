// Options for adding stores.
//
// Source:
// <https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/store-options>

// MARK: For every store

/// A `Bool` or number. True: saves of changes to the store are refused, and its file is not
/// written. The default is false.
///
/// ```swift
/// let store = try coordinator.addPersistentStore(
///     type: .sqlite, at: url, options: [NSReadOnlyPersistentStoreOption: true])
/// ```
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"

/// The number of seconds to wait for a store that another connection has locked: a number, 0 or
/// more. The default is 60 for SQLite stores and 30 for PostgreSQL stores.
///
/// After that time requests throw code 134090, whose message names the process that holds the lock
/// of a file, where the system tells. More than 24 days, such as `.infinity`, count as 24 days.
/// Closing a store does not wait.
///
/// ```swift
/// try coordinator.addPersistentStore(
///     type: .sqlite, at: url, options: [NSPersistentStoreTimeoutOption: 5])
/// ```
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"

/// A `Bool` or number. True: the store is opened although its entities' version hashes differ from
/// the model's. The default is false.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"

/// A `Bool` or number. True: a store of another version of the model is migrated when it is added.
///
/// Migrating the rows takes time. The default is false, and true in an
/// `NSPersistentStoreDescription`.
///
/// ```swift
/// let options = [
///     NSMigratePersistentStoresAutomaticallyOption: true,
///     NSInferMappingModelAutomaticallyOption: true
/// ]
/// try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
/// ```
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"

/// A `Bool` or number. True: a mapping model is inferred for a migration if none is found.
///
/// The default is false, and true in an `NSPersistentStoreDescription`.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"

/// The URL to which a store is copied before it is migrated, with its external files: a file URL of
/// a store of the same type. Core Data has no such option.
///
/// The copy is made when a migration begins, so that it is there if the migration fails. A store at
/// the URL is replaced. A store that needs no migration is not copied. If no copy can be made, the
/// store is not migrated, and adding it throws.
///
/// ```swift
/// description.setOption(backupURL as NSURL, forKey: NSPersistentStoreMigrationBackupURLOption)
/// ```
public let NSPersistentStoreMigrationBackupURLOption = "NSPersistentStoreMigrationBackupURLOption"

/// The `NSStagedMigrationManager` that migrates the store.
///
/// It is used with `NSMigratePersistentStoresAutomaticallyOption` and
/// `NSInferMappingModelAutomaticallyOption`, which a description sets.
///
/// ```swift
/// description.setOption(stages, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
/// ```
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"

/// A `Bool` or number. True: a lightweight migration of a SQLite store leaves what does not change
/// the store's content for later. The default is false.
///
/// These are indexes that are not unique, and the removal of former tables, whose space on the disk
/// is in use until then. While any is left, the store's metadata have this key with true;
/// `NSPersistentStoreCoordinator.finishDeferredLightweightMigration()` does the rest. Fetches that
/// need a missing index take longer until then. The next migration does what is left, too.
///
/// Rows are always copied before the store opens. Migrations by a mapping model or in several
/// steps, and those of other stores, leave nothing.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
    "NSPersistentStoreDeferredLightweightMigrationOptionKey"

/// A `Bool` or number, or a dictionary, which means true. True: changes are recorded as persistent
/// history, which `NSPersistentHistoryChangeRequest` reads.
///
/// Without the option, a store in which changes were recorded is read-only, so that its history
/// gets no gap. SQLite stores, stores in memory and PostgreSQL stores record history: if another
/// store is given the option, a message says so once.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"

/// A `Bool` or number. True: `NSPersistentStoreRemoteChange` is posted when a save of this process
/// or of another one has changed the store, and contexts with
/// `automaticallyMergesChangesFromParent` merge what others have saved. The default is false.
///
/// Cost: for a SQLite store the system watches its files, and each commit of others makes cached
/// rows be read again; for a PostgreSQL store it needs a connection of its own.
///
/// ```swift
/// description.setOption(
///     true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
/// ```
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey = "NSPersistentStoreRemoteChangeNotificationOptionKey"

// MARK: For SQLite stores

/// Pragmas (`[String: String]`) for the connections of the store: plain names and values.
///
/// A dictionary of anything else makes opening the store fail (134080). `page_size`, `encoding` and
/// `auto_vacuum` apply to a newly made file; an existing file keeps its own.
///
/// ```swift
/// let options = [NSSQLitePragmasOption: ["synchronous": "FULL"]]
/// try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
/// ```
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"

/// A `Bool` or number. True: the database's statistics are updated when the store is added, which
/// reads its indexes.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"

/// A `Bool` or number. True: the database is compacted when the store is added, which rewrites all
/// of it.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"

/// The maximum number of connections that the store opens: a number of at least 1.
///
/// One connection writes; if there is only one, it also reads. A fetch waits for a free connection
/// for at most `NSPersistentStoreTimeoutOption`.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"

/// A `Bool` or number, for `destroyPersistentStore`. True: the store is destroyed even if it is
/// damaged or locked.
///
/// A locked store is destroyed when its other users do not release their locks within
/// `NSPersistentStoreTimeoutOption`. An empty file then replaces that of a SQLite store, and
/// everything that the other users write is lost.
///
/// ```swift
/// try coordinator.destroyPersistentStore(
///     at: url, type: .sqlite, options: [NSPersistentStoreForceDestroyOption: true])
/// ```
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"

/// The encryption of a store's files (`FileProtectionType`) on systems that do it by themselves.
///
/// Linux does not: a message says so once when a store is given the option.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"

// MARK: For XML and binary stores

/// A `Bool`. True: an XML store is validated against its document type when it is added.
///
/// XML files are always checked when they are read: a message says so once when a store is given
/// the option.
public let NSValidateXMLStoreOption = "NSValidateXMLStoreOption"

/// Classes that a binary store may decode besides the usual ones.
///
/// Binary files are read without decoding objects: a message says so once when a store is given the
/// option.
public let NSBinaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"

/// True: a binary store may decode any class.
///
/// Binary files are read without decoding objects: a message says so once when a store is given the
/// option.
public let NSBinaryStoreInsecureDecodingCompatibilityOption = "NSBinaryStoreInsecureDecodingCompatibilityOption"
