import CoreData
import TestSupport
import Testing

/// Versions of rows, conflicts of saves, and the merge policies that settle them.
struct OptimisticLockingTests {
    /// One book in two contexts of one coordinator.
    private final class SharedBook {
        let library: Library
        let mine: NSManagedObjectContext
        let theirs: NSManagedObjectContext
        let book: LibraryBook
        let same: LibraryBook

        init(_ kind: StoreKind) throws {
            library = try Library(kind)
            mine = library.context
            theirs = library.newContext()
            book = mine.book("Title", pages: 1, rating: 1)
            try mine.save()
            same = try #require(try theirs.books().first)
            #expect(same.pages == 1)
        }

        var tables: StoreTables { library.tables }

        /// Title, pages and rating as the store's database has them; nil without a row.
        var row: [String?]? { tables.rows("SELECT {title}, {pages}, CAST({rating} AS INTEGER) FROM {book}").first }

        /// Another program gives the book a title.
        func changeTitle() {
            #expect(tables.execute("UPDATE {book} SET {title} = 'Theirs', {version} = {version} + 1"))
        }
    }

    @Test(arguments: StoreKind.persistent)  // 208
    func eachSaveRaisesTheRowsVersion(kind: StoreKind) throws {
        let shared = try SharedBook(kind)
        #expect(shared.tables.value("SELECT {version} FROM {book}") == "1")
        shared.book.pages = 2
        try shared.mine.save()
        #expect(shared.tables.value("SELECT {version} FROM {book}") == "2")
        try shared.mine.save()
        #expect(shared.tables.value("SELECT {version} FROM {book}") == "2")
    }

    @Test(arguments: StoreKind.persistent)  // 208, 210
    func aSaveOverANewerVersionIsRefusedWithTheConflicts(kind: StoreKind) throws {
        let shared = try SharedBook(kind)
        shared.same.title = "Theirs"
        try shared.theirs.save()
        shared.book.title = "Mine"
        let error = #expect(throws: CocoaError.self) { try shared.mine.save() }
        #expect(error?.code == .managedObjectMerge)
        let conflicts = try #require(error?.persistentStoreSaveConflicts)
        #expect(conflicts.count == 1)
        #expect(conflicts.first?.sourceObject === shared.book)
        #expect(shared.row == ["Theirs", "1", "1"])
        #expect(shared.book.title == "Mine")
        #expect(shared.book.isUpdated)
    }

    @Test(arguments: StoreKind.persistent)  // 210
    func theMessageOfAConflictNamesEntityAndProperty(kind: StoreKind) throws {
        let shared = try SharedBook(kind)
        shared.same.title = "Theirs"
        try shared.theirs.save()
        shared.book.title = "Mine"
        let error = #expect(throws: CocoaError.self) { try shared.mine.save() }
        let message = (error as NSError?).map { "\($0.localizedDescription) \($0)" } ?? ""
        #expect(message.contains("Book"), "\(message)")
    }

    @Test(arguments: StoreKind.persistent)  // 211
    func afterARefreshWithMergeTheSaveSucceeds(kind: StoreKind) throws {
        let shared = try SharedBook(kind)
        shared.same.pages = 5
        try shared.theirs.save()
        shared.book.title = "Mine"
        #expect(throws: CocoaError.self) { try shared.mine.save() }
        shared.mine.refresh(shared.book, mergeChanges: true)
        try shared.mine.save()
        #expect(shared.row == ["Mine", "5", "1"])
    }

    @Test(arguments: StoreKind.allCases)
    func aNamedObjectWhoseRowIsGoneIsSettledOnce(kind: StoreKind) throws {
        let shared = try SharedBook(kind)
        shared.mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        shared.theirs.delete(shared.same)
        try shared.theirs.save()
        shared.mine.detectConflicts(for: shared.book)
        shared.mine.book("Other", pages: 2, rating: 2)
        try shared.mine.save()
        #expect(try shared.library.newContext().books().map(\.title) == ["Other"])
    }

    @Test(arguments: StoreKind.persistent)  // 209
    func anUnchangedObjectCanBeIncludedInTheDetection(kind: StoreKind) throws {
        let shared = try SharedBook(kind)
        shared.same.pages = 5
        try shared.theirs.save()
        shared.mine.author("Other")
        shared.mine.detectConflicts(for: shared.book)
        let error = #expect(throws: CocoaError.self) { try shared.mine.save() }
        #expect(error?.code == .managedObjectMerge)
        #expect(shared.tables.value("SELECT count(*) FROM {author}") == "0")
        shared.mine.refresh(shared.book, mergeChanges: false)
        try shared.mine.save()
        #expect(shared.tables.value("SELECT count(*) FROM {author}") == "1")
    }

    @Test(arguments: StoreKind.persistent)  // 209
    func detectionEndsWithTheSave(kind: StoreKind) throws {
        let shared = try SharedBook(kind)
        shared.mine.author("Other")
        shared.mine.detectConflicts(for: shared.book)
        try shared.mine.save()
        shared.same.pages = 5
        try shared.theirs.save()
        shared.mine.author("Another")
        try shared.mine.save()
        #expect(shared.tables.value("SELECT count(*) FROM {author}") == "2")
    }

    @Test(arguments: StoreKind.persistent)  // 210
    func afterAConflictAFaultReadsTheNewerRow(kind: StoreKind) throws {
        let shared = try SharedBook(kind)
        shared.changeTitle()
        shared.book.title = "Mine"
        #expect(throws: CocoaError.self) { try shared.mine.save() }
        shared.mine.refresh(shared.book, mergeChanges: false)
        #expect(shared.book.title == "Theirs")
    }

    @Test(arguments: StoreKind.persistent)  // 213
    func aDeletionThatLostCanBeMadeAgainWithItsConsequences(kind: StoreKind) throws {
        let shared = try SharedBook(kind)
        let author = shared.mine.author("Ada")
        try shared.mine.save()
        let sameAuthor = try #require(try shared.theirs.authors().first)
        sameAuthor.name = "Theirs"
        try shared.theirs.save()
        shared.mine.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        shared.mine.delete(author)
        try shared.mine.save()
        #expect(shared.tables.column("SELECT {name} FROM {author}") == ["Theirs"])
        shared.book.author = author
        try shared.mine.save()
        #expect(shared.tables.value("SELECT count({author_id}) FROM {book}") == "1")
        shared.mine.delete(author)
        try shared.mine.save()
        #expect(shared.tables.value("SELECT count(*) FROM {author}") == "0")
        #expect(shared.tables.value("SELECT count({author_id}) FROM {book}") == "0")
    }

    @Test(arguments: StoreKind.persistent)  // 209
    func detectionWithoutAConflictWritesNothing(kind: StoreKind) throws {
        let shared = try SharedBook(kind)
        shared.mine.author("Other")
        shared.mine.detectConflicts(for: shared.book)
        try shared.mine.save()
        #expect(shared.tables.value("SELECT {version} FROM {book}") == "1")
    }

    /// The result of each policy for a book whose title and pages others have changed, and this
    /// context the title and the rating.
    private static let outcomes: [(NSMergePolicy, [String])] = [
        (.mergeByPropertyStoreTrump, ["Theirs", "5", "9"]), (.mergeByPropertyObjectTrump, ["Mine", "5", "9"]),
        (.overwrite, ["Mine", "1", "9"]), (.rollback, ["Theirs", "5", "1"]),
    ]

    @Test(arguments: StoreKind.persistent, outcomes)  // 212, 213, 214
    func policiesSettleConflicts(kind: StoreKind, outcome: (NSMergePolicy, [String])) throws {
        let shared = try SharedBook(kind)
        let (policy, expected) = outcome
        shared.same.title = "Theirs"
        shared.same.pages = 5
        try shared.theirs.save()
        shared.book.title = "Mine"
        shared.book.rating = 9
        shared.mine.mergePolicy = policy
        try shared.mine.save()
        #expect(shared.row == expected)
        #expect([shared.book.title, "\(shared.book.pages)", "\(Int(shared.book.rating))"] == expected)
        #expect(!shared.mine.hasChanges)
        shared.book.pages = 77
        try shared.mine.save()
        #expect(shared.row?[1] == "77")
    }

    @Test(arguments: StoreKind.persistent, outcomes)  // 212, 213, 214
    func policiesSettleConflictsWithOtherProcesses(kind: StoreKind, outcome: (NSMergePolicy, [String])) throws {
        let shared = try SharedBook(kind)
        let (policy, expected) = outcome
        shared.tables.execute("UPDATE {book} SET {title} = 'Theirs', {pages} = 5, {version} = {version} + 1")
        shared.book.title = "Mine"
        shared.book.rating = 9
        shared.mine.mergePolicy = policy
        try shared.mine.save()
        #expect(shared.row == expected)
        #expect([shared.book.title, "\(shared.book.pages)", "\(Int(shared.book.rating))"] == expected)
        #expect(!shared.mine.hasChanges)
    }

    @Test(arguments: StoreKind.persistent)  // 215, 216
    func aConflictWithTheCacheHasNoPersistedSnapshot(kind: StoreKind) throws {
        let shared = try SharedBook(kind)
        shared.same.title = "Theirs"
        try shared.theirs.save()
        shared.book.title = "Mine"
        let error = #expect(throws: CocoaError.self) { try shared.mine.save() }
        let conflict = try #require(error?.persistentStoreSaveConflicts?.first)
        #expect(conflict.objectSnapshot?["title"] as? String == "Title")
        #expect(conflict.cachedSnapshot?["title"] as? String == "Theirs")
        #expect(conflict.persistedSnapshot == nil)
        #expect(conflict.oldVersionNumber == 1)
        #expect(conflict.newVersionNumber == 2)
    }

    @Test(arguments: StoreKind.persistent)  // 215
    func aConflictWithTheStoreHasBothSnapshots(kind: StoreKind) throws {
        let shared = try SharedBook(kind)
        shared.changeTitle()
        shared.book.title = "Mine"
        let error = #expect(throws: CocoaError.self) { try shared.mine.save() }
        let conflict = try #require(error?.persistentStoreSaveConflicts?.first)
        #expect(conflict.cachedSnapshot?["title"] as? String == "Title")
        #expect(conflict.persistedSnapshot?["title"] as? String == "Theirs")
    }

    @Test(arguments: StoreKind.persistent)  // 216
    func snapshotsHoldAttributesAndToOneIDsOnly(kind: StoreKind) throws {
        let shared = try SharedBook(kind)
        let ada = shared.mine.author("Ada")
        shared.book.author = ada
        shared.book.tags = [shared.mine.tag("red")]
        try shared.mine.save()
        shared.theirs.refresh(shared.same, mergeChanges: false)
        shared.same.pages = 3
        try shared.theirs.save()
        shared.book.pages = 4
        let error = #expect(throws: CocoaError.self) { try shared.mine.save() }
        let snapshot = try #require(error?.persistentStoreSaveConflicts?.first?.objectSnapshot)
        #expect(snapshot["author"] as? NSManagedObjectID == ada.objectID)
        #expect(snapshot["tags"] == nil)
        #expect((snapshot["pages"] as? NSNumber)?.intValue == 1)
    }

    @Test(arguments: StoreKind.persistent)  // 216
    func aConflictWithADeletionHasVersionZeroAndNoSnapshot(kind: StoreKind) throws {
        let shared = try SharedBook(kind)
        shared.theirs.delete(shared.same)
        try shared.theirs.save()
        shared.book.title = "Mine"
        let error = #expect(throws: CocoaError.self) { try shared.mine.save() }
        let conflict = try #require(error?.persistentStoreSaveConflicts?.first)
        #expect(conflict.newVersionNumber == 0)
        #expect(conflict.cachedSnapshot == nil)
        #expect(conflict.persistedSnapshot == nil)
        #expect(shared.book.title == "Mine")
    }

    @Test(arguments: StoreKind.persistent)  // 216
    func aDeletionOfAChangedRowIsAConflict(kind: StoreKind) throws {
        let shared = try SharedBook(kind)
        shared.same.title = "Theirs"
        try shared.theirs.save()
        shared.mine.delete(shared.book)
        let error = #expect(throws: CocoaError.self) { try shared.mine.save() }
        #expect(error?.persistentStoreSaveConflicts?.first?.sourceObject === shared.book)
        #expect(shared.row?[0] == "Theirs")
        #expect(shared.book.isDeleted)
        shared.mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try shared.mine.save()
        #expect(shared.row == nil)
    }

    @Test(arguments: StoreKind.persistent)  // 225
    func policiesAreTakenFromTheClassAndFromTheConstants(kind: StoreKind) throws {
        let shared = try SharedBook(kind)
        #expect((shared.mine.mergePolicy as? NSMergePolicy)?.mergeType == .errorMergePolicyType)
        let constants: [(AnyObject, NSMergePolicy)] = [
            (NSErrorMergePolicy, .error), (NSMergeByPropertyStoreTrumpMergePolicy, .mergeByPropertyStoreTrump),
            (NSMergeByPropertyObjectTrumpMergePolicy, .mergeByPropertyObjectTrump),
            (NSOverwriteMergePolicy, .overwrite), (NSRollbackMergePolicy, .rollback),
        ]
        for (constant, policy) in constants {
            let isSame = constant === policy
            #expect(isSame)
            shared.mine.mergePolicy = constant
            #expect((shared.mine.mergePolicy as? NSMergePolicy)?.mergeType == policy.mergeType)
        }
        #expect(NSMergePolicy(merge: .overwriteMergePolicyType).mergeType == .overwriteMergePolicyType)
    }

    @Test(arguments: StoreKind.persistent)  // 225
    func aPolicyMadeFromATypeSettlesConflictsToo(kind: StoreKind) throws {
        let shared = try SharedBook(kind)
        shared.same.title = "Theirs"
        try shared.theirs.save()
        shared.book.title = "Mine"
        shared.mine.mergePolicy = NSMergePolicy(merge: .overwriteMergePolicyType)
        try shared.mine.save()
        #expect(shared.row?[0] == "Mine")
    }

    @Test(arguments: StoreKind.persistent)  // 210
    func manyConflictsAreReportedTogether(kind: StoreKind) throws {
        let shared = try SharedBook(kind)
        let authors = (0..<5).map { shared.mine.author("\($0)") }
        try shared.mine.save()
        for author in try shared.theirs.authors() { author.born = 1 }
        try shared.theirs.save()
        for author in authors { author.born = 2 }
        let error = #expect(throws: CocoaError.self) { try shared.mine.save() }
        #expect(error?.persistentStoreSaveConflicts?.count == 5)
        shared.mine.mergePolicy = NSMergePolicy.overwrite
        try shared.mine.save()
        #expect(shared.tables.column("SELECT DISTINCT {born} FROM {author}") == ["2"])
    }

    @Test(arguments: StoreKind.persistent)  // 210
    func anErrorMayOutliveItsContextAndItsStores(kind: StoreKind) throws {
        func conflict() throws -> NSError? {
            let library = try Library(kind)
            let (mine, theirs) = (library.context, library.newContext())
            let book = mine.book("Title")
            try mine.save()
            try #require(try theirs.books().first).title = "Theirs"
            try theirs.save()
            book.title = "Mine"
            return errorThrown { try mine.save() }
        }
        let error = try #require(try conflict())
        #expect("\(error) \(error.userInfo)".contains("/Book/p1"))
    }
}
