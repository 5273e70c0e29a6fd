// Keys of a store's metadata.
//
// Source: <https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/store-metadata>

/// The store's type (`String`).
public let NSStoreTypeKey = "NSStoreType"

/// The store's UUID (`String`); it stands in the URI of each of its objects.
///
/// ```swift
/// let identifier = coordinator.metadata(for: store)[NSStoreUUIDKey] as? String
/// ```
public let NSStoreUUIDKey = "NSStoreUUID"

/// The version hashes (`[String: Data]`, by entity name) of the model that the store was made with.
///
/// ```swift
/// let hashes = coordinator.metadata(for: store)[NSStoreModelVersionHashesKey] as? [String: Data]
/// ```
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"

/// The version identifiers (`[String]`) of the model that the store was made with.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"

/// The checksum (`String`) of the model that the store was made with.
public let NSPersistentStoreModelVersionChecksumKey = "NSStoreModelVersionChecksumKey"

/// The system that the store can be used with. Stores made here do not say.
public let NSPersistentStoreOSCompatibility = "NSPersistentStoreOSCompatibility"

/// The version of this framework that stores record.
public var NSCoreDataVersionNumber: Double { 1526 }
