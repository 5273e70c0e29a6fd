import CoreData
import TestSupport
import Testing

/// Deletions by a context that knows what it deletes as it is now, but the destinations as they
/// were before.
struct StaleDestinationTests {
    private static let policies = [
        NSMergePolicy.error, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback,
    ]

    private func expectNoAuthor(_ library: Library, _ kind: StoreKind, _ location: SourceLocation = #_sourceLocation)
        throws
    {
        let reading = library.newContext()
        #expect(try reading.authors().isEmpty, sourceLocation: location)
        #expect(try reading.books().map { $0.author == nil } == [true], sourceLocation: location)
        if kind == .sqlite {
            #expect(library.file.column("SELECT ZAUTHOR FROM ZBOOK") == [nil], sourceLocation: location)
        }
    }

    /// A library whose context has read a book before another context gave it its author, and the
    /// author since.
    private func stale(_ kind: StoreKind) throws -> (library: Library, book: LibraryBook, author: LibraryAuthor) {
        let library = try Library(kind)
        let author = library.context.author("Author")
        let book = library.context.book("Book")
        try library.context.save()
        let theirs = library.newContext()
        try theirs.books().first?.author = try theirs.authors().first
        try theirs.save()
        library.context.refresh(author, mergeChanges: false)
        #expect(author.name == "Author")
        #expect(book.author == nil)
        return (library, book, author)
    }

    @Test(arguments: StoreKind.allCases, policies)
    func whatOthersLedToADeletedObjectIsNullified(kind: StoreKind, policy: NSMergePolicy) throws {
        let (library, book, author) = try stale(kind)
        library.context.mergePolicy = policy
        library.context.delete(author)
        try library.context.save()
        #expect(book.author == nil)
        #expect(!library.context.hasChanges)
        try expectNoAuthor(library, kind)
    }

    @Test(arguments: StoreKind.allCases, policies)
    func soItIsAfterAConflictOfTheDestination(kind: StoreKind, policy: NSMergePolicy) throws {
        let (library, book, author) = try stale(kind)
        library.context.mergePolicy = policy
        book.title = "Mine"
        library.context.delete(author)
        if policy.mergeType == .errorMergePolicyType {
            #expect(throws: CocoaError.self) { try library.context.save() }
            return
        }
        try library.context.save()
        #expect(book.author == nil)
        #expect(!library.context.hasChanges)
        try expectNoAuthor(library, kind)
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func soItIsAfterARefreshOfTheDeletedObject(kind: StoreKind, merging: Bool) throws {
        let library = try Library(kind)
        let author = library.context.author("Author")
        let book = library.context.book("Book")
        try library.context.save()
        library.context.delete(author)
        library.context.processPendingChanges()
        #expect(book.author == nil)
        let theirs = library.newContext()
        try theirs.books().first?.author = try theirs.authors().first
        try theirs.save()
        if merging {
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectIDsKey: [author.objectID]], into: [library.context])
        } else {
            library.context.refresh(author, mergeChanges: true)
        }
        #expect(author.isDeleted)
        try library.context.save()
        try expectNoAuthor(library, kind)
    }

    @Test(arguments: StoreKind.allCases)
    func soItIsAfterARefreshOfTheDestination(kind: StoreKind) throws {
        let (library, book, author) = try stale(kind)
        book.title = "Mine"
        library.context.delete(author)
        #expect(throws: CocoaError.self) { try library.context.save() }
        library.context.refresh(book, mergeChanges: true)
        try library.context.save()
        #expect(book.title == "Mine")
        try expectNoAuthor(library, kind)
    }

    @Test(arguments: StoreKind.allCases)
    func whatIsFoundToHaveNoRowWhileConflictsAreResolvedIsNoChangeAfterTheSave(kind: StoreKind) throws {
        let library = try Library(kind)
        let author = library.context.author("Author")
        let book = library.context.book("Book")
        try library.context.save()
        library.context.refresh(author, mergeChanges: false)
        let theirs = library.newContext()
        try theirs.books().first?.pages = 3
        theirs.delete(try #require(try theirs.authors().first))
        try theirs.save()
        let policy = InterruptedPolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        policy.preparation = { _ = author.name }
        library.context.mergePolicy = policy
        book.title = "Mine"
        try library.context.save()
        #expect(!library.context.hasChanges)
        #expect(library.context.deletedObjects.isEmpty)
        #expect(try library.newContext().books().map { "\($0.title ?? "nil") \($0.pages)" } == ["Mine 3"])
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func aRefreshDoesNotBringBackWhatADeletionEnded(kind: StoreKind, merging: Bool) throws {
        let library = try Library(kind)
        let author = library.context.author("Author")
        let book = library.context.book("Book", by: author)
        try library.context.save()
        library.context.delete(author)
        library.context.processPendingChanges()
        #expect(book.author == nil)
        library.context.refresh(book, mergeChanges: merging)
        try library.context.save()
        #expect(book.author == nil)
        #expect(!library.context.hasChanges)
        try expectNoAuthor(library, kind)
    }

    @Test(arguments: StoreKind.allCases, [NSMergePolicy.mergeByPropertyStoreTrump, .rollback])
    func aDeletionThatLosesEndsNoRelationship(kind: StoreKind, policy: NSMergePolicy) throws {
        let library = try Library(kind)
        let author = library.context.author("Author")
        let book = library.context.book("Book", by: author, tags: [library.context.tag("Tag")])
        try library.context.save()
        #expect(book.tags.count == 1)
        let theirs = library.newContext()
        try theirs.authors().first?.name = "Theirs"
        try theirs.save()
        library.context.mergePolicy = policy
        book.title = "Mine"
        library.context.delete(author)
        try library.context.save()
        #expect(!author.isDeleted)
        #expect(book.author == author)
        #expect(author.books == [book])
        #expect(!library.context.hasChanges)
        #expect(
            try library.newContext().books().map { "\($0.title ?? "nil") \($0.author?.name ?? "nil")" } == [
                "Mine Theirs"
            ])
        if kind == .sqlite { #expect(library.file.column("SELECT ZAUTHOR FROM ZBOOK") == ["1"]) }
    }

    @Test(arguments: StoreKind.allCases)
    func anOverwrittenObjectDoesNotTakeItsDestinationBackToFormerValues(kind: StoreKind) throws {
        let library = try Library(kind)
        let author = library.context.author("Author", born: 1)
        let book = library.context.book("Book", by: author)
        try library.context.save()
        #expect(author.books == [book])
        let theirs = library.newContext()
        try theirs.authors().first?.born = 2
        try theirs.books().first?.author = theirs.author("Other")
        try theirs.save()
        library.context.mergePolicy = NSMergePolicy.overwrite
        book.title = "Mine"
        try library.context.save()
        let found = try #require(try library.newContext().books().first)
        #expect(found.title == "Mine")
        #expect(found.author?.name == "Author")
        #expect(found.author?.born == 2)
        #expect(author.born == 2)
    }

    @Test(arguments: StoreKind.allCases, [NSMergePolicy.mergeByPropertyStoreTrump, .rollback])
    func whatStaysLeavesWhatIsDeletedBesideIt(kind: StoreKind, policy: NSMergePolicy) throws {
        let library = try Library(kind)
        let author = library.context.author("Author")
        let book = library.context.book("Book", by: author)
        try library.context.save()
        let theirs = library.newContext()
        try theirs.books().first?.title = "Theirs"
        try theirs.save()
        library.context.mergePolicy = policy
        library.context.delete(book)
        library.context.delete(author)
        try library.context.save()
        #expect(!book.isDeleted)
        #expect(book.title == "Theirs")
        #expect(book.author == nil)
        #expect(!library.context.hasChanges)
        try expectNoAuthor(library, kind)
    }

    @Test(arguments: StoreKind.allCases)
    func aRowThatCameBackIsLedAwayFromWhatIsDeleted(kind: StoreKind) throws {
        let library = try Library(kind)
        let author = library.context.author("Author")
        let book = library.context.book("Book", by: author)
        try library.context.save()
        let keeping = library.newContext()
        keeping.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let same = try #require(try keeping.books().first)
        same.title = "Again"
        let deleting = library.newContext()
        deleting.delete(try #require(try deleting.books().first))
        try deleting.save()
        library.context.refreshAllObjects()
        #expect(book.title == nil)
        try keeping.save()
        #expect(try library.newContext().books().map { $0.author?.name } == ["Author"])
        library.context.delete(author)
        try library.context.save()
        #expect(try library.newContext().books().map(\.title) == ["Again"])
        try expectNoAuthor(library, kind)
    }
}
