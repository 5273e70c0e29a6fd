import CoreData
import TestSupport
import Testing

/// Backups of stores: made as files of their own, and brought back.
@Suite struct BackupTests {
    let folder: TemporaryFolder
    let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("store.sqlite")
    }

    private func open(
        _ url: URL? = nil, options: [AnyHashable: Any]? = nil
    ) throws -> (NSPersistentStoreCoordinator, NSPersistentStore) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        return (coordinator, try coordinator.addPersistentStore(type: .sqlite, at: url ?? self.url, options: options))
    }

    private func fill(_ coordinator: NSPersistentStoreCoordinator, _ name: String) throws {
        let context = coordinator.newContext()
        context.author(name)
        try context.save()
    }

    /// A closed store of one author.
    private func make(_ name: String, at url: URL) throws {
        let (coordinator, store) = try open(url)
        try fill(coordinator, name)
        try coordinator.remove(store)
    }

    private func names(_ url: URL) -> [String?] { SQLiteFile(url).column("SELECT ZNAME FROM ZAUTHOR ORDER BY ZNAME") }

    // MARK: - Copies of all objects

    @Test(arguments: StoreKind.persistent, [true, false]) func metadataOfACopyAreWrittenWithIt(kind: StoreKind, hasRows: Bool) throws {
        let (coordinator, store) = try open()
        if hasRows { try fill(coordinator, "Ada") }
        coordinator.setMetadata(["city": "Rome"], for: store)
        let target = try MigratedStore(kind)
        let new = try coordinator.migratePersistentStore(store, to: target.url, options: nil, withType: kind.type)
        try coordinator.remove(new)
        let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.type, at: target.url)
        #expect(read["city"] as? String == "Rome")
        #expect(read[NSStoreUUIDKey] as? String == new.identifier)
        #expect(read[NSStoreTypeKey] as? String == kind.type)
    }
}
