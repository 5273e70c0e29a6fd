import Foundation

extension NSPersistentStore {
    /// The entries of metadata that a store cannot be without: its own, whatever a program replaces.
    static let ownMetadataKeys: Set<String> = [
        NSStoreTypeKey, NSStoreUUIDKey, NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey,
        NSPersistentStoreModelVersionChecksumKey, "NSStoreModelVersionHashesVersion", "NSStoreModelVersionHashesDigest",
        "NSPersistenceFrameworkVersion", "_NSAutoVacuumLevel",
    ]

    /// The metadata that replace others: what is given, and the store's own entries of the former that are not.
    static func metadata(_ given: [String: Any]?, replacing former: [String: Any]) -> [String: Any] {
        former.filter { ownMetadataKeys.contains($0.key) }.merging(given ?? [:]) { _, given in given }
    }
}
