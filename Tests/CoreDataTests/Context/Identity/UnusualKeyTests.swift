import CoreData
import TestSupport
import Testing

/// Rows whose keys somebody has made zero, negative or as large as they can be.
struct UnusualKeyTests {
    /// A library with one author and one book, the keys of which are changed in the file, opened
    /// anew.
    private func open(_ authorKey: Int64, _ bookKey: Int64) throws -> (
        library: Library, context: NSManagedObjectContext
    ) {
        let library = try Library()
        library.context.book("Notes", by: library.context.author("Ada"))
        try library.context.save()
        try library.coordinator.remove(library.store)
        #expect(library.file.execute("UPDATE ZAUTHOR SET Z_PK = \(authorKey)"))
        #expect(library.file.execute("UPDATE ZBOOK SET Z_PK = \(bookKey), ZAUTHOR = \(authorKey)"))
        return (library, try library.newStackContext())
    }

    private static let keys: [(Int64, Int64)] = [(0, -1), (-1, 0), (.max, .min)]

    @Test(arguments: keys)
    func theirURIsGiveTheirIDs(author: Int64, book: Int64) throws {
        let (library, context) = try open(author, book)
        try withExtendedLifetime(library) {
            let coordinator = try #require(context.persistentStoreCoordinator)
            for (object, key) in [
                (try context.authors().first as NSManagedObject?, author), (try context.books().first, book),
            ] {
                let object = try #require(object)
                let uri = object.objectID.uriRepresentation()
                #expect(uri.lastPathComponent == "p\(key)")
                let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
                #expect(id == object.objectID)
                #expect(try coordinator.newContext().existingObject(with: id).objectID == id)
            }
        }
    }

    @Test(arguments: keys)
    func theyAreChangedRelatedAndDeletedAsOthers(author: Int64, book: Int64) throws {
        let (library, context) = try open(author, book)
        let ada = try #require(try context.authors().first)
        #expect(ada.books.map(\.title) == ["Notes"])
        ada.books.first?.title = "Changed"
        ada.books.first?.tags = [context.tag("red")]
        context.novel("Novel", by: ada)
        #expect(try context.authors().count == 1)
        try context.save()
        #expect(library.file.column("SELECT ZAUTHOR FROM ZBOOK") == ["\(author)", "\(author)"])
        #expect(library.file.column("SELECT ZTITLE FROM ZBOOK WHERE Z_PK = \(book)") == ["Changed"])
        let other = try library.newStackContext()
        #expect(
            try other.fetch(NSFetchRequest<LibraryTag>(entityName: "Tag")).map { $0.books.map(\.title) } == [
                ["Changed"]
            ])
        context.delete(ada)
        try context.save()
        #expect(library.file.column("SELECT ZAUTHOR FROM ZBOOK") == [nil, nil])
        #expect(library.file.column("SELECT Z_PK FROM ZAUTHOR") == [])
    }
}
