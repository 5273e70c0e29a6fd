import CoreData
import TestSupport
import Testing

/// Notifications about values that a merge policy has taken over into objects of a context.
struct TakenOverValueTests {
    private static let cases = StoreKind.allCases.flatMap { kind in
        [
            NSMergePolicyType.rollbackMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType,
            .mergeByPropertyObjectTrumpMergePolicyType,
        ].map { (kind, $0) }
    }

    @Test(arguments: cases) func objectsWithValuesOfOthersAreToldAsRefreshed(kind: StoreKind, type: NSMergePolicyType)
        throws
    {
        let library = try Library(kind)
        let (mine, theirs) = (library.context, library.newContext())
        let ada = mine.author("Ada", born: 1)
        try mine.save()
        ada.name = "Ida"
        let same = try #require(try theirs.authors().first)
        (same.name, same.born) = ("Zoe", 9)
        try theirs.save()
        mine.mergePolicy = NSMergePolicy(merge: type)
        let changes = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: mine)
        try mine.save()
        #expect(ada.born == 9)
        #expect(ada.name == (type == .mergeByPropertyObjectTrumpMergePolicyType ? "Ida" : "Zoe"))
        let told = changes.all.filter {
            $0.objects(NSRefreshedObjectsKey).union($0.objects(NSUpdatedObjectsKey)).contains(ada)
        }
        #expect(told.last?.objects(NSRefreshedObjectsKey) == [ada])
    }

    @Test(arguments: StoreKind.allCases) func aDeletionThatThePolicyTookBackIsTold(kind: StoreKind) throws {
        let library = try Library(kind)
        let (mine, theirs) = (library.context, library.newContext())
        let ada = mine.author("Ada", born: 1)
        try mine.save()
        let same = try #require(try theirs.authors().first)
        same.born = 9
        mine.delete(ada)
        try theirs.save()
        mine.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let changes = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: mine)
        try mine.save()
        #expect(!ada.isDeleted)
        #expect(changes.all.last?.objects(NSRefreshedObjectsKey) == [ada])
    }

    /// Changes that observers make during a save are part of it.
    @Test(arguments: StoreKind.allCases) func changesInAnswerToSuchValuesAreSaved(kind: StoreKind) throws {
        let library = try Library(kind)
        let (mine, theirs) = (library.context, library.newContext())
        let (ada, bob) = (mine.author("Ada", born: 1), mine.author("Bob", born: 2))
        try mine.save()
        ada.name = "Ida"
        try #require(try theirs.authors("name == 'Ada'").first).born = 9
        try theirs.save()
        mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let answer = Answer(bob)
        let observer = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didChangeObjectsNotification, object: mine, queue: nil
        ) { change in
            if !change.objects(NSRefreshedObjectsKey).isEmpty { answer.author.name = "Rob" }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try mine.save()
        #expect(!mine.hasChanges)
        #expect(try library.newContext().authors().map { "\($0.name ?? "") \($0.born)" } == ["Ida 9", "Rob 2"])
    }

    private final class Answer: @unchecked Sendable {
        // Sendable: used by one thread.
        let author: LibraryAuthor
        init(_ author: LibraryAuthor) { self.author = author }
    }
}
