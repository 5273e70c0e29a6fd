import Foundation

/// Operations on stores that are not open, by the name of their type.
enum StoreFiles {
    /// The model that a store keeps in itself; nil when its type keeps none, or it has none.
    ///
    /// - Throws: `ModelReadingError` where there is one that cannot be read, and what reading the file throws.
    static func cachedModel(ofType type: String, at url: URL?) throws -> NSManagedObjectModel? {
        guard let url, let storeClass = StoreTypeRegistry.classesByType[type] else { return nil }
        do {
            return try storeClass.modelInStore(at: url)
        } catch var error as ModelReadingError {
            error.file = error.file ?? url.path
            throw error
        }
    }

    /// Whether a store of a type is kept in a file at a URL.
    static func hasFile(ofType type: String, at url: URL) -> Bool {
        StoreTypeRegistry.classesByType[type]?.hasFile(at: url) ?? url.isFileURL
    }
}
