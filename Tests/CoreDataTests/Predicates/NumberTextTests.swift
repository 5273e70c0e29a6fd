import CoreData
import TestSupport
import Testing

/// Numbers as texts: `number.stringValue`, which programs search numbers by.
struct NumberTextTests {
    @Test(
        "A number's text finds the same in every store as in memory", .foldsTexts, arguments: StoreKind.allCases,
        [
            "pages.stringValue BEGINSWITH '1'", "pages.stringValue BEGINSWITH[cd] '10'",
            "pages.stringValue ENDSWITH '10'",
            "pages.stringValue == '20'", "pages.stringValue != '20'", "pages.stringValue IN {'10', '40'}",
            "pages.stringValue LIKE '?0'",
            "pages.stringValue MATCHES '[12].*'", "pages.stringValue CONTAINS '3'", "rating.stringValue CONTAINS '.5'",
            "rating.stringValue == '4'",
            "author.born.stringValue BEGINSWITH '18'", "author.born.stringValue == nil",
            "pages.stringValue == rating.stringValue",
            "pages.stringValue.length == 2", "NOT pages.stringValue BEGINSWITH '1'",
        ])
    func textsOfNumbersAreFound(kind: StoreKind, format: String) throws {
        let library = try Library(kind)
        let context = library.context
        let (ada, zoe) = (context.author("Ada", born: 1815), context.author("Zoe", born: 1900))
        context.book("A", pages: 10, rating: 1.5, by: ada)
        context.book("B", pages: 20, rating: 2.5, by: ada)
        context.book("C", pages: 30, rating: 30, by: zoe)
        context.book("D", pages: -40, rating: 4)
        context.book("E", pages: 110, rating: 0.1, by: zoe)
        try context.save()
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let all = try context.fetch(request)
        let predicate = NSPredicate(format: format)
        request.predicate = predicate
        guard format.contains(".length") == false else {
            #expect(errorThrown { _ = try context.fetch(request) } != nil || kind == .inMemory)
            return
        }
        let expected = all.filter { predicate.evaluate(with: $0) }.map(\.title)
        #expect(try context.fetch(request).map(\.title) == expected)
        #expect(expected.count < all.count)
    }

    @Test("A text on its own has no number's text", arguments: StoreKind.allCases) func textsAreRefused(kind: StoreKind)
        throws
    {
        let library = try Library(kind)
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.predicate = NSPredicate(format: "published.stringValue == 'x'")
        let error = errorThrown { _ = try library.context.fetch(request) }
        #expect(kind == .inMemory || error?.localizedDescription.contains("published") == true)
    }
}
