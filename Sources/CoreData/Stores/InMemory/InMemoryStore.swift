import Foundation

/// A store that keeps nothing: its rows live as long as it is added to a coordinator.
final class InMemoryStore: NSAtomicStore, @unchecked Sendable {
    // Sendable: no state of its own.

    override var type: String { NSInMemoryStoreType }

    override func loadMetadata() throws {
        metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString]
    }

    override func load() throws {}

    override func save() throws {}

    override var keepsNodes: Bool { false }

    override class func unsupportedFeatures(of entities: [NSEntityDescription]) -> [String] { [] }

    override func referenceText(forKey key: Int64, of entity: EntityLayout) -> String { "p\(key)" }

    override func key(forReferenceText text: String, of entity: EntityLayout) -> Int64? {
        guard text.hasPrefix("p"), let key = Int64(text.dropFirst()), key > 0 else { return nil }
        return key
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
