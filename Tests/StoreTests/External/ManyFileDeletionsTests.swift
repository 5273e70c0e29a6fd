import TestSupport
import Testing

@testable import CoreData

/// Many objects with external files that are deleted at once, also in several stores.
struct ManyFileDeletionsTests {
    private static func files(_ url: URL) throws -> Int {
        let folder = url.deletingLastPathComponent()
            .appendingPathComponent(".\(url.deletingPathExtension().lastPathComponent)_SUPPORT/_EXTERNAL_DATA")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).count
    }

    /// Deletions in one store do not touch rows of the same keys in the other one.
    @Test(arguments: [true, false]) func filesGoWithTheirRowsInEachStore(asFaults: Bool) throws {
        let archive = try Archive()
        let secondURL = archive.folder.file("second.sqlite")
        let second = try archive.coordinator.addPersistentStore(type: .sqlite, at: secondURL)
        let first = try #require(archive.coordinator.persistentStores.first { $0 !== second })
        let context = archive.context
        for store in [first, second] {
            for number in 0..<30 {
                let author = archive.insert("Author", "author \(number)")
                let book = archive.insert("Book", "book \(number)")
                book.setValue(author, forKey: "author")
                for object in [author, book] { context.assign(object, to: store) }
            }
        }
        try context.save()
        #expect(try Self.files(archive.url) == 120)
        #expect(try Self.files(secondURL) == 120)
        if asFaults { context.refreshAllObjects() }

        // All authors of the first store, a third of those of the second one.
        let authors = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author"))
        for author in authors {
            let number = author.objectID.uriRepresentation().lastPathComponent.dropFirst()
            if author.objectID.persistentStore === first || (Int(number) ?? 0) % 3 == 0 { context.delete(author) }
        }
        try context.save()
        let reader = archive.coordinator.newContext()
        let books = try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
        #expect(books.count == 60)
        for book in books {
            let name = book.value(forKey: "name") as? String ?? ""
            #expect(book.value(forKey: "scan") as? Data == Archive.large(name, 1))
            let isInFirst = book.objectID.persistentStore === first
            let author = book.value(forKey: "author") as? NSManagedObject
            #expect(isInFirst ? author == nil : (author == nil || author?.value(forKey: "scan") as? Data != nil))
        }
        #expect(books.filter { $0.value(forKey: "author") == nil }.count == 40)
        // Files go when no reader needs them: at the latest when the store is opened again.
        reader.reset()
        context.reset()
        for store in archive.coordinator.persistentStores { try archive.coordinator.remove(store) }
        let again = try Archive.open(archive.url)
        try again.addPersistentStore(type: .sqlite, at: secondURL)
        #expect(try again.newContext().count(for: NSFetchRequest<NSManagedObject>(entityName: "Author")) == 20)
        #expect(try Self.files(archive.url) == 60)
        #expect(try Self.files(secondURL) == 100)
    }
}
