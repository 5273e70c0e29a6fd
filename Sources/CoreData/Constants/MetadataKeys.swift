// Keys of a store's metadata.
//
// Source:
// <https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/store-metadata>

/// The store's type (`String`).
public let NSStoreTypeKey = "NSStoreType"

/// The store's UUID (`String`), which is part of the URI of each of its objects.
///
/// ```swift
/// let identifier = coordinator.metadata(for: store)[NSStoreUUIDKey] as? String
/// ```
public let NSStoreUUIDKey = "NSStoreUUID"

/// The version hashes (`[String: Data]`, by entity name) of the model with which the store was
/// made.
///
/// ```swift
/// let hashes = coordinator.metadata(for: store)[NSStoreModelVersionHashesKey] as? [String: Data]
/// ```
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"

/// The version identifiers (`[String]`) of the model with which the store was made.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"

/// The checksum (`String`) of the model with which the store was made.
public let NSPersistentStoreModelVersionChecksumKey = "NSStoreModelVersionChecksumKey"

/// The system with which the store can be used. Stores made here do not contain it.
public let NSPersistentStoreOSCompatibility = "NSPersistentStoreOSCompatibility"

/// The version of this framework that stores record.
public var NSCoreDataVersionNumber: Double { 1526 }
