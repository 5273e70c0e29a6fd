import TestSupport
import Testing

@testable import CoreData

/// Stores whose files are taken away while they are open.
struct RemovedFileTests {
    let folder: TemporaryFolder
    let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("company.sqlite")
    }

    private func path(_ suffix: String) -> String { url.path + suffix }

    /// The error of a save, whose file it must name.
    private func refusal(_ open: OpenStore, _ suffix: String = "", sourceLocation: SourceLocation = #_sourceLocation) {
        let context = open.coordinator.newContext()
        let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
        let error = errorThrown { try context.save() }
        #expect(error?.domain == NSCocoaErrorDomain, sourceLocation: sourceLocation)
        #expect(
            error?.localizedDescription.contains(path(suffix)) == true, "\(error?.localizedDescription ?? "saved")",
            sourceLocation: sourceLocation)
        #expect(tag.isInserted, "the change is still pending", sourceLocation: sourceLocation)
    }

    @Test(arguments: ["WAL", "DELETE"]) func aSaveToAStoreWhoseFileWasRemovedIsRefused(journal: String) throws {
        let open = try OpenStore(
            model: TestModel.company(), url: url, options: [NSSQLitePragmasOption: ["journal_mode": journal]])
        try open.insert("Tag", ["name": .string("red")])
        try FileManager.default.removeItem(at: url)
        refusal(open)
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test(arguments: ["WAL", "DELETE"]) func aSaveToAStoreWhoseFileWasReplacedIsRefused(journal: String) throws {
        let options: [AnyHashable: Any] = [NSSQLitePragmasOption: ["journal_mode": journal]]
        let open = try OpenStore(model: TestModel.company(), url: url, options: options)
        let otherURL = folder.file("other.sqlite")
        let other = try OpenStore(model: TestModel.company(), url: otherURL, options: options)
        try other.insert("Tag", ["name": .string("blue")])
        try other.close()
        try FileManager.default.removeItem(at: url)
        try FileManager.default.moveItem(at: otherURL, to: url)
        let before = try Data(contentsOf: url)
        refusal(open)
        #expect(try Data(contentsOf: url) == before)
        // Adding the store again is the way out.
        try open.close()
        let again = try OpenStore(model: TestModel.company(), url: url, options: options)
        try again.insert("Tag", ["name": .string("green")])
        #expect(try again.strings("Tag").compactMap { $0 }.sorted() == ["blue", "green"])
    }

    @Test func aStoreWhoseFolderCannotBeLookedAtIsNotSaidToBeRemoved() throws {
        let inner = folder.file("inner")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
        let open = try OpenStore(model: TestModel.company(), url: inner.appendingPathComponent("company.sqlite"))
        // A folder without rights is none for root; a link to itself is.
        let elsewhere = folder.file("elsewhere")
        try FileManager.default.moveItem(at: inner, to: elsewhere)
        try FileManager.default.createSymbolicLink(at: inner, withDestinationURL: inner)
        let context = open.coordinator.newContext()
        _ = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
        let text = errorThrown { try context.save() }?.localizedDescription ?? "saved"
        #expect(text.contains("company.sqlite"), "\(text)")
        #expect(text.contains(String(cString: strerror(ELOOP))), "\(text)")
        #expect(!text.contains("removed"), "\(text)")
        try FileManager.default.removeItem(at: inner)
        try FileManager.default.moveItem(at: elsewhere, to: inner)
        try context.save()
    }

    @Test func aSaveToAStoreWhoseLogWasRemovedIsRefused() throws {
        let open = try OpenStore(model: TestModel.company(), url: url)
        try open.insert("Tag", ["name": .string("red")])
        try FileManager.default.removeItem(atPath: path("-wal"))
        refusal(open, "-wal")
    }

    @Test func changedMetadataAreNotWrittenToARemovedFileEither() throws {
        let open = try OpenStore(model: TestModel.company(), url: url)
        try FileManager.default.removeItem(at: url)
        open.coordinator.setMetadata(["city": "Rome"], for: open.store)
        #expect(throws: CocoaError.self) { try open.coordinator.newContext().save() }
    }

    @Test func aStoreThatWasMovedAndPutBackIsTheSameStore() throws {
        let open = try OpenStore(model: TestModel.company(), url: url)
        let elsewhere = folder.file("elsewhere")
        try FileManager.default.moveItem(at: url, to: elsewhere)
        refusal(open)
        try FileManager.default.moveItem(at: elsewhere, to: url)
        try open.insert("Tag", ["name": .string("red")])
        #expect(SQLiteFile(url).value("SELECT ZNAME FROM ZTAG") == "red")
    }

    @Test func aStoreThatWasReplacedInPlaceIsSavedTo() throws {
        let source = folder.file("source.sqlite")
        let other = try OpenStore(model: TestModel.company(), url: source)
        try other.insert("Tag", ["name": .string("blue")])
        try other.close()
        let open = try OpenStore(model: TestModel.company(), url: url)
        try open.insert("Tag", ["name": .string("red")])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.company())
        try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: source, type: .sqlite)
        try open.insert("Tag", ["name": .string("green")])
        #expect(SQLiteFile(url).rows("SELECT ZNAME FROM ZTAG ORDER BY ZNAME") == [["blue"], ["green"]])
    }

    @Test func aStoreThatWasDestroyedInPlaceSaysThatItsTablesAreGone() throws {
        let open = try OpenStore(model: TestModel.company(), url: url)
        try open.insert("Tag", ["name": .string("red")])
        try NSPersistentStoreCoordinator(managedObjectModel: TestModel.company()).destroyPersistentStore(
            at: url, type: .sqlite)
        #expect(throws: (any Error).self) { try open.insert("Tag", ["name": .string("green")]) }
        #expect(SQLiteFile(url).value("SELECT count(*) FROM sqlite_master WHERE name LIKE 'Z%'") == "0")
    }

    @Test func aStoreBehindALinkIsCheckedThroughIt() throws {
        let link = folder.file("link.sqlite")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
        let open = try OpenStore(model: TestModel.company(), url: link)
        try open.insert("Tag", ["name": .string("red")])
        #expect(SQLiteFile(url).value("SELECT ZNAME FROM ZTAG") == "red")
        try FileManager.default.removeItem(at: url)
        refusal(open)
    }
}
