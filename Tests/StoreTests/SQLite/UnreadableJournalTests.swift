import TestSupport
import Testing

@testable import CoreData

/// Stores whose journal holds committed rows, in places where SQLite cannot make the files that it
/// needs to read it.
struct UnreadableJournalTests {
    let folder: TemporaryFolder
    let url: URL

    /// A copy of a store as another program left it while it was running: its only row is in the
    /// WAL.
    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("store.sqlite")
        let original = folder.file("original.sqlite")
        let open = try OpenStore(model: TestModel.company(), url: original)
        try open.insert("Tag", ["name": .string("red")])
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: original.path + suffix, toPath: url.path + suffix)
        }
        let size = try FileManager.default.attributesOfItem(atPath: url.path + "-wal")[.size] as? NSNumber
        try #require(size?.intValue ?? 0 > 0)
    }

    private func error(_ body: () throws -> Void) -> NSError? {
        do {
            try body()
            return nil
        } catch {
            return error as NSError
        }
    }

    private func expectRefusals() {
        let readOnly: [AnyHashable: Any] = [NSReadOnlyPersistentStoreOption: true]
        let refusals = [
            error { _ = try OpenStore(model: TestModel.company(), url: url, options: readOnly) },
            error { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url) },
            error { _ = try SQLiteStore.cachedModel(at: url) },
            error {
                try SQLiteStore.replace(
                    at: folder.file("copy.sqlite"), destinationOptions: nil, withStoreAt: url, sourceOptions: nil)
            },
        ]
        for refusal in refusals {
            #expect(refusal?.code == CocoaError.persistentStoreOpen.rawValue)
            #expect(
                refusal?.localizedDescription.contains("store.sqlite-wal") == true, "\(String(describing: refusal))")
        }
    }

    @Test func aDanglingLinkInPlaceOfTheSharedMemoryHidesNoCommittedRows() throws {
        try FileManager.default.createSymbolicLink(
            atPath: url.path + "-shm", withDestinationPath: folder.file("missing/elsewhere").path)
        expectRefusals()
        try FileManager.default.removeItem(atPath: url.path + "-shm")
        #expect(try OpenStore(model: TestModel.company(), url: url).strings("Tag") == ["red"])
    }

    @Test func aLinkToTheStoreHidesNoCommittedRows() throws {
        let link = folder.file("link.sqlite")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
        try FileManager.default.createSymbolicLink(
            atPath: url.path + "-shm", withDestinationPath: folder.file("missing/elsewhere").path)
        let refusal = error {
            _ = try OpenStore(model: TestModel.company(), url: link, options: [NSReadOnlyPersistentStoreOption: true])
        }
        #expect(refusal?.code == CocoaError.persistentStoreOpen.rawValue)
        #expect(refusal?.localizedDescription.contains("store.sqlite-wal") == true, "\(String(describing: refusal))")
    }

    @Test func aFolderInPlaceOfTheSharedMemoryHidesNoCommittedRows() throws {
        // SQLite indexes the journal in memory where the shared memory can be opened but not
        // written.
        try FileManager.default.createDirectory(atPath: url.path + "-shm", withIntermediateDirectories: false)
        let open = try OpenStore(
            model: TestModel.company(), url: url, options: [NSReadOnlyPersistentStoreOption: true])
        #expect(try open.strings("Tag") == ["red"])
    }

    /// The superuser may write anywhere, so that there is no read-only folder for it.
    @Test(.enabled(if: geteuid() != 0))
    func aReadOnlyFolderHidesNoCommittedRows() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder.url.path)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.url.path) }
        let readOnly: [AnyHashable: Any] = [NSReadOnlyPersistentStoreOption: true]
        let refusal = error { _ = try OpenStore(model: TestModel.company(), url: url, options: readOnly) }
        #expect(refusal?.localizedDescription.contains("store.sqlite-wal") == true)
    }

    @Test func withoutAJournalTheStoreIsReadWhereItIs() throws {
        let plain = folder.file("plain.sqlite")
        let open = try OpenStore(model: TestModel.company(), url: plain)
        try open.insert("Tag", ["name": .string("blue")])
        try open.close()
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: plain.path + suffix) }
        try FileManager.default.createSymbolicLink(
            atPath: plain.path + "-shm", withDestinationPath: folder.file("missing/elsewhere").path)
        let reopened = try OpenStore(
            model: TestModel.company(), url: plain, options: [NSReadOnlyPersistentStoreOption: true])
        #expect(try reopened.strings("Tag") == ["blue"])
    }
}
