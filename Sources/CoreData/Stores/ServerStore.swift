import Foundation

/// A store whose class is in another module of the package: what the coordinator asks of it beside the public API of `NSPersistentStore`.
///
/// A class of another module overrides public members alone, so these stand in a protocol. `NSPersistentStore` passes on to it what it is
/// asked for; a store in this module overrides the members there.
package protocol ServerStore: NSPersistentStore, SnapshotStore {
    // MARK: Stores that are not open

    /// The model that the store at a URL keeps in itself; nil where it has none.
    static func storedModel(at url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel?

    /// The metadata of the store at a URL.
    static func storedMetadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any]

    /// Replaces the metadata of the store at a URL, but for its own entries.
    static func replaceStoredMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws

    /// Removes the store at a URL. It is no error when there is none.
    static func destroy(at url: URL, options: [AnyHashable: Any]?) throws

    /// Copies the store at one URL over the one at another.
    static func replace(at url: URL, options: [AnyHashable: Any]?, withStoreAt source: URL, sourceOptions: [AnyHashable: Any]?) throws

    // MARK: The open store

    /// The model that the store keeps in itself, whose metadata were loaded; nil where it has none.
    func storedModel() throws -> NSManagedObjectModel?

    /// Brings the store to the model's version, when its metadata was found not to fit, and loads the metadata anew.
    func migrateStore(_ migration: StoreMigration) throws

    /// Called once the metadata was found to fit the model, before the store is listed.
    func openForRequests() throws

    /// Goes on at another URL, and where it was if that cannot be.
    func moveStore(to url: URL) throws
}
