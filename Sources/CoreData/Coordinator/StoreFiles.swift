import Foundation

/// Operations on stores that are not open, by type.
enum StoreFiles {
    /// The model that a store keeps in itself; nil when its type keeps none, or it has none.
    ///
    /// - Throws: `ModelReadingError` where there is one that cannot be read, and what reading the file throws.
    static func cachedModel(ofType type: String, at url: URL?) throws -> NSManagedObjectModel? {
        guard let url, let sqlite = StoreTypeRegistry.classesByType[type] as? SQLiteStore.Type else { return nil }
        do {
            return try sqlite.cachedModel(at: url)
        } catch var error as ModelReadingError {
            error.file = error.file ?? url.path
            throw error
        }
    }

    /// Empties or removes the store at a URL. It is no error when there is none.
    static func destroy(type: String, at url: URL, options: [AnyHashable: Any]?) throws {
        let storeClass = try StoreTypeRegistry.storeClass(for: type, at: url)
        if let sqlite = storeClass as? SQLiteStore.Type { return try sqlite.destroy(at: url, options: options) }
        guard url.isFileURL, FileManager.default.fileExists(atPath: url.path) else { return }
        guard try isDirectory(url) == false else {
            throw CoreDataErrors.make(
                .persistentStoreOperation,
                "The store \(StoreName.text(type: type, url: url)) cannot be destroyed: there is a directory, not a file.",
                userInfo: StoreOpeningErrors.userInfo(type: type, url: url))
        }
        try FileManager.default.removeItem(at: url)
    }

    /// Copies the store at one URL over the one at another. Neither may be open.
    static func replace(
        type: String, at url: URL, destinationOptions: [AnyHashable: Any]?, from source: URL,
        sourceOptions: [AnyHashable: Any]?
    ) throws {
        let storeClass = try StoreTypeRegistry.storeClass(for: type, at: url)
        if let sqlite = storeClass as? SQLiteStore.Type {
            return try sqlite.replace(
                at: url, destinationOptions: destinationOptions, withStoreAt: source, sourceOptions: sourceOptions)
        }
        guard source.isFileURL, url.isFileURL, FileManager.default.fileExists(atPath: source.path) else {
            throw CoreDataErrors.make(
                .persistentStoreOperation,
                "The store \(StoreName.text(type: type, url: url)) cannot be replaced: there is no file "
                    + "\(StoreName.path(source)) to copy.",
                userInfo: StoreOpeningErrors.userInfo(type: type, url: source))
        }
        // Written beside the destination first, so that a failure leaves the old store as it was.
        try Data(contentsOf: source).write(to: url, options: .atomic)
    }

    private static func isDirectory(_ url: URL) throws -> Bool {
        try FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType == .typeDirectory
    }
}
