import CoreData
import TestSupport
import Testing

/// Versions of rows, conflicts of saves, and the merge policies that settle them.
@Suite struct OptimisticLockingTests {
    let library: Library
    let mine: NSManagedObjectContext
    let theirs: NSManagedObjectContext
    let book: LibraryBook
    let same: LibraryBook

    /// One book in two contexts of one coordinator.
    init() throws {
        library = try Library()
        mine = library.context
        theirs = library.newContext()
        book = mine.book("Title", pages: 1, rating: 1)
        try mine.save()
        same = try #require(try theirs.books().first)
        #expect(same.pages == 1)
    }

    private var row: [String?]? {
        library.file.rows("SELECT ZTITLE, ZPAGES, CAST(ZRATING AS INTEGER) FROM ZBOOK").first
    }

    @Test func eachSaveRaisesTheRowsVersion() throws {  // 208
        #expect(library.file.value("SELECT Z_OPT FROM ZBOOK") == "1")
        book.pages = 2
        try mine.save()
        #expect(library.file.value("SELECT Z_OPT FROM ZBOOK") == "2")
        try mine.save()
        #expect(library.file.value("SELECT Z_OPT FROM ZBOOK") == "2")
    }

    @Test func aSaveOverANewerVersionIsRefusedWithTheConflicts() throws {  // 208, 210
        same.title = "Theirs"
        try theirs.save()
        book.title = "Mine"
        let error = #expect(throws: CocoaError.self) { try mine.save() }
        #expect(error?.code == .managedObjectMerge)
        let conflicts = try #require(error?.persistentStoreSaveConflicts)
        #expect(conflicts.count == 1)
        #expect(conflicts.first?.sourceObject === book)
        #expect(row == ["Theirs", "1", "1"])
        #expect(book.title == "Mine")
        #expect(book.isUpdated)
    }

    @Test func theMessageOfAConflictNamesEntityAndProperty() throws {  // 210
        same.title = "Theirs"
        try theirs.save()
        book.title = "Mine"
        let error = #expect(throws: CocoaError.self) { try mine.save() }
        let message = (error as NSError?).map { "\($0.localizedDescription) \($0)" } ?? ""
        #expect(message.contains("Book"), "\(message)")
    }

    @Test func afterARefreshWithMergeTheSaveSucceeds() throws {  // 211
        same.pages = 5
        try theirs.save()
        book.title = "Mine"
        #expect(throws: CocoaError.self) { try mine.save() }
        mine.refresh(book, mergeChanges: true)
        try mine.save()
        #expect(row == ["Mine", "5", "1"])
    }

    @Test func anUnchangedObjectCanBeIncludedInTheDetection() throws {  // 209
        same.pages = 5
        try theirs.save()
        mine.author("Other")
        mine.detectConflicts(for: book)
        let error = #expect(throws: CocoaError.self) { try mine.save() }
        #expect(error?.code == .managedObjectMerge)
        #expect(library.file.value("SELECT count(*) FROM ZAUTHOR") == "0")
        mine.refresh(book, mergeChanges: false)
        try mine.save()
        #expect(library.file.value("SELECT count(*) FROM ZAUTHOR") == "1")
    }

    @Test func detectionEndsWithTheSave() throws {  // 209
        mine.author("Other")
        mine.detectConflicts(for: book)
        try mine.save()
        same.pages = 5
        try theirs.save()
        mine.author("Another")
        try mine.save()
        #expect(library.file.value("SELECT count(*) FROM ZAUTHOR") == "2")
    }

    @Test func afterAConflictAFaultReadsTheNewerRow() throws {  // 210
        #expect(library.file.execute("UPDATE ZBOOK SET ZTITLE = 'Theirs', Z_OPT = Z_OPT + 1"))
        book.title = "Mine"
        #expect(throws: CocoaError.self) { try mine.save() }
        mine.refresh(book, mergeChanges: false)
        #expect(book.title == "Theirs")
    }

    @Test func aDeletionThatLostCanBeMadeAgainWithItsConsequences() throws {  // 213
        let author = mine.author("Ada")
        try mine.save()
        let same = try #require(try theirs.authors().first)
        same.name = "Theirs"
        try theirs.save()
        mine.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        mine.delete(author)
        try mine.save()
        #expect(library.file.column("SELECT ZNAME FROM ZAUTHOR") == ["Theirs"])
        book.author = author
        try mine.save()
        #expect(library.file.value("SELECT count(ZAUTHOR) FROM ZBOOK") == "1")
        mine.delete(author)
        try mine.save()
        #expect(library.file.value("SELECT count(*) FROM ZAUTHOR") == "0")
        #expect(library.file.value("SELECT count(ZAUTHOR) FROM ZBOOK") == "0")
    }

    @Test func detectionWithoutAConflictWritesNothing() throws {  // 209
        mine.author("Other")
        mine.detectConflicts(for: book)
        try mine.save()
        #expect(library.file.value("SELECT Z_OPT FROM ZBOOK") == "1")
    }

    @Test(arguments: [
        (NSMergePolicy.mergeByPropertyStoreTrump, ["Theirs", "5", "9"]),
        (NSMergePolicy.mergeByPropertyObjectTrump, ["Mine", "5", "9"]),
        (NSMergePolicy.overwrite, ["Mine", "1", "9"]),
        (NSMergePolicy.rollback, ["Theirs", "5", "1"]),
    ])
    func policiesSettleConflicts(policy: NSMergePolicy, expected: [String]) throws {  // 212, 213, 214
        same.title = "Theirs"
        same.pages = 5
        try theirs.save()
        book.title = "Mine"
        book.rating = 9
        mine.mergePolicy = policy
        try mine.save()
        #expect(row == expected)
        #expect([book.title, "\(book.pages)", "\(Int(book.rating))"] == expected)
        #expect(!mine.hasChanges)
        book.pages = 77
        try mine.save()
        #expect(row?[1] == "77")
    }

    @Test(arguments: [
        (NSMergePolicy.mergeByPropertyStoreTrump, ["Theirs", "5", "9"]),
        (NSMergePolicy.mergeByPropertyObjectTrump, ["Mine", "5", "9"]),
        (NSMergePolicy.overwrite, ["Mine", "1", "9"]),
        (NSMergePolicy.rollback, ["Theirs", "5", "1"]),
    ])
    func policiesSettleConflictsWithOtherProcesses(policy: NSMergePolicy, expected: [String]) throws {  // 212, 213, 214
        library.file.execute("UPDATE ZBOOK SET ZTITLE = 'Theirs', ZPAGES = 5, Z_OPT = Z_OPT + 1")
        book.title = "Mine"
        book.rating = 9
        mine.mergePolicy = policy
        try mine.save()
        #expect(row == expected)
        #expect([book.title, "\(book.pages)", "\(Int(book.rating))"] == expected)
        #expect(!mine.hasChanges)
    }

    @Test func aConflictWithTheCacheHasNoPersistedSnapshot() throws {  // 215, 216
        same.title = "Theirs"
        try theirs.save()
        book.title = "Mine"
        let error = #expect(throws: CocoaError.self) { try mine.save() }
        let conflict = try #require(error?.persistentStoreSaveConflicts?.first)
        #expect(conflict.objectSnapshot?["title"] as? String == "Title")
        #expect(conflict.cachedSnapshot?["title"] as? String == "Theirs")
        #expect(conflict.persistedSnapshot == nil)
        #expect(conflict.oldVersionNumber == 1)
        #expect(conflict.newVersionNumber == 2)
    }

    @Test func aConflictWithTheStoreHasBothSnapshots() throws {  // 215
        library.file.execute("UPDATE ZBOOK SET ZTITLE = 'Theirs', Z_OPT = Z_OPT + 1")
        book.title = "Mine"
        let error = #expect(throws: CocoaError.self) { try mine.save() }
        let conflict = try #require(error?.persistentStoreSaveConflicts?.first)
        #expect(conflict.cachedSnapshot?["title"] as? String == "Title")
        #expect(conflict.persistedSnapshot?["title"] as? String == "Theirs")
    }

    @Test func snapshotsHoldAttributesAndToOneIDsOnly() throws {  // 216
        let ada = mine.author("Ada")
        book.author = ada
        book.tags = [mine.tag("red")]
        try mine.save()
        theirs.refresh(same, mergeChanges: false)
        same.pages = 3
        try theirs.save()
        book.pages = 4
        let error = #expect(throws: CocoaError.self) { try mine.save() }
        let snapshot = try #require(error?.persistentStoreSaveConflicts?.first?.objectSnapshot)
        #expect(snapshot["author"] as? NSManagedObjectID == ada.objectID)
        #expect(snapshot["tags"] == nil)
        #expect((snapshot["pages"] as? NSNumber)?.intValue == 1)
    }

    @Test func aConflictWithADeletionHasVersionZeroAndNoSnapshot() throws {  // 216
        theirs.delete(same)
        try theirs.save()
        book.title = "Mine"
        let error = #expect(throws: CocoaError.self) { try mine.save() }
        let conflict = try #require(error?.persistentStoreSaveConflicts?.first)
        #expect(conflict.newVersionNumber == 0)
        #expect(conflict.cachedSnapshot == nil)
        #expect(conflict.persistedSnapshot == nil)
        #expect(book.title == "Mine")
    }

    @Test func aDeletionOfAChangedRowIsAConflict() throws {  // 216
        same.title = "Theirs"
        try theirs.save()
        mine.delete(book)
        let error = #expect(throws: CocoaError.self) { try mine.save() }
        #expect(error?.persistentStoreSaveConflicts?.first?.sourceObject === book)
        #expect(row?[0] == "Theirs")
        #expect(book.isDeleted)
        mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try mine.save()
        #expect(row == nil)
    }

    @Test func policiesAreTakenFromTheClassAndFromTheConstants() {  // 225
        #expect((mine.mergePolicy as? NSMergePolicy)?.mergeType == .errorMergePolicyType)
        let constants: [(AnyObject, NSMergePolicy)] = [
            (NSErrorMergePolicy, .error), (NSMergeByPropertyStoreTrumpMergePolicy, .mergeByPropertyStoreTrump),
            (NSMergeByPropertyObjectTrumpMergePolicy, .mergeByPropertyObjectTrump),
            (NSOverwriteMergePolicy, .overwrite), (NSRollbackMergePolicy, .rollback),
        ]
        for (constant, policy) in constants {
            let isSame = constant === policy
            #expect(isSame)
            mine.mergePolicy = constant
            #expect((mine.mergePolicy as? NSMergePolicy)?.mergeType == policy.mergeType)
        }
        #expect(NSMergePolicy(merge: .overwriteMergePolicyType).mergeType == .overwriteMergePolicyType)
    }

    @Test func aPolicyMadeFromATypeSettlesConflictsToo() throws {  // 225
        same.title = "Theirs"
        try theirs.save()
        book.title = "Mine"
        mine.mergePolicy = NSMergePolicy(merge: .overwriteMergePolicyType)
        try mine.save()
        #expect(row?[0] == "Mine")
    }

    @Test func manyConflictsAreReportedTogether() throws {  // 210
        let authors = (0..<5).map { mine.author("\($0)") }
        try mine.save()
        for author in try theirs.authors() { author.born = 1 }
        try theirs.save()
        for author in authors { author.born = 2 }
        let error = #expect(throws: CocoaError.self) { try mine.save() }
        #expect(error?.persistentStoreSaveConflicts?.count == 5)
        mine.mergePolicy = NSMergePolicy.overwrite
        try mine.save()
        #expect(library.file.column("SELECT DISTINCT ZBORN FROM ZAUTHOR") == ["2"])
    }

    @Test func anErrorMayOutliveItsContextAndItsStores() throws {  // 210
        func conflict() throws -> NSError? {
            let library = try Library()
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
