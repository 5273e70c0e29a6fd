import CoreData
import TestSupport
import Testing

/// Ten books, whose pages descend from 10 to 1, and a context that knows none of them.
private struct TenBooks {
    let library: Library
    let context: NSManagedObjectContext

    init() throws {
        library = try Library()
        let writer = library.context
        let ada = writer.author("Ada")
        let tag = writer.tag("red")
        for number in 0..<10 { writer.book("Book \(number)", pages: Int32(10 - number), by: ada, tags: [tag]) }
        try writer.save()
        writer.reset()
        context = library.newContext()
    }
}

private func request(
    _ size: Int = 3, _ format: String? = nil, sortedBy key: String? = "title", limit: Int = 0, offset: Int = 0
) -> NSFetchRequest<LibraryBook> {
    let request = NSFetchRequest<LibraryBook>(entityName: "Book")
    request.fetchBatchSize = size
    request.predicate = format.map { NSPredicate(format: $0) }
    request.sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: true)] }
    request.fetchLimit = limit
    request.fetchOffset = offset
    return request
}

/// Fetches with a `fetchBatchSize` (behaviour 182).
@Suite(.everyStore) struct BatchedFetchTests {
    private let library: Library
    private let context: NSManagedObjectContext

    init() throws {
        let books = try TenBooks()
        (library, context) = (books.library, books.context)
    }

    /// Title and pages of what a fetch finds.
    private func rows(_ request: NSFetchRequest<LibraryBook>) throws -> [[String?]] {
        try library.newContext().fetch(request).map { [$0.title, "\($0.pages)"] }
    }

    @Test(arguments: [1, 3, 10, 100])
    func sizesOfAllKindsGiveTheSameObjects(_ size: Int) throws {  // 182
        let conditions = [
            (nil, "{id} > 0"), ("pages > 3", "{pages} > 3"),
            (
                "author.name == 'Ada' AND pages < 9",
                "{pages} < 9 AND {author_id} IN (SELECT {id} FROM {author} WHERE {name} = 'Ada')"
            ),
        ]
        let tables = library.secondPath
        for (limit, offset) in [(0, 0), (4, 0), (4, 3), (0, 8), (5, 20)] {
            for key in ["title", "pages"] {
                for (format, condition) in conditions {
                    let batched = try rows(request(size, format, sortedBy: key, limit: limit, offset: offset))
                    // In memory the same fetch without batches tells.
                    let expected =
                        try tables?.rows(
                            "SELECT {title}, {pages} FROM {book} WHERE \(condition) ORDER BY {\(key)} "
                                + "LIMIT \(limit == 0 ? 1000 : limit) OFFSET \(offset)")
                        ?? rows(request(0, format, sortedBy: key, limit: limit, offset: offset))
                    #expect(batched == expected)
                }
            }
        }
        let unsorted = try library.newContext().fetch(request(size, nil, sortedBy: nil))
        #expect(Set(unsorted.map(\.title)) == Set(library.stored("title", of: "Book")))
        #expect(unsorted.count == 10)
    }

    @Test func unsavedChangesAreLaidOver() throws {  // 174, 182
        let all = try context.fetch(request(0))
        all[2].pages = 100
        context.delete(all[5])
        context.book("A new one", pages: 50)
        let books = try context.fetch(request(3, "pages > 8"))
        #expect(books.map(\.title) == ["A new one", "Book 0", "Book 1", "Book 2"])
        let limited = try context.fetch(request(3, nil, limit: 3, offset: 5))
        #expect(limited.map(\.title) == ["Book 4", "Book 6", "Book 7"])
    }

    @Test func aSaveInBetweenLeavesTheRestOfTheResultReadable() throws {  // 182
        let books = try context.fetch(request())
        books[0].title = "First"
        try context.save()
        #expect(books.map(\.title) == ["First"] + (1..<10).map { "Book \($0)" })
        books[9].title = "Last"
        try context.save()
        library.expectColumn("SELECT {title} FROM {book} ORDER BY {id}", is: books.map(\.title))
        #expect(library.stored("title", of: "Book") == (1..<9).map { "Book \($0)" } + ["First", "Last"])
    }

    @Test func changesAreKeptWhenTheirBatchIsLoaded() throws {  // 182
        let books = try context.fetch(request())
        books[1].mark = "transient"
        books[0].pages = 77
        #expect(books[2].title == "Book 2")
        #expect(books[0].pages == 77)
        #expect(books[1].mark == "transient")
    }

    @Test func rowsOfObjectsInUseStayWhenManyBatchesFollow() throws {  // 182
        let books = try context.fetch(request(1))
        let held = books[0]
        #expect(held.title == "Book 0")
        let unused = books.map { $0.title }
        #expect(unused.count == 10)
        // Nothing but the array refers to this one, whose batch was loaded long ago. A store in
        // memory has all rows at hand.
        #expect(books[1].isFault == (library.kind.isDatabase))
        #expect(!held.isFault)
        #expect(!books[9].isFault)
        #expect(books[1].title == "Book 1")
    }

    @Test func changedObjectsStayWhenManyBatchesFollow() throws {  // 182
        let books = try context.fetch(request(1))
        books[0].pages = 1000
        books[1].tags = []
        for book in books { _ = book.title }
        #expect(books[0].pages == 1000)
        #expect(books[1].tags.isEmpty)
        try context.save()
        #expect(library.stored(["title", "pages"], of: "Book").first == ["Book 0", "1000"])
    }

    @Test func relationshipsArePrefetchedWithEachBatch() throws {  // 182
        let request = request()
        request.relationshipKeyPathsForPrefetching = ["tags", "author"]
        let books = try context.fetch(request)
        _ = books[0].title
        #expect(!books[1].hasFault(forRelationshipNamed: "tags"))
        #expect(books[4].hasFault(forRelationshipNamed: "tags") == (library.kind.isDatabase))
        // A store in memory cannot be disturbed.
        library.secondPath?.execute("UPDATE {author} SET {name} = 'changed'")
        #expect(books[1].author?.name == "Ada")
        request.relationshipKeyPathsForPrefetching = ["nothing"]
        let error = errorThrown { _ = try context.fetch(request) }
        #expect(error?.localizedDescription.contains("nothing") == true)
    }

    @Test func subentitiesAreLoadedWithTheirBatch() throws {  // 182
        library.context.novel("Book 3b", pages: 5, genre: "crime")
        try library.context.save()
        let books = try context.fetch(request(4))
        _ = books[3].title
        let novel = try #require(books[4] as? LibraryNovel)
        #expect(novel.genre == "crime")
    }

    @Test func registeredObjectsAreTheSame() throws {  // 182
        let first = try context.fetch(request(0))
        first[3].pages = 500
        let second = try context.fetch(request())
        #expect(zip(first, second).allSatisfy { $0 === $1 })
        #expect(second[3].pages == 500)
    }

    @Test func removedStoresLeaveNothingBehind() throws {  // 172, 182
        let books = try context.fetch(request())
        _ = books[0].title
        try library.coordinator.remove(library.store)
        context.performAndWait {}
        #expect(books.map(\.title) == Array(repeating: nil, count: 10))
    }
}

/// Batches whose rows another program changes.
@Suite(.stores(StoreKind.persistent)) struct BatchesChangedElsewhereTests {
    private let library: Library
    private let context: NSManagedObjectContext

    init() throws {
        let books = try TenBooks()
        (library, context) = (books.library, books.context)
    }

    /// Which of the objects can show their title without the store: it is changed behind the
    /// context's back.
    private func loaded(_ books: [LibraryBook]) -> [Bool] {
        library.tables.execute("UPDATE {book} SET {title} = 'changed'")
        return books.map { $0.title != "changed" }
    }

    @Test func theFirstUseLoadsTheWholeBatchAndNoOther() throws {  // 182
        let books = try context.fetch(request())
        #expect(books.count == 10)
        #expect(books.allSatisfy { $0.isFault })
        #expect(books[4].title == "Book 4")
        #expect(loaded(books) == [false, false, false, true, true, true, false, false, false, false])
    }

    @Test func theIdentitiesAreFixedByTheFetch() throws {  // 182
        let books = try context.fetch(request(3, "pages > 5"))
        #expect(books.count == 5)
        library.tables.execute("UPDATE {book} SET {pages} = 1")
        #expect(books.map(\.title) == (0..<5).map { "Book \($0)" })
        #expect(books.map(\.pages) == [1, 1, 1, 1, 1])
    }

    @Test func aRowThatIsGoneCountsAsDeleted() throws {  // 182
        let books = try context.fetch(request())
        library.tables.execute("DELETE FROM {book} WHERE {title} = 'Book 1'")
        #expect(books[0].title == "Book 0")
        #expect(books[1].title == nil)
        #expect(books[1].isDeleted)
        #expect(books[2].title == "Book 2")
    }

    @Test func withoutPropertyValuesTheSizeStillCounts() throws {  // 182, 184
        let request = request()
        request.includesPropertyValues = false
        let books = try context.fetch(request)
        _ = books[0].title
        #expect(loaded(books).prefix(4) == [true, true, true, false])
    }
}
