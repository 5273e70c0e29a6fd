import Foundation

// URLs and metadata of stores.
extension NSPersistentStoreCoordinator {
    static func isSame(_ first: URL, _ second: URL) -> Bool {
        guard first.isFileURL, second.isFileURL else {
            return first.withoutPassword.absoluteString == second.withoutPassword.absoluteString
        }
        return first.standardizedFileURL.path == second.standardizedFileURL.path
    }

    func place(of store: NSPersistentStore) -> URL {
        guard let url = store.url else { preconditionFailure("The store \(store) has no URL.") }
        return url
    }

    func move(_ store: NSPersistentStore, to url: URL) -> Bool {
        changingStores.withLock {
            guard addedStores.contains(where: { $0.store === store }) else { return false }
            if let other = persistentStore(for: url), other !== store { return false }
            do { try store.move(to: url) } catch { return false }
            return true
        }
    }

    // MARK: - Stores that are not open

    /// The metadata of the store at a URL, read without opening it.
    ///
    /// ```swift
    /// let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
    ///     type: .sqlite, at: url)
    /// let fits = model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    /// ```
    ///
    /// - Throws: a `CocoaError` when the type is unknown or the store cannot be read.
    public class func metadataForPersistentStore(
        type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try metadataForPersistentStore(ofType: type.rawValue, at: url, options: options)
    }

    /// The metadata of the store at a URL, read without opening it.
    ///
    /// - Throws: a `CocoaError` when the type is unknown or the store cannot be read.
    public class func metadataForPersistentStore(
        ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try StoreTypeRegistry.storeClass(for: storeType, at: url).metadata(at: url, options: options)
    }

    /// The metadata of the store at a URL, whatever its type.
    ///
    /// The first registered class that can read the store returns its metadata.
    ///
    /// Cost: each registered class tries the file until one can read it.
    ///
    /// - Throws: `CocoaError.persistentStoreInvalidType` (134000) when no class can read the store;
    ///   `NSDetailedErrorsKey` holds the error of each class.
    public class func metadataForPersistentStore(with url: URL) throws -> [AnyHashable: Any] {
        var failures: [any Error] = []
        for (_, storeClass) in StoreTypeRegistry.classesByType.sorted(by: { $0.key < $1.key }) {
            do { return try storeClass.metadataForPersistentStore(with: url) } catch { failures.append(error) }
        }
        var userInfo = StoreOpeningErrors.userInfo(type: nil, url: url)
        userInfo[NSDetailedErrorsKey] = failures
        throw CoreDataErrors.make(
            .persistentStoreInvalidType,
            "The file \(StoreName.path(url)) is not a store of any known type, or cannot be read.",
            recovery: "Each detailed error says why the stores of one type do not take it.", userInfo: userInfo)
    }

    /// Replaces the metadata of the store at a URL at once. The store must not be open.
    ///
    /// Entries that the store cannot do without, such as its UUID and the hashes of its model, stay
    /// as they are if they are not given.
    ///
    /// ```swift
    /// var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
    ///     type: .sqlite, at: url)
    /// metadata["origin"] = "import"
    /// try NSPersistentStoreCoordinator.setMetadata(metadata, type: .sqlite, at: url)
    /// ```
    ///
    /// - Throws: a `CocoaError` when the type is unknown or the store cannot be written.
    public class func setMetadata(
        _ metadata: [String: Any]?, type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws {
        try setMetadata(metadata, forPersistentStoreOfType: type.rawValue, at: url, options: options)
    }

    /// Replaces the metadata of the store at a URL at once. The store must not be open.
    ///
    /// - Throws: a `CocoaError` when the type is unknown or the store cannot be written.
    public class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        try StoreTypeRegistry.storeClass(for: storeType, at: url).setMetadata(metadata, at: url, options: options)
    }
}
