import Foundation

/// A store whose class is in another module of the package, as the coordinator calls it.
///
/// These members complement the public API of `NSPersistentStore`. A class of another module can
/// override only public members, so they are in a protocol. `NSPersistentStore` forwards its calls
/// to it; a store in this module overrides the members there.
package protocol ServerStore: NSPersistentStore, SnapshotStore {
    // MARK: Stores that are not open

    /// The model that the store at a URL contains; nil where it has none.
    static func storedModel(at url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel?

    /// The metadata of the store at a URL.
    static func storedMetadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any]

    /// Replaces the metadata of the store at a URL, except the store's own entries.
    static func replaceStoredMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws

    /// Removes the store at a URL. It is no error when there is none.
    static func destroy(at url: URL, options: [AnyHashable: Any]?) throws

    /// Copies the store at one URL over the one at another.
    static func replace(
        at url: URL, options: [AnyHashable: Any]?, withStoreAt source: URL, sourceOptions: [AnyHashable: Any]?) throws

    /// Replaces the store at a URL with one that a body makes at another URL of the server, in one
    /// transaction. Other programs read the store meanwhile; what they write waits.
    ///
    /// - Parameter body: returns whether the store that it has made is to replace the other one.
    ///   If it throws, the other one stays as it was.
    static func rewrite(at url: URL, options: [AnyHashable: Any]?, _ body: (URL) throws -> Bool) throws

    // MARK: The open store

    /// The model that the store contains; nil where it has none. The metadata must have been
    /// loaded.
    func storedModel() throws -> NSManagedObjectModel?

    /// Migrates the store to the model's version and loads its metadata again.
    ///
    /// Called when the metadata does not fit the model.
    func migrateStore(_ migration: StoreMigration) throws

    /// Called when the metadata fits the model, before the coordinator lists the store.
    func openForRequests() throws

    /// The record of the store's transactions; nil where it has none.
    var storedHistory: (any StoreHistory)? { get }

    /// Moves the store to another URL, and back to the former one if that fails.
    func moveStore(to url: URL) throws
}
