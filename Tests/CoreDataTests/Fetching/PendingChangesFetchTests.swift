import CoreData
import TestSupport
import Testing

/// Fetches of a context with unsaved changes: the stores do the work, and the changes are seen.
struct PendingChangesFetchTests {
    static let kinds: [[StoreKind]] =
        [[.sqlite], [.inMemory], [.sqlite, .sqlite], [.sqlite, .inMemory]]
        + (StoreKind.allCases.contains(.postgreSQL)
            ? [[.postgreSQL], [.sqlite, .postgreSQL], [.postgreSQL, .inMemory]] : [])

    /// 300 books in order of their pages, spread over the stores. Every object that a fetch makes
    /// stays registered.
    private final class Shelf {
        let folder: TemporaryFolder
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let context: NSManagedObjectContext
        private(set) var stores: [NSPersistentStore] = []

        init(_ kinds: [StoreKind]) throws {
            folder = try TemporaryFolder()
            stores = try coordinator.addStores(kinds, in: folder)
            let writing = coordinator.newContext()
            for number in 0..<300 {
                writing.assign(writing.book("Book \(number)", pages: Int32(number)), to: stores[number % stores.count])
            }
            try writing.save()
            context = coordinator.newContext()
            context.retainsRegisteredObjects = true
        }

        func request(_ format: String? = nil, limit: Int = 0, offset: Int = 0) -> NSFetchRequest<LibraryBook> {
            let request = NSFetchRequest<LibraryBook>(entityName: "Book")
            request.predicate = format.map { NSPredicate(format: $0) }
            request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
            request.fetchLimit = limit
            request.fetchOffset = offset
            return request
        }

        func pages(_ request: NSFetchRequest<LibraryBook>) throws -> [Int32] { try context.fetch(request).map(\.pages) }

        func book(_ pages: Int) throws -> LibraryBook {
            try #require(try context.fetch(request("pages == \(pages)")).first)
        }
    }

    @Test(arguments: kinds) func anUnrelatedNewObjectChangesNothing(kinds: [StoreKind]) throws {
        let shelf = try Shelf(kinds)
        shelf.context.author("Unrelated")
        #expect(try shelf.pages(shelf.request()) == Array(0..<300))
        #expect(try shelf.pages(shelf.request("pages >= 10", limit: 3, offset: 2)) == [12, 13, 14])
        #expect(try shelf.context.count(for: shelf.request("pages >= 10", limit: 3, offset: 289)) == 1)
    }

    @Test(arguments: kinds) func newBooksStandInTheirPlaces(kinds: [StoreKind]) throws {
        let shelf = try Shelf(kinds)
        shelf.context.book("New", pages: 11)
        shelf.context.book("Newer", pages: -1)
        #expect(try shelf.pages(shelf.request("pages >= 10", limit: 4)) == [10, 11, 11, 12])
        #expect(try shelf.pages(shelf.request(limit: 2)) == [-1, 0])
        #expect(try shelf.pages(shelf.request(limit: 3, offset: 12)) == [11, 11, 12])
        #expect(try shelf.context.count(for: shelf.request()) == 302)
    }

    @Test(arguments: kinds) func changedBooksMove(kinds: [StoreKind]) throws {
        let shelf = try Shelf(kinds)
        try shelf.book(0).pages = 150
        try shelf.book(299).pages = -5
        #expect(try shelf.pages(shelf.request(limit: 3)) == [-5, 1, 2])
        #expect(try shelf.pages(shelf.request("pages > 148", limit: 3)) == [149, 150, 150])
        #expect(try shelf.pages(shelf.request("pages > 297")) == [298])
        #expect(try shelf.context.count(for: shelf.request("pages > 297")) == 1)
    }

    @Test(arguments: kinds) func deletedBooksAreSkippedAndNotCounted(kinds: [StoreKind]) throws {
        let shelf = try Shelf(kinds)
        for pages in [0, 1, 4] { shelf.context.delete(try shelf.book(pages)) }
        #expect(try shelf.pages(shelf.request(limit: 3)) == [2, 3, 5])
        #expect(try shelf.pages(shelf.request(limit: 2, offset: 2)) == [5, 6])
        #expect(try shelf.context.count(for: shelf.request("pages < 6")) == 3)
    }

    @Test(arguments: kinds) func aDeletedNovelThatWasNeverLoadedIsNoResult(kinds: [StoreKind]) throws {
        let shelf = try Shelf(kinds)
        let writing = shelf.coordinator.newContext()
        let novel = writing.novel("Novel", pages: 1000)
        try writing.save()
        // What stands for the row may not know yet that it is of a subentity.
        shelf.context.delete(shelf.context.object(with: novel.objectID))
        #expect(try shelf.pages(shelf.request("pages == 1000")).isEmpty)
        #expect(try shelf.context.count(for: NSFetchRequest<LibraryNovel>(entityName: "Novel")) == 0)
    }

    @Test(arguments: StoreKind.allCases) func aLimitedFetchReadsFewRowsHoweverManyMatch(kind: StoreKind) throws {
        let shelf = try Shelf([kind])
        shelf.context.author("Unrelated")
        let new = shelf.context.book("New", pages: 1000)
        let changed = try shelf.book(200)
        changed.rating = 3
        let before = shelf.context.registeredObjects.count
        #expect(try shelf.pages(shelf.request("pages >= 0", limit: 1)) == [0])
        #expect(try shelf.pages(shelf.request("pages >= 0", limit: 1, offset: 100)) == [100])
        #expect(shelf.context.registeredObjects.count - before <= 6)
        #expect(try shelf.pages(shelf.request(limit: 2, offset: 299)) == [299, 1000])
        #expect(new.isInserted)
        #expect(changed.isUpdated)
        #expect(shelf.context.registeredObjects.count - before <= 12)
    }

    @Test(arguments: kinds) func countingMakesNoObjects(kinds: [StoreKind]) throws {
        let shelf = try Shelf(kinds)
        shelf.context.author("Unrelated")
        shelf.context.book("New", pages: 7)
        try shelf.book(200).rating = 3
        shelf.context.delete(try shelf.book(100))
        let before = shelf.context.registeredObjects.count
        #expect(try shelf.context.count(for: shelf.request("pages >= 0")) == 300)
        #expect(try shelf.context.count(for: shelf.request("pages >= 0", limit: 10, offset: 295)) == 5)
        #expect(shelf.context.registeredObjects.count == before)
    }

    @Test(arguments: StoreKind.persistent) func batchesAreLoadedOnlyWhereNewObjectsAreCompared(kind: StoreKind) throws {
        let shelf = try Shelf([kind])
        shelf.context.book("New", pages: 150)
        let request = shelf.request()
        request.fetchBatchSize = 4
        let found = try shelf.context.fetch(request)
        // Bisection looks at nine books, and the new one is no fault.
        #expect(found.count { !$0.isFault } <= 10)
        #expect(found.map(\.pages) == Array(0...150) + Array(150..<300))
    }

    @Test(arguments: kinds) func identitiesCountNewObjectsToo(kinds: [StoreKind]) throws {
        let shelf = try Shelf(kinds)
        let new = shelf.context.book("New", pages: 1)
        shelf.context.delete(try shelf.book(2))
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Book")
        request.resultType = .managedObjectIDResultType
        request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
        request.fetchOffset = 1
        request.fetchLimit = 3
        let found = try shelf.context.fetch(request)
        #expect(found.count == 3)
        #expect(found.contains(new.objectID))
        #expect(try shelf.context.existingObject(with: try #require(found.last)).value(forKey: "pages") as? Int32 == 3)
    }

    @Test(arguments: kinds) func aRequestWithoutPendingChangesSeesTheStoreAlone(kinds: [StoreKind]) throws {
        let shelf = try Shelf(kinds)
        shelf.context.book("New", pages: -1)
        shelf.context.delete(try shelf.book(0))
        let request = shelf.request(limit: 2)
        request.includesPendingChanges = false
        #expect(try shelf.context.fetch(request).count == 2)
        #expect(try shelf.context.count(for: shelf.request()) == 300)
        request.fetchLimit = 0
        #expect(try shelf.context.count(for: request) == 300)
    }

    @Test(arguments: StoreKind.allCases) func manyExcludedRowsMakeOneStatement(kind: StoreKind) throws {
        let shelf = try Shelf([kind])
        for book in try shelf.context.fetch(shelf.request("pages < 250")) { shelf.context.delete(book) }
        #expect(try shelf.pages(shelf.request(limit: 2)) == [250, 251])
        #expect(try shelf.pages(shelf.request("pages > 2 AND pages < 252")) == [250, 251])
        // A statement that was kept takes the keys that are excluded now.
        shelf.context.delete(try shelf.book(250))
        #expect(try shelf.pages(shelf.request(limit: 2)) == [251, 252])
        shelf.context.rollback()
        #expect(try shelf.pages(shelf.request(limit: 2)) == [0, 1])
    }
}
