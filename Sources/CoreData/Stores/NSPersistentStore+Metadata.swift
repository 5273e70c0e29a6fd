import Foundation

extension NSManagedObjectModel {
    /// The version identifiers as a store's metadata list them: property list values as they are, others as texts.
    var listedVersionIdentifiers: [Any] {
        versionIdentifiers.sorted { "\($0)" < "\($1)" }.map { identifier in
            switch identifier.base {
            case let value as any BinaryInteger: NSNumber(value: Int64(clamping: value))
            case let value where value is String || value is NSNumber || value is Double || value is Date || value is Data: value
            default: "\(identifier)"
            }
        }
    }
}

extension NSPersistentStore {
    /// The entries of metadata that a store cannot be without: its own, whatever a program replaces.
    static let ownMetadataKeys: Set<String> = [
        NSStoreTypeKey, NSStoreUUIDKey, NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey,
        NSPersistentStoreModelVersionChecksumKey, "NSStoreModelVersionHashesVersion", "NSStoreModelVersionHashesDigest",
        "NSPersistenceFrameworkVersion", "_NSAutoVacuumLevel",
    ]

    /// The metadata that replace others: what is given, and the store's own entries of the former that are not.
    package static func metadata(_ given: [String: Any]?, replacing former: [String: Any]) -> [String: Any] {
        former.filter { ownMetadataKeys.contains($0.key) }.merging(given ?? [:]) { _, given in given }
    }
}
