import Foundation

extension NSPersistentStore {
    /// The entries of metadata that a store cannot be without: its own, whatever a program replaces.
    static let ownMetadataKeys: Set<String> = [
        NSStoreTypeKey, NSStoreUUIDKey, NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey,
        NSPersistentStoreModelVersionChecksumKey, "NSStoreModelVersionHashesVersion", "NSStoreModelVersionHashesDigest",
        "NSPersistenceFrameworkVersion", "_NSAutoVacuumLevel",
    ]
}
