import CoreData
import TestSupport
import Testing

/// A million rows, through every kind of fetch.
@Suite(.enabled(if: LongTests.areEnabled)) struct ManyRowsTests {
    private static let count = 1_000_000
    private static let authors = 1000

    @Test(arguments: StoreKind.allCases)
    func aMillionRowsAreSavedAndFetched(_ kind: StoreKind) throws {
        let library = try Library(kind)
        try insert(into: library)
        let context = library.newContext()
        let all = NSFetchRequest<LibraryBook>(entityName: "Book")
        #expect(try context.count(for: all) == Self.count)
        if kind == .sqlite {
            #expect(library.file.integer("SELECT count(*) FROM ZBOOK") == Self.count)
            #expect(library.file.integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'") == Self.count)
            #expect(library.file.value("PRAGMA integrity_check") == "ok")
        }
        var pages: Int64 = 0
        for book in try context.fetch(all) { pages += Int64(book.pages) }
        #expect(pages == Int64(Self.count) * Int64(Self.count - 1) / 2)
        context.reset()

        all.fetchBatchSize = 500
        all.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: false)]
        let sorted = try context.fetch(all)
        var expected = Int32(Self.count)
        for book in sorted {
            expected -= 1
            if book.pages != expected {
                Issue.record("the page \(book.pages) stands in the place of \(expected)")
                break
            }
        }
        #expect(sorted.count == Self.count)
        context.reset()

        let some = NSFetchRequest<LibraryBook>(entityName: "Book")
        some.predicate = NSPredicate(format: "author.name == 'Author 7' AND pages < 500000")
        #expect(try context.fetch(some).count == Self.count / Self.authors / 2)
        let author = try #require(try context.authors("name == 'Author 999'").first)
        #expect(author.books.count == Self.count / Self.authors)
    }

    private func insert(into library: Library) throws {
        let context = library.newContext()
        var ids: [NSManagedObjectID] = []
        for number in 0..<Self.authors { context.author("Author \(number)") }
        try context.save()
        ids = try context.authors().sorted {
            ($0.name?.count ?? 0, $0.name ?? "") < ($1.name?.count ?? 0, $1.name ?? "")
        }
        .map(\.objectID)
        let chunk = Self.count / 10
        for start in stride(from: 0, to: Self.count, by: chunk) {
            context.reset()
            let authors = ids.compactMap { context.object(with: $0) as? LibraryAuthor }
            for number in start..<(start + chunk) {
                let book = LibraryBook(context: context)
                book.title = "Book \(number)"
                book.pages = Int32(number)
                book.author = authors[number % Self.authors]
            }
            try context.save()
        }
    }
}
