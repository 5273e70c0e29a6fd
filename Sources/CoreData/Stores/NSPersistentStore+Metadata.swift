import Foundation

extension NSManagedObjectModel {
    /// The version identifiers as a store's metadata list them.
    ///
    /// Property list values stay as they are; others become text.
    var listedVersionIdentifiers: [Any] {
        versionIdentifiers.sorted { "\($0)" < "\($1)" }.map { identifier in
            switch identifier.base {
            case let value as any BinaryInteger: NSNumber(value: Int64(clamping: value))
            case let value
            where value is String || value is NSNumber || value is Double || value is Date || value is Data: value
            default: "\(identifier)"
            }
        }
    }
}

extension NSPersistentStore {
    /// The metadata entries of the store itself, which stay when a program replaces the metadata.
    static func isOwnMetadata(_ key: String) -> Bool { ownMetadataKeys.contains(key) || HistoryReaders.isKey(key) }

    private static let ownMetadataKeys: Set<String> = [
        NSStoreTypeKey, NSStoreUUIDKey, NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey,
        NSPersistentStoreModelVersionChecksumKey, "NSStoreModelVersionHashesVersion", "NSStoreModelVersionHashesDigest",
        "NSPersistenceFrameworkVersion", "_NSAutoVacuumLevel", NSPersistentStoreDeferredLightweightMigrationOptionKey,
    ]

    /// Returns new metadata that replace `former`.
    ///
    /// They have the given entries, and the store's own entries of `former` that are not given.
    package static func metadata(_ given: [String: Any]?, replacing former: [String: Any]) -> [String: Any] {
        former.filter { isOwnMetadata($0.key) }.merging(given ?? [:]) { _, given in given }
    }
}
