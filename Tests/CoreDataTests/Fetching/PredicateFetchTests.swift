import CoreData
import TestSupport
import Testing

/// Predicates in fetches of every store, checked against their evaluation in memory.
struct PredicateFetchTests {
    /// Books of all kinds: case, diacritics, wildcards, missing values, to-one and to-many
    /// relationships.
    private func filled(_ kind: StoreKind) throws -> Library {
        let library = try Library(kind)
        let context = library.context
        let ada = context.author("Ada", born: 1815)
        let zoe = context.author("Zoé", born: 1900)
        context.author("Nobody")
        let (red, blue) = (context.tag("red"), context.tag("Blue"))
        context.book("Apple", pages: 10, rating: 1.5, by: ada, tags: [red])
        context.book("apple", pages: 20, rating: 2, by: ada, tags: [red, blue])
        context.book("Äpple", pages: 30, rating: -2.25, by: zoe)
        context.book("50% off_", pages: 40, by: zoe, tags: [blue])
        context.book("O'Hara \"x\" \\ [y]*?", pages: 50)
        context.book(nil, pages: 60)
        context.book("", pages: 70)
        let novel = context.novel("Straße", pages: 80, genre: "crime", by: zoe)
        novel.published = Date(timeIntervalSinceReferenceDate: 1000)
        try context.save()
        return library
    }

    private static let comparisons: [(String, [Int])] = [
        ("title == 'Apple'", [10]), ("title != 'Apple'", [20, 30, 40, 50, 60, 70, 80]),
        ("title ==[c] 'APPLE'", [10, 20]),
        ("title ==[d] 'Apple'", [10, 30]), ("title ==[cd] 'APPLE'", [10, 20, 30]), ("title ==[n] 'Apple'", [10]),
        ("pages < 30", [10, 20]), ("pages <= 30", [10, 20, 30]), ("pages > 60", [70, 80]),
        ("pages >= 70", [70, 80]),
        ("pages BETWEEN {20, 40}", [20, 30, 40]), ("pages IN {10, 40, 99}", [10, 40]),
        ("NOT pages IN {10, 20}", [30, 40, 50, 60, 70, 80]),
        ("title IN {'Apple', 'apple', 'none'}", [10, 20]), ("title BEGINSWITH 'App'", [10]),
        ("title BEGINSWITH[c] 'app'", [10, 20]),
        ("title BEGINSWITH[cd] 'app'", [10, 20, 30]), ("title ENDSWITH 'pple'", [10, 20, 30]),
        ("title ENDSWITH[c] 'PPLE'", [10, 20, 30]),
        ("title CONTAINS 'ppl'", [10, 20, 30]), ("title CONTAINS[c] 'PPL'", [10, 20, 30]),
        ("title CONTAINS '%'", [40]),
        ("title CONTAINS '_'", [40]), ("title CONTAINS '\\\\'", [50]), ("title CONTAINS \"'\"", [50]),
        ("title LIKE 'App*'", [10]), ("title LIKE '?pple'", [10, 20, 30]), ("title LIKE[c] '?PPLE'", [10, 20, 30]),
        ("title LIKE '*[y]*'", [50]), ("title LIKE '*%*'", [40]), ("title LIKE ''", [70]),
        ("title MATCHES '[Aa]p+le'", [10, 20]), ("title MATCHES 'pple'", []), ("title MATCHES[c] 'A.*'", [10, 20]),
        ("title == nil", [60]), ("title != nil", [10, 20, 30, 40, 50, 70, 80]), ("title == ''", [70]),
        ("author == nil", [50, 60, 70]), ("author != NULL", [10, 20, 30, 40, 80]),
        ("published == nil", [10, 20, 30, 40, 50, 60, 70]),
        ("author.name == 'Ada'", [10, 20]), ("author.name == nil", [50, 60, 70]),
        ("author.name !=[d] 'Zoe' AND author != nil", [10, 20]),
        ("author.born > 1850 AND pages < 80", [30, 40]), ("ANY tags.label == 'red'", [10, 20]),
        ("ANY tags.label ==[c] 'blue'", [20, 40]),
        ("title.length > 5", [40, 50, 80]), ("title.length == 0", [70]),
        ("author.name.length == 3", [10, 20, 30, 40, 80]),
        ("ANY tags.label.length > 3", [20, 40]), ("author.name.length > title.length", []),
        ("NONE tags.label == 'red'", [30, 40, 50, 60, 70, 80]),
        ("ALL tags.label == 'red'", [10, 30, 50, 60, 70, 80]),
        ("SOME tags.label BEGINSWITH 'B'", [20, 40]), ("tags.@count == 2", [20]),
        ("tags.@count == 0", [30, 50, 60, 70, 80]),
        ("SUBQUERY(tags, $t, $t.label == 'red' OR $t.label == 'Blue').@count == 2", [20]),
        ("SUBQUERY(tags, $t, $t.label ==[c] 'BLUE').@count > 0", [20, 40]),
        ("rating == 1.5", [10]), ("rating < 0", [30]), ("rating * 2 == 4", [20]), ("pages + 5 > 80", [80]),
        ("rating == -2.25", [30]),
        ("title == 'Apple' OR pages == 80", [10, 80]), ("NOT title == 'Apple' AND pages < 40", [20, 30]),
        ("TRUEPREDICATE", [10, 20, 30, 40, 50, 60, 70, 80]), ("FALSEPREDICATE", []),
        ("author.books.@count == 3", [30, 40, 80]),
        ("pages == rating * 10", [20]), ("'Apple' == title", [10]), ("30 > pages", [10, 20]),
        ("nil == title", [60]),
    ]

    @Test(.foldsTexts, arguments: LongTests.some(24, of: comparisons))
    func aPredicateFindsTheSameInEveryStoreAndInMemory(format: String, pages: [Int]) throws {  // 197-201, 206
        for kind in StoreKind.allCases {
            let library = try filled(kind)
            let reader = library.newContext()
            let stored = try reader.books(format).map { Int($0.pages) }.sorted()
            #expect(stored == pages, "\(kind)")
            #expect(try reader.count(for: counting(format)) == pages.count, "\(kind)")
            let predicate = NSPredicate(format: format)
            let judged = try reader.books().filter { predicate.evaluate(with: $0) }.map { Int($0.pages) }.sorted()
            #expect(judged == pages, "evaluated in memory")
        }
    }

    private func counting(_ format: String) -> NSFetchRequest<LibraryBook> {
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.predicate = NSPredicate(format: format)
        return request
    }

    @Test(arguments: StoreKind.allCases)
    func predicatesOverAToManyRelationship(kind: StoreKind) throws {  // 199
        let library = try filled(kind)
        let context = library.context
        #expect(try context.names("ANY books.pages > 70") == ["Zoé"])
        #expect(try context.names("ALL books.pages < 30") == ["Ada", "Nobody"])
        #expect(try context.names("NONE books.pages < 30") == ["Nobody", "Zoé"])
        #expect(try context.names("books.@count == 0") == ["Nobody"])
        #expect(
            try context.authors("SUBQUERY(books, $b, $b.pages > 15 AND $b.pages < 45).@count == 2").map(\.name) == [
                "Zoé"
            ])
        #expect(
            try context.authors("SUBQUERY(books, $b, ANY $b.tags.label == 'Blue').@count > 0").map(\.name) == [
                "Ada", "Zoé",
            ])
        #expect(try context.names("books.@sum.pages == 30") == ["Ada"])
        #expect(try context.names("books.@max.pages == 80") == ["Zoé"])
    }

    @Test(arguments: StoreKind.allCases)
    func keyPathsAndValuesAreSubstituted(kind: StoreKind) throws {  // 201
        let library = try filled(kind)
        let context = library.context
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.predicate = NSPredicate(format: "%K == %@ AND %K < %d", "author.name", "Ada", "pages", 15)
        #expect(try context.fetch(request).map(\.title) == ["Apple"])
        request.predicate = NSPredicate(
            format: "%K == %@ AND %K < %@", argumentArray: ["author.name", "Ada", "pages", 15])
        #expect(try context.fetch(request).map(\.title) == ["Apple"])
        request.predicate = NSPredicate(format: "published == %@", Date(timeIntervalSinceReferenceDate: 1000) as NSDate)
        #expect(try context.fetch(request).map(\.title) == ["Straße"])
        request.predicate = NSPredicate(format: "title == %@", "O'Hara \"x\" \\ [y]*?")
        #expect(try context.fetch(request).map(\.pages) == [50])
        request.predicate = NSPredicate(format: "title == $name").withSubstitutionVariables(["name": "apple"])
        #expect(try context.fetch(request).map(\.pages) == [20])
        #expect(try context.titles("pages IN %@", [[10, 20]]) == ["Apple", "apple"])
        #expect(try context.titles("pages IN %@", [[Int]()]) == [])
    }

    @Test(arguments: StoreKind.allCases) func whatAStoreDoesNotKnowIsRefused(kind: StoreKind) throws {  // 202
        let library = try filled(kind)
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.predicate = NSPredicate { _, _ in true }
        #expect(throws: (any Error).self) { try library.newContext().fetch(request) }
        request.predicate = NSPredicate(format: "mark == 'here'")
        let error = #expect(throws: (any Error).self) { try library.newContext().fetch(request) }
        #expect((error as NSError?)?.localizedDescription.contains("mark") == true)
        request.predicate = nil
        request.sortDescriptors = [NSSortDescriptor(key: "mark", ascending: true)]
        let sorting = #expect(throws: (any Error).self) { try library.newContext().fetch(request) }
        #expect((sorting as NSError?)?.localizedDescription.contains("mark") == true)
        request.sortDescriptors = nil
        request.predicate = NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate { _, _ in true })
        #expect(throws: (any Error).self) { try library.newContext().fetch(request) }
        request.predicate = NSPredicate(format: "SUBQUERY(author.books, $b, $b.mark == 'here').@count > 0")
        #expect(throws: (any Error).self) { try library.newContext().fetch(request) }
    }

    @Test(arguments: StoreKind.allCases) func aColumnThatAStoreDoesNotKnowIsRefused(kind: StoreKind) throws {
        let library = try filled(kind)
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["mark"]
        #expect(throws: (any Error).self) { try library.newContext().fetch(request) }
        request.propertiesToFetch = ["pages"]
        request.propertiesToGroupBy = ["pages"]
        request.havingPredicate = NSPredicate(format: "titel == 'x'")
        let error = errorThrown { _ = try library.newContext().fetch(request) }
        #expect(error?.localizedDescription.contains("titel") == true, "\(String(describing: error))")
        request.havingPredicate = NSPredicate(format: "pages > $LEAST")
        let unbound = errorThrown { _ = try library.newContext().fetch(request) }
        #expect(unbound?.localizedDescription.contains("$LEAST") == true, "\(String(describing: unbound))")
        request.havingPredicate = NSPredicate { _, _ in true }
        #expect(throws: (any Error).self) { try library.newContext().fetch(request) }
    }

    @Test func anUnknownKeyIsRefusedWithItsName() throws {  // 340
        let library = try filled(.sqlite)
        let error = #expect(throws: (any Error).self) { try library.context.books("titel == 'x'") }
        let message = (error as NSError?)?.localizedDescription ?? ""
        #expect(message.contains("titel"), "\(message)")
        #expect(message.contains("Book"), "\(message)")
    }

    @Test func aParsedFormatCanBeParsedAgain() throws {  // 207
        for format in [
            "title == \"a\"", "title CONTAINS[cd] \"a\"", "ANY tags.label == \"red\"", "pages BETWEEN {1, 2}",
            "author.name == nil AND NOT pages IN {1, 2}", "SUBQUERY(tags, $t, $t.label == \"x\").@count > 0",
            "title LIKE \"a*\" OR rating > 1.5", "title == $name", "title == \"it's \\\"q\\\"\"",
        ] {
            let predicate = NSPredicate(format: format)
            #expect(NSPredicate(format: predicate.predicateFormat) == predicate, "\(format)")
        }
    }
}
