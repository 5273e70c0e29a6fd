import CoreData
import TestSupport
import Testing

/// The results of fetch requests as parts of predicates.
struct FetchRequestExpressionTests {
    private func library(_ kind: StoreKind) throws -> Library {
        let library = try Library(kind)
        let context = library.context
        context.book("a", pages: 2, by: context.author("Ada", born: 1815))
        context.book("b", pages: 3, by: context.author("Ben", born: 1900))
        context.book("c", pages: 9)
        try context.save()
        return library
    }

    private func expression<Result>(
        _ request: NSFetchRequest<Result>, _ context: NSManagedObjectContext, countOnly: Bool = false
    ) -> NSExpression {
        NSFetchRequestExpression.expression(
            forFetch: NSExpression(forConstantValue: request), context: NSExpression(forConstantValue: context),
            countOnly: countOnly)
    }

    @Test("194: a fetch request expression evaluates to the fetched array, or to the count")
    func theValueIsTheResult() throws {
        let library = try library(.sqlite)
        let request = NSFetchRequest<LibraryAuthor>(entityName: "Author")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let fetching = expression(request, library.context)
        #expect(fetching.expressionType == NSFetchRequestExpressionType)
        #expect((fetching.expressionValue(with: nil, context: nil) as? [LibraryAuthor])?.map(\.name) == ["Ada", "Ben"])
        let counting = expression(request, library.context, countOnly: true)
        #expect(counting.expressionValue(with: nil, context: nil) as? Int == 2)
        let parts = try #require(counting as? NSFetchRequestExpression)
        #expect(parts.isCountOnlyRequest)
        #expect(parts.requestExpression.constantValue as? NSObject === request)
        #expect(parts.contextExpression.constantValue as? NSManagedObjectContext === library.context)
    }

    @Test("194: a predicate compares with the result of a fetch", arguments: StoreKind.allCases)
    func predicatesUseTheResult(kind: StoreKind) throws {
        let library = try library(kind)
        let old = NSFetchRequest<LibraryAuthor>(entityName: "Author")
        old.predicate = NSPredicate(format: "born < 1850")
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.predicate = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "author"), rightExpression: expression(old, library.context),
            modifier: .direct, type: .in)
        #expect(try library.context.fetch(request).map(\.title) == ["a"])
        let authors = NSFetchRequest<LibraryAuthor>(entityName: "Author")
        request.predicate = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "pages"),
            rightExpression: expression(authors, library.context, countOnly: true),
            modifier: .direct, type: .equalTo)
        #expect(try library.context.fetch(request).map(\.title) == ["a"])
    }

    /// A row of one column stands for its value.
    @Test(arguments: StoreKind.allCases) func predicatesUseDictionariesOfOneColumn(kind: StoreKind) throws {
        let library = try library(kind)
        let most = NSExpressionDescription("most", NSExpression(format: "max:(pages)"), .integer32AttributeType)
        let largest = NSFetchRequest<NSDictionary>(entityName: "Book")
        largest.resultType = .dictionaryResultType
        largest.propertiesToFetch = [most]
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.predicate = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "pages"), rightExpression: expression(largest, library.context),
            modifier: .direct,
            type: .in)
        #expect(try library.newContext().fetch(request).map(\.title) == ["c"], "in the store")
        let books = try library.context.books()
        #expect(books.filter { request.predicate?.evaluate(with: $0) == true }.map(\.title) == ["c"], "evaluated")
        books[2].rating = 5
        #expect(try library.context.fetch(request).map(\.title) == ["c"], "unsaved")
    }
}
