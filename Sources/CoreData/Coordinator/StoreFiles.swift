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

    /// Empties or removes the store at a URL. It is no error when there is none. A store in memory has no file: whatever stands at
    /// its URL is left alone.
    ///
    /// - Throws: when there is anything but a regular file that the type's class can read.
    static func destroy(type: String, at url: URL, options: [AnyHashable: Any]?) throws {
        let storeClass = try StoreTypeRegistry.storeClass(for: type, at: url)
        if let sqlite = storeClass as? SQLiteStore.Type { return try sqlite.destroy(at: url, options: options) }
        if storeClass is InMemoryStore.Type { return }
        guard url.isFileURL, FileManager.default.fileExists(atPath: url.path) else { return }
        try requireStore(
            storeClass, type: type, at: url, "destroyed",
            isForced: NSPersistentStore.flag(options, NSPersistentStoreForceDestroyOption))
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
        if storeClass is InMemoryStore.Type {
            throw CoreDataErrors.make(
                .persistentStoreOperation,
                "The store \(StoreName.text(type: type, url: url)) cannot be replaced: it lives in memory and has no file.",
                recovery: "Add the other store in its place, or copy its objects with migratePersistentStore.",
                userInfo: StoreOpeningErrors.userInfo(type: type, url: url))
        }
        guard source.isFileURL, url.isFileURL, FileManager.default.fileExists(atPath: source.path) else {
            throw CoreDataErrors.make(
                .persistentStoreOperation,
                "The store \(StoreName.text(type: type, url: url)) cannot be replaced: there is no file "
                    + "\(StoreName.path(source)) to copy.",
                userInfo: StoreOpeningErrors.userInfo(type: type, url: source))
        }
        if FileManager.default.fileExists(atPath: url.path) { try requireStore(storeClass, type: type, at: url, "replaced") }
        // Written beside the destination first, so that a failure leaves the old store as it was.
        try Data(contentsOf: source).write(to: url, options: .atomic)
    }

    /// - Throws: when what stands at the URL itself, no link followed, is no regular file, or no store that the class can read.
    ///
    /// - Parameter isForced: whether a regular file need not be readable.
    private static func requireStore(
        _ storeClass: NSPersistentStore.Type, type: String, at url: URL, _ act: String, isForced: Bool = false
    ) throws {
        let kind = try FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType
        guard kind == .typeRegular else {
            throw CoreDataErrors.make(
                .persistentStoreOperation,
                "The store \(StoreName.text(type: type, url: url)) cannot be \(act): there is no regular file"
                    + (kind == .typeDirectory ? ", but a directory." : "."),
                userInfo: StoreOpeningErrors.userInfo(type: type, url: url))
        }
        if isForced { return }
        do { _ = try storeClass.metadataForPersistentStore(with: url) } catch {
            throw CoreDataErrors.make(
                .persistentStoreOperation,
                "The file \(url.path) cannot be \(act): it is no store of the type '\(type)', as \(storeClass) cannot read its "
                    + "metadata (\(error.localizedDescription)).",
                recovery: "Remove the file yourself if nobody needs it.",
                userInfo: StoreOpeningErrors.userInfo(type: type, url: url).merging([NSUnderlyingErrorKey: error]) { $1 })
        }
    }
}
