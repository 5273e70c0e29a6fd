import Foundation

/// Operations on stores that are not open, by the name of their type.
enum StoreFiles {
    /// The model that a store contains; nil if stores of its type contain none, or this one has
    /// none.
    ///
    /// - Throws: `ModelReadingError` if the model cannot be read, and the errors of reading the
    ///   file.
    static func cachedModel(ofType type: String, at url: URL, options: [AnyHashable: Any]?) throws
        -> NSManagedObjectModel?
    {
        try naming(url) { try StoreTypeRegistry.classesByType[type]?.modelInStore(at: url, options: options) }
    }

    static func cachedModel(of store: NSPersistentStore) throws -> NSManagedObjectModel? {
        try naming(store.url) { try store.modelInStore() }
    }

    private static func naming<Result>(_ url: URL?, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch var error as ModelReadingError {
            error.file = error.file ?? StoreName.path(url)
            throw error
        }
    }

    static func hasFile(ofType type: String, at url: URL) -> Bool {
        StoreTypeRegistry.classesByType[type]?.hasFile(at: url) ?? url.isFileURL
    }
}
