import Foundation
import Synchronization

/// A store without a file: its rows exist as long as it is added to a coordinator.
final class InMemoryStore: NSPersistentStore, @unchecked Sendable {
    // Sendable: the mutex guards the rows.

    // Guards the rows, which are created once.
    private let storedRows = Mutex<MemoryRows?>(nil)

    override var snapshotStore: (any SnapshotStore)? { storedRows.withLock { $0 } }

    override var history: (any StoreHistory)? { storedRows.withLock { $0 }?.history }

    override var type: String { NSInMemoryStoreType }

    override var sharedPlace: String? { identifier }

    override func loadMetadata() throws {
        metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString]
    }

    override func prepareForRequests() throws {
        guard let modelLayout else { return }
        let rows = MemoryRows(
            layouts: modelLayout, store: self,
            history: Self.wantsHistory(options) && !isReadOnly ? MemoryHistory(of: self) : nil)
        storedRows.withLock { $0 = rows }
    }

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        throw notOnDisk(url)
    }

    override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        throw notOnDisk(url)
    }

    private class func notOnDisk(_ url: URL) -> NSError {
        CoreDataErrors.make(
            .persistentStoreOperation,
            "A store in memory has metadata only while it is open, so there are none at \(StoreName.path(url)).",
            recovery: "Ask the coordinator that has the store: metadata(for:) and setMetadata(_:for:).",
            userInfo: StoreOpeningErrors.userInfo(type: NSInMemoryStoreType, url: url))
    }

    override class func hasFile(at url: URL) -> Bool { false }

    override class func ownURL() -> URL? { URL(string: "memory://\(UUID().uuidString)") }

    /// Leaves any file at the URL alone: it is not the store's.
    override class func destroyStore(ofType type: String, at url: URL, options: [AnyHashable: Any]?) throws {}

    override class func replaceStore(
        ofType type: String, at url: URL, options: [AnyHashable: Any]?, withStoreAt source: URL,
        sourceOptions: [AnyHashable: Any]?
    ) throws {
        throw CoreDataErrors.make(
            .persistentStoreOperation,
            "The store \(StoreName.text(type: type, url: url)) cannot be replaced: it lives in memory and has no file.",
            recovery: "Add the other store in its place, or copy its objects with migratePersistentStore.",
            userInfo: StoreOpeningErrors.userInfo(type: type, url: url))
    }
}
