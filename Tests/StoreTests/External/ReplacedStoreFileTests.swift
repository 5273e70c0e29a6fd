import TestSupport
import Testing

@testable import CoreData

/// Replacements whose rows arrive, but whose last step fails.
struct ReplacedStoreFileTests {
    @Test func theFilesOfRowsThatWereCopiedStay() throws {
        let archive = try Archive()
        archive.insert("Tag", "red")
        try archive.context.save()
        try archive.close()
        let destination = archive.folder.file("destination.sqlite")
        let options: [AnyHashable: Any] = [NSSQLitePragmasOption: ["journal_mode": "DELETE"]]
        for store in try Archive.open(destination, options).persistentStores {
            try store.persistentStoreCoordinator?.remove(store)
        }

        // A log needs this file; a link that leads nowhere is not followed.
        let shared = destination.path + "-shm"
        try FileManager.default.createSymbolicLink(atPath: shared, withDestinationPath: "/nowhere/at/all")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Archive.model())
        #expect(throws: (any Error).self) {
            try coordinator.replacePersistentStore(at: destination, withPersistentStoreFrom: archive.url, type: .sqlite)
        }
        try FileManager.default.removeItem(atPath: shared)

        #expect(SQLiteFile(destination).column("SELECT ZNAME FROM ZTAG") == ["red"], "the rows were copied")
        let context = try Archive.open(destination).newContext()
        let tag = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).first)
        #expect(tag.value(forKey: "scan") as? Data == Archive.large("red", 1))
    }
}
