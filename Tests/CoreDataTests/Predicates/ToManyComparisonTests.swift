import CoreData
import TestSupport
import Testing

/// Key paths through to-many relationships on either side of a comparison: any element counts,
/// wherever the predicate is evaluated.
struct ToManyComparisonTests {
    private static let formats: [(format: String, names: [String])] = [
        ("15 < books.pages", ["Ada", "Zoe"]), ("80 == books.pages", ["Zoe"]), ("born == books.pages", ["Ada"]),
        ("10 != books.pages", ["Ada", "Zoe"]), ("nil == books.title", ["Zoe"]), ("nil != books.title", ["Ada"]),
        ("NOT 15 < books.pages", ["Nobody"]), ("name ==[c] books.title", ["Ada"]), ("10 IN books.pages", ["Ada"]),
        ("ANY born == books.pages", ["Ada"]), ("ALL born == books.pages", ["Ada"]),
        ("ALL 15 < books.pages", ["Ada", "Zoe"]),
        ("books.title CONTAINS 'd'", ["Ada"]), ("books.title CONTAINS[c] 'D'", ["Ada"]),
        ("books.title CONTAINS 'x'", []),
        ("books.pages CONTAINS 8", ["Zoe"]), ("ANY books.title CONTAINS 'd'", ["Ada"]),
        ("NONE books.title CONTAINS 'd'", ["Nobody", "Zoe"]),
    ]

    @Test(.foldsTexts, arguments: StoreKind.allCases, formats)
    func anyElementCounts(kind: StoreKind, expected: (format: String, names: [String])) throws {
        let (format, names) = expected
        let library = try Library(kind)
        let (ada, zoe) = (library.context.author("Ada", born: 20), library.context.author("Zoe", born: 1))
        library.context.author("Nobody", born: 10)
        library.context.book("ada", pages: 10, by: ada)
        library.context.book("", pages: 20, by: ada)
        library.context.book(nil, pages: 80, by: zoe)
        try library.context.save()
        let predicate = NSPredicate(format: format)
        #expect(try library.newContext().names(format) == names, "in the store")
        let authors = try library.context.authors()
        #expect(authors.filter { predicate.evaluate(with: $0) }.map(\.name) == names, "evaluated")
        for author in authors { author.name = author.name }
        ada.born += 1
        ada.born -= 1
        #expect(try library.context.names(format) == names, "unsaved")
    }

    @Test func anAttributeThatIsACollectionContainsItsElements() {
        let pets: [[String: Any]] = [["names": ["red", "blue"]], ["names": ["green"]]]
        let friend: [String: Any] = ["names": ["red"]]
        let owner: [String: Any] = ["pets": pets, "names": ["red"], "friend": friend]
        #expect(NSPredicate(format: "names CONTAINS 'red'").evaluate(with: owner))
        #expect(!NSPredicate(format: "names CONTAINS 're'").evaluate(with: owner))
        #expect(!NSPredicate(format: "friend.names CONTAINS 're'").evaluate(with: owner))
        #expect(NSPredicate(format: "friend.names CONTAINS 'red'").evaluate(with: owner))
        #expect(NSPredicate(format: "pets.names CONTAINS 'green'").evaluate(with: owner))
        #expect(!NSPredicate(format: "pets.names CONTAINS 'gree'").evaluate(with: owner))
    }
}
