import CoreData
import TestSupport
import Testing

/// Rows that cannot be read when an accessor, which cannot throw, asks for them: the next save tells.
@Suite struct UnreadableRowTests {
    let library: Library
    let context: NSManagedObjectContext
    let ada: LibraryAuthor

    /// An author, as a fault of a context that knows no row of the store.
    init() throws {
        library = try Library()
        let author = library.context.author("Ada")
        library.context.book("Notes", by: author)
        try library.context.save()
        context = try library.newStackContext()
        let uri = author.objectID.uriRepresentation()
        let id = try #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri))
        ada = try #require(context.object(with: id) as? LibraryAuthor)
    }

    /// Does something while a table is not there.
    private func without(_ table: String, _ body: () -> Void) {
        #expect(library.file.execute("ALTER TABLE \(table) RENAME TO ZAWAY"))
        body()
        #expect(library.file.execute("ALTER TABLE ZAWAY RENAME TO \(table)"))
    }

    /// The next save must fail without writing anything, and the one after it must write everything.
    private func expectOneRefusal(_ location: SourceLocation = #_sourceLocation) throws {
        context.tag("red")
        let error = errorThrown { try context.save() }
        let text = error?.localizedDescription ?? "no error"
        #expect(text.contains("no such table"), "\(text)", sourceLocation: location)
        #expect(library.file.value("SELECT count(*) FROM ZTAG") == "0", sourceLocation: location)
        try context.save()
        #expect(library.file.value("SELECT count(*) FROM ZTAG") == "1", sourceLocation: location)
    }

    @Test func aSaveTellsThatARowCouldNotBeRead() throws {
        without("ZAUTHOR") { #expect(ada.name == nil) }
        #expect(!ada.isDeleted)
        try expectOneRefusal()
        #expect(ada.name == "Ada")
    }

    @Test func aSaveTellsThatARelationshipCouldNotBeRead() throws {
        #expect(ada.name == "Ada")
        without("ZBOOK") { #expect(ada.books.isEmpty) }
        try expectOneRefusal()
        #expect(ada.books.map(\.title) == ["Notes"])
    }

    @Test func aSaveTellsThatAChangedObjectCouldNotBeRefreshed() throws {
        ada.born = 1815
        without("ZAUTHOR") { context.refresh(ada, mergeChanges: true) }
        #expect(ada.born == 1815)
        try expectOneRefusal()
        #expect(library.file.value("SELECT ZBORN FROM ZAUTHOR") == "1815")
    }

    @Test func aSaveTellsThatADestinationCouldNotBeReadWhileAConflictWasSettled() throws {
        context.mergePolicy = NSMergePolicy.overwrite
        let book = try #require(ada.books.first)
        book.pages = 7
        let other = try #require(try library.context.books().first)
        other.pages = 9
        try library.context.save()
        without("ZAUTHOR") { #expect(errorThrown { try context.save() } == nil) }
        #expect(library.file.value("SELECT ZPAGES || ' ' || (ZAUTHOR = (SELECT Z_PK FROM ZAUTHOR)) FROM ZBOOK") == "7 1")
        try expectOneRefusal()
    }

    @Test func aRollbackForgetsWhatCouldNotBeRead() throws {
        without("ZAUTHOR") { #expect(ada.name == nil) }
        context.rollback()
        context.tag("red")
        try context.save()
        #expect(library.file.value("SELECT count(*) FROM ZTAG") == "1")
    }
}
