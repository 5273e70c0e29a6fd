import TestSupport
import Testing

@testable import CoreData

/// Opening a store deletes files that no row names.
struct LeftOverFileTests {
    let folder: TemporaryFolder
    let url: URL
    let files: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("gallery.sqlite")
        files = Gallery.folder(of: url)
        try Gallery.create(url)
    }

    private func place(_ name: String = UUID().uuidString) throws -> URL {
        let file = files.appendingPathComponent(name)
        try Data("left over".utf8).write(to: file)
        return file
    }

    private func isThere(_ url: URL) -> Bool { (try? FileManager.default.attributesOfItem(atPath: url.path)) != nil }

    private func openAndClose(_ options: [AnyHashable: Any] = [:], model: NSManagedObjectModel = Gallery.model()) throws
    {
        let coordinator = try Gallery.open(url, model: model, options: options)
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    @Test func openingAStoreRemovesFilesThatNoRowNames() throws {
        let named = try Set(Gallery.files(of: url))
        let leftOver = try place()
        try openAndClose()
        #expect(!isThere(leftOver))
        #expect(try Set(Gallery.files(of: url)) == named)
        #expect(try Gallery.problems(url).isEmpty)
    }

    @Test func openingAStoreForReadingRemovesNothing() throws {
        let leftOver = try place()
        try openAndClose([NSReadOnlyPersistentStoreOption: true])
        #expect(isThere(leftOver))
    }

    @Test func whatIsNoFileOfTheStoreStays() throws {
        let note = try place("README")
        let inner = files.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
        let kept = inner.appendingPathComponent(UUID().uuidString)
        try Data().write(to: kept)
        let link = files.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: inner)
        try openAndClose()
        for place in [note, inner, kept, link] { #expect(isThere(place), "\(place.lastPathComponent)") }
    }

    @Test func filesOfAnotherStoreOfTheSameNameStay() throws {
        let other = folder.file("gallery.db")
        try Gallery.create(other)
        let both = try Set(Gallery.files(of: url))
        try openAndClose()
        #expect(try Set(Gallery.files(of: url)) == both)
        #expect(try Gallery.problems(other).allSatisfy { $0.hasSuffix("is left over") }, "those of the first store")
        try NSPersistentStoreCoordinator(managedObjectModel: Gallery.model()).destroyPersistentStore(
            at: other, type: .sqlite)
        #expect(try Set(Gallery.files(of: url)) == Set(Gallery.filesNamed(SQLiteFile(url))))
    }

    @Test func filesOfRowsThatTheModelDoesNotKnowStay() throws {
        let named = try Set(Gallery.files(of: url))
        let model = Gallery.model()
        model.entities = model.entities.filter { $0.name == "Note" }
        let note = try #require(model.entitiesByName["Note"])
        note.properties.removeAll { $0 is NSRelationshipDescription }
        try openAndClose([NSIgnorePersistentStoreVersioningOption: true], model: model)
        #expect(try Set(Gallery.files(of: url)) == named)
    }

    @Test func filesThatASaveElsewhereHasNotCommittedYetStay() throws {
        let writer = SQLiteFile(url)
        #expect(writer.execute("BEGIN IMMEDIATE"))
        let fresh = try place()
        // The other program still holds the lock under which it wrote the file.
        try openAndClose([NSPersistentStoreTimeoutOption: 0.05])
        #expect(isThere(fresh))
        let name = fresh.lastPathComponent.utf8.hexadecimal
        #expect(writer.execute("UPDATE ZALBUM SET ZCOVER = X'02\(name)00' WHERE ZTITLE = 'first'; COMMIT"))
        try openAndClose()
        #expect(isThere(fresh))
    }

    @Test func filesThatAReaderElsewhereStillSeesStayUntilALaterOpening() throws {
        let reader = SQLiteFile(url)
        reader.execute("BEGIN")
        let seen = Set(Gallery.filesNamed(SQLiteFile(url)))
        _ = reader.value("SELECT count(*) FROM ZPERSON")
        // Another program changes a row and ends before it could remove anything.
        let file = "SELECT CAST(substr(ZPHOTO, 2, 36) AS TEXT) FROM ZPERSON WHERE ZNAME = '\(Gallery.names[0])'"
        let superseded = files.appendingPathComponent(try #require(SQLiteFile(url).value(file)))
        #expect(SQLiteFile(url).execute("UPDATE ZPERSON SET ZPHOTO = NULL WHERE ZNAME = '\(Gallery.names[0])'"))
        let coordinator = try Gallery.open(url)
        #expect(try Set(Gallery.files(of: url)) == seen)
        reader.execute("COMMIT")
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        #expect(!isThere(superseded))
    }

    @Test func aStoreWithManyRowsIsLookedThroughWhenAProgramHasEndedTooEarly() throws {
        let leftOver = try place()
        try Data().write(to: URL(fileURLWithPath: url.path + "-wal"))
        try ExternalFileSweep.$fewRows.withValue(0) {
            let coordinator = try Gallery.open(url)
            #expect(!isThere(leftOver), "before anybody uses the store")
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }
    }
}
