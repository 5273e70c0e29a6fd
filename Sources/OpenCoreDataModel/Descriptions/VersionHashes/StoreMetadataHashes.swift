import Foundation

/// The entries of a store's metadata that contain the versions of its entities.
package enum StoreMetadataHashes {
    /// The metadata's key for the entity hashes.
    static let hashesKey = "NSStoreModelVersionHashes"

    /// Returns the entity hashes by name; nil when they are missing or not in the expected form.
    package static func hashes(in metadata: [String: Any]) -> [String: Data]? {
        guard let entries = metadata[hashesKey] as? [String: Any] else { return nil }
        var hashes: [String: Data] = [:]
        for (name, value) in entries {
            guard let data = (value as? Data) ?? (value as? NSData).map({ $0 as Data }) else { return nil }
            hashes[name] = data
        }
        return hashes
    }
}
