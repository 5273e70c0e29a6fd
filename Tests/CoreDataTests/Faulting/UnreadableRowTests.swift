import CoreData
import TestSupport
import Testing

/// Rows that cannot be read when an accessor, which cannot throw, asks for them: the next save
/// tells.
@Suite(.stores(StoreKind.persistent)) struct UnreadableRowTests {
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
        #expect(library.tables.execute("ALTER TABLE {\(table)} RENAME TO {away}"))
        body()
        #expect(library.tables.execute("ALTER TABLE {away} RENAME TO {\(table)}"))
    }

    /// The next save must fail without writing anything, and the one after it must write
    /// everything.
    private func expectOneRefusal(_ location: SourceLocation = #_sourceLocation) throws {
        context.tag("red")
        let error = errorThrown { try context.save() }
        let text = error?.localizedDescription ?? "no error"
        #expect(
            text.contains(library.kind == .sqlite ? "no such table" : "does not exist"), "\(text)",
            sourceLocation: location)
        #expect(library.storedCount(of: "Tag") == 0, sourceLocation: location)
        try context.save()
        #expect(library.storedCount(of: "Tag") == 1, sourceLocation: location)
    }

    @Test func aSaveTellsThatARowCouldNotBeRead() throws {
        without("author") { #expect(ada.name == nil) }
        #expect(!ada.isDeleted)
        try expectOneRefusal()
        #expect(ada.name == "Ada")
    }

    @Test func aSaveTellsThatARelationshipCouldNotBeRead() throws {
        #expect(ada.name == "Ada")
        without("book") { #expect(ada.books.isEmpty) }
        try expectOneRefusal()
        #expect(ada.books.map(\.title) == ["Notes"])
    }

    @Test func aSaveTellsThatAChangedObjectCouldNotBeRefreshed() throws {
        ada.born = 1815
        without("author") { context.refresh(ada, mergeChanges: true) }
        #expect(ada.born == 1815)
        try expectOneRefusal()
        #expect(library.stored("born", of: "Author") == ["1815"])
    }

    @Test func aSaveTellsThatADestinationCouldNotBeReadWhileAConflictWasSettled() throws {
        context.mergePolicy = NSMergePolicy.overwrite
        let book = try #require(ada.books.first)
        book.pages = 7
        let other = try #require(try library.context.books().first)
        other.pages = 9
        try library.context.save()
        without("author") { #expect(errorThrown { try context.save() } == nil) }
        #expect(library.stored(["pages", "author"], of: "Book") == [["7", ada.objectID.keyText]])
        library.expectColumn("SELECT {id} FROM {author}", is: [ada.objectID.keyText])
        try expectOneRefusal()
    }

    @Test func aRollbackForgetsWhatCouldNotBeRead() throws {
        without("author") { #expect(ada.name == nil) }
        context.rollback()
        context.tag("red")
        try context.save()
        #expect(library.storedCount(of: "Tag") == 1)
    }
}
