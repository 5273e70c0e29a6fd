import Foundation
import Synchronization

/// A store that keeps nothing: its rows live as long as it is added to a coordinator.
final class InMemoryStore: NSPersistentStore, @unchecked Sendable {
    // Sendable: the rows lie behind the mutex.

    // Guards the rows, which are made once.
    private let storedRows = Mutex<MemoryRows?>(nil)

    override var snapshotStore: (any SnapshotStore)? { storedRows.withLock { $0 } }

    override var type: String { NSInMemoryStoreType }

    override func loadMetadata() throws {
        metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString]
    }

    override func prepareForRequests() throws {
        guard let modelLayout else { return }
        let rows = MemoryRows(layouts: modelLayout, store: self)
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
}
