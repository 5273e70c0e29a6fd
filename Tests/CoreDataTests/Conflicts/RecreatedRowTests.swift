import CoreData
import TestSupport
import Testing

/// Rows that were deleted by one context and are saved again by others, who had changed them
/// meanwhile.
struct RecreatedRowTests {
    /// One author in three contexts, which two have changed and the third has deleted.
    private final class Deleted {
        let library: Library
        let mine: NSManagedObjectContext
        let theirs: NSManagedObjectContext
        let author: LibraryAuthor
        let same: LibraryAuthor
        let policy: InterruptedPolicy

        init(_ kind: StoreKind, _ type: NSMergePolicyType) throws {
            library = try Library(kind)
            mine = library.context
            theirs = library.newContext()
            policy = InterruptedPolicy(merge: type)
            mine.mergePolicy = policy
            theirs.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            author = mine.author("Name", born: 1)
            try mine.save()
            same = try #require(try theirs.authors().first)
            #expect(same.born == 1)
            let deleting = library.newContext()
            deleting.delete(try #require(try deleting.authors().first))
            try deleting.save()
            author.name = "Mine"
            same.born = 2
        }

        /// Name and year of all authors, as a context without objects reads them.
        func rows() throws -> [String] {
            try library.newContext().authors().map { "\($0.name ?? "nil") \($0.born)" }
        }
    }

    private static let winning: [(NSMergePolicyType, String)] = [
        (.mergeByPropertyObjectTrumpMergePolicyType, "Mine 2"), (.overwriteMergePolicyType, "Mine 1"),
    ]

    @Test(arguments: StoreKind.allCases, winning)
    func whoComesSecondMergesItsChangesIntoTheNewRow(kind: StoreKind, type: (NSMergePolicyType, String)) throws {
        let deleted = try Deleted(kind, type.0)
        deleted.policy.interruption = { try deleted.theirs.save() }
        try deleted.mine.save()
        #expect(try deleted.rows() == [type.1])
        #expect(!deleted.mine.hasChanges)
        #expect("\(deleted.author.name ?? "nil") \(deleted.author.born)" == type.1)
    }

    @Test(arguments: StoreKind.allCases, winning)
    func aContextThatMetTheNewRowGoesOnSaving(kind: StoreKind, type: (NSMergePolicyType, String)) throws {
        let deleted = try Deleted(kind, type.0)
        deleted.policy.interruption = { try deleted.theirs.save() }
        try deleted.mine.save()
        deleted.author.name = "Again"
        deleted.mine.author("Other", born: 9)
        try deleted.mine.save()
        #expect(try deleted.rows().sorted() == ["Again \(deleted.author.born)", "Other 9"])
    }

    @Test(arguments: StoreKind.allCases)
    func theNewRowThatAChildBringsBackIsNotTakenForTheDeletedOne(kind: StoreKind) throws {
        let library = try Library(kind)
        let (parent, stale) = (library.newContext(), library.newContext())
        library.context.author("Name", born: 1)
        try library.context.save()
        let child = parent.newChild()
        child.mergePolicy = NSMergePolicy.overwrite
        let (author, same) = (try #require(try child.authors().first), try #require(try stale.authors().first))
        author.name = "Child"
        same.born = 2
        library.context.delete(try #require(try library.context.authors().first))
        try library.context.save()
        // The parent hears of the deletion, the child does not.
        parent.refreshAllObjects()
        try child.save()
        try parent.save()
        #expect(try library.newContext().authors().map { "\($0.name ?? "nil") \($0.born)" } == ["Child 1"])
        #expect(throws: (any Error).self) { try stale.save() }
    }

    @Test(arguments: StoreKind.allCases)
    func anObjectWithANewRowIsRefreshedLikeAnyOther(kind: StoreKind) throws {
        let deleted = try Deleted(kind, .mergeByPropertyObjectTrumpMergePolicyType)
        try deleted.mine.save()
        deleted.mine.refresh(deleted.author, mergeChanges: false)
        #expect(!deleted.mine.hasChanges)
        #expect(deleted.author.name == "Mine")
        #expect(deleted.author.born == 1)
        #expect(try deleted.rows() == ["Mine 1"])
    }

    @Test(arguments: StoreKind.allCases)
    func aFailureBetweenLeavesNothingThatCannotBeSavedLater(kind: StoreKind) throws {
        let deleted = try Deleted(kind, .overwriteMergePolicyType)
        deleted.policy.interruption = {
            try deleted.theirs.save()
            throw CocoaError(.featureUnsupported)
        }
        #expect(throws: CocoaError.self) { try deleted.mine.save() }
        try deleted.mine.save()
        #expect(try deleted.rows() == ["Mine 1"])
    }

    @Test(arguments: StoreKind.allCases)
    func theErrorPolicyReportsTheNewRowAsAConflictWithIt(kind: StoreKind) throws {
        let deleted = try Deleted(kind, .overwriteMergePolicyType)
        deleted.policy.interruption = {
            try deleted.theirs.save()
            throw CocoaError(.featureUnsupported)
        }
        #expect(throws: CocoaError.self) { try deleted.mine.save() }
        deleted.mine.mergePolicy = NSMergePolicy.error
        let error = #expect(throws: CocoaError.self) { try deleted.mine.save() }
        #expect(error?.code == .managedObjectMerge)
        let conflict = try #require(error?.persistentStoreSaveConflicts?.first)
        #expect(conflict.sourceObject === deleted.author)
        #expect(conflict.objectSnapshot?["name"] as? String == "Name")
        deleted.mine.refresh(deleted.author, mergeChanges: true)
        try deleted.mine.save()
        #expect(try deleted.rows() == ["Mine 2"])
    }

    @Test(arguments: StoreKind.allCases)
    func thoseWhoHoldTheDeletedRowDoNotTakeTheNewOneForIt(kind: StoreKind) throws {
        let deleted = try Deleted(kind, .overwriteMergePolicyType)
        try deleted.mine.save()
        deleted.theirs.mergePolicy = NSMergePolicy.error
        let error = #expect(throws: CocoaError.self) { try deleted.theirs.save() }
        #expect(error?.code == .managedObjectMerge)
        #expect(try deleted.rows() == ["Mine 1"])
    }

    @Test(arguments: StoreKind.allCases)
    func aNewRowIsNotRelatedToWhatWasDeletedWithIt(kind: StoreKind) throws {
        let library = try Library(kind)
        library.context.mergePolicy = NSMergePolicy.overwrite
        let book = library.context.book("Book", by: library.context.author("Author"))
        try library.context.save()
        let deleting = library.newContext()
        for object in try deleting.books() + deleting.authors() as [NSManagedObject] { deleting.delete(object) }
        try deleting.save()
        book.title = "Again"
        try library.context.save()
        let fresh = library.newContext()
        let found = try #require(try fresh.books().first)
        #expect(found.title == "Again")
        #expect(found.author == nil)
        if kind == .sqlite { #expect(library.file.column("SELECT ZAUTHOR FROM ZBOOK") == [nil]) }
    }

    @Test(arguments: StoreKind.allCases)
    func whatLosesToADeletionIsNoDestinationAnyMore(kind: StoreKind) throws {
        let library = try Library(kind)
        library.context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let author = library.context.author("Author")
        let book = library.context.book("Book")
        try library.context.save()
        let deleting = library.newContext()
        deleting.delete(try #require(try deleting.authors().first))
        try deleting.save()
        book.author = author
        book.title = "Changed"
        try library.context.save()
        let found = try #require(try library.newContext().books().first)
        #expect(found.title == "Changed")
        #expect(found.author == nil)
        #expect(book.author == nil)
        if kind == .sqlite { #expect(library.file.column("SELECT ZAUTHOR FROM ZBOOK") == [nil]) }
    }

    @Test func aKeyThatAnotherProgramTookIsGivenUpForAnother() throws {
        let library = try Library()
        let author = library.context.author("Mine")
        try library.context.obtainPermanentIDs(for: [author])
        let key = author.objectID.uriRepresentation().lastPathComponent.dropFirst()
        #expect(library.file.execute("INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (\(key), 1, 1, 'Theirs')"))
        try library.context.save()
        #expect(library.file.column("SELECT ZNAME FROM ZAUTHOR ORDER BY ZNAME") == ["Mine", "Theirs"])
        #expect(author.name == "Mine")
    }

    @Test(arguments: StoreKind.allCases)
    func refreshingAllObjectsKeepsNewOnesThatHaveTheirIDs(kind: StoreKind) throws {
        let library = try Library(kind)
        let author = library.context.author("New", born: 3)
        try library.context.obtainPermanentIDs(for: [author])
        library.context.refreshAllObjects()
        #expect(author.name == "New")
        try library.context.save()
        #expect(try library.newContext().authors().map(\.born) == [3])
    }

    @Test(arguments: StoreKind.allCases, [NSMergePolicy.mergeByPropertyObjectTrump, NSMergePolicy.overwrite])
    func aDeletedRowDoesNotComeBackBecauseADeletionEndedItsRelationships(kind: StoreKind, policy: NSMergePolicy) throws
    {
        let library = try Library(kind)
        let deleting = library.newContext()
        let author = library.context.author("Author")
        let tag = library.context.tag("Tag")
        library.context.book("Book", by: author, tags: [tag])
        try library.context.save()
        #expect(try library.context.books().first?.tags == [tag])
        deleting.delete(try #require(try deleting.books().first))
        try deleting.save()
        library.context.mergePolicy = policy
        library.context.delete(author)
        library.context.delete(tag)
        try library.context.save()
        #expect(!library.context.hasChanges)
        #expect(try library.newContext().books().isEmpty)
        if kind == .sqlite { #expect(library.file.integer("SELECT count(*) FROM ZBOOK") == 0) }
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func aRefreshGetsAContextGoingWhoseChangedRowIsGone(kind: StoreKind, merging: Bool) throws {
        let deleted = try Deleted(kind, .errorMergePolicyType)
        let error = #expect(throws: CocoaError.self) { try deleted.mine.save() }
        for conflict in error?.persistentStoreSaveConflicts ?? [] {
            deleted.mine.refresh(conflict.sourceObject, mergeChanges: merging)
        }
        deleted.mine.author("Other", born: 5)
        try deleted.mine.save()
        #expect(try deleted.rows() == ["Other 5"])
        #expect(!deleted.mine.hasChanges)
    }

    @Test(arguments: StoreKind.allCases)
    func refreshingAllObjectsGetsAContextGoingWhoseChangedRowIsGone(kind: StoreKind) throws {
        let deleted = try Deleted(kind, .errorMergePolicyType)
        #expect(throws: CocoaError.self) { try deleted.mine.save() }
        deleted.mine.refreshAllObjects()
        try deleted.mine.save()
        #expect(try deleted.rows().isEmpty)
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func anObjectWhoseRowIsGoneIsNoDestinationAfterARefresh(kind: StoreKind, merging: Bool) throws {
        let library = try Library(kind)
        let author = library.context.author("Author")
        try library.context.save()
        let deleting = library.newContext()
        deleting.delete(try #require(try deleting.authors().first))
        try deleting.save()
        let book = library.context.book("Book", by: author)
        #expect(throws: CocoaError.self) { try library.context.save() }
        library.context.refresh(author, mergeChanges: merging)
        try library.context.save()
        #expect(book.author == nil)
        #expect(try library.newContext().books().map { $0.author == nil } == [true])
        if kind == .sqlite { #expect(library.file.column("SELECT ZAUTHOR FROM ZBOOK") == [nil]) }
    }

    @Test(arguments: StoreKind.allCases)
    func whoDeletesTheDestinationOfARowThatCameBackMeetsAConflict(kind: StoreKind) throws {
        let library = try Library(kind)
        library.context.mergePolicy = NSMergePolicy.overwrite
        let book = library.context.book("Book", by: library.context.author("Author"))
        try library.context.save()
        let deleting = library.newContext()
        deleting.delete(try #require(try deleting.books().first))
        try deleting.save()
        let author = try #require(try deleting.authors().first)
        #expect(author.books.isEmpty)
        book.title = "Again"
        try library.context.save()
        if kind == .sqlite { #expect(library.file.column("SELECT ZAUTHOR FROM ZBOOK") == ["1"]) }
        deleting.delete(author)
        #expect(throws: CocoaError.self) { try deleting.save() }
        deleting.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try deleting.save()
        #expect(try library.newContext().books().map { $0.author == nil } == [true])
        if kind == .sqlite { #expect(library.file.column("SELECT ZAUTHOR FROM ZBOOK") == [nil]) }
    }

    @Test(arguments: StoreKind.allCases)
    func aValueThatWasSetToWhatItWasDoesNotWinOverOthersChange(kind: StoreKind) throws {
        let library = try Library(kind)
        library.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let author = library.context.author("Author", born: 1)
        try library.context.save()
        let theirs = library.newContext()
        try theirs.authors().first?.born = 2
        try theirs.save()
        author.born = 1
        author.name = "Mine"
        try library.context.save()
        #expect(try library.newContext().authors().map { "\($0.name ?? "nil") \($0.born)" } == ["Mine 2"])
        #expect(author.born == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func aDeletionThatWinsAlsoReachesWhatWasRelatedMeanwhile(kind: StoreKind) throws {
        let library = try Library(kind)
        let deleting = library.newContext()
        library.context.author("Author")
        try library.context.save()
        let author = try #require(try deleting.authors().first)
        #expect(author.books.isEmpty)
        library.context.book("Book", by: try library.context.authors().first)
        try library.context.save()
        deleting.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        deleting.delete(author)
        try deleting.save()
        let found = try #require(try library.newContext().books().first)
        #expect(found.author == nil)
        if kind == .sqlite { #expect(library.file.column("SELECT ZAUTHOR FROM ZBOOK") == [nil]) }
    }

    @Test(arguments: StoreKind.allCases, winning)
    func aPolicyMayAskForTheIDOfWhatItSavesAgain(kind: StoreKind, type: (NSMergePolicyType, String)) throws {
        let deleted = try Deleted(kind, type.0)
        let id = deleted.author.objectID
        var asked: [NSManagedObjectID] = []
        deleted.policy.interruption = {
            asked.append(deleted.author.objectID)
            try deleted.theirs.save()
        }
        try deleted.mine.save()
        #expect(asked.first == id)
        #expect(deleted.author.objectID == id)
        #expect(!deleted.author.objectID.isTemporaryID)
        #expect(try deleted.mine.existingObject(with: id) === deleted.author)
        #expect(try deleted.rows() == [type.1])
    }

    @Test(arguments: StoreKind.allCases)
    func anOwnerThatIsSavedAgainHasTheMembersThatLeadToIt(kind: StoreKind) throws {
        let library = try Library(kind)
        library.context.mergePolicy = NSMergePolicy.overwrite
        let author = library.context.author("Author")
        try library.context.save()
        let book = library.context.book("Book", by: author)
        try library.context.save()
        #expect(author.books == [book])
        let deleting = library.newContext()
        deleting.delete(try #require(try deleting.authors().first))
        try deleting.save()
        author.name = "Again"
        try library.context.save()
        let fresh = library.newContext()
        let members = try #require(try fresh.authors().first).books.map(\.title)
        #expect(try fresh.books().filter { $0.author != nil }.map(\.title) == members)
        library.context.refresh(book, mergeChanges: false)
        #expect(author.books == (members.isEmpty ? [] : [book]))
        #expect((book.author == author) == !members.isEmpty)
    }
}
