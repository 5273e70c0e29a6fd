import CoreData
import TestSupport
import Testing

/// A relationship that is read for one object after the other is loaded for many at once.
struct BatchFaultingTests {
    /// A store with authors, in order of their names, and their books.
    private static func library(_ kind: StoreKind, authors: Int, books: Int) throws -> Library {
        let library = try Library(kind)
        try library.context.performAndWait {
            for number in 0..<authors {
                let author = library.context.author(name(number), born: Int16(number))
                for book in 0..<books { library.context.book("\(number) \(book)", by: author) }
            }
            try library.context.save()
            // Rows that a context still uses would be found without a request to the store.
            library.context.reset()
        }
        return library
    }

    private static func name(_ number: Int) -> String { "Author \(1_000 + number)" }

    private static func authors(in context: NSManagedObjectContext) throws -> [LibraryAuthor] {
        let request = NSFetchRequest<LibraryAuthor>(entityName: "Author")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try context.fetch(request)
    }

    private static func books(in context: NSManagedObjectContext) throws -> [LibraryBook] {
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return try context.fetch(request)
    }

    /// Changes the authors as another program does.
    private static func renameAuthors(of library: Library) throws {
        let other = try library.newStackContext()
        try other.performAndWait {
            for author in try authors(in: other) { author.name = "changed" }
            try other.save()
        }
    }

    private static func unreadAuthors(_ authors: [LibraryAuthor]) -> [Int] {
        authors.indices.filter { authors[$0].hasFault(forRelationshipNamed: "books") }
    }

    @Test(arguments: StoreKind.persistent) func theSecondInOrderLoadsTheRelationshipOfTheRest(kind: StoreKind) throws {
        let library = try Self.library(kind, authors: 6, books: 2)
        let context = library.newContext()
        try context.performAndWait {
            let authors = try Self.authors(in: context)
            #expect(authors[0].books.count == 2)
            #expect(Self.unreadAuthors(authors) == [1, 2, 3, 4, 5])
            #expect(authors[1].books.count == 2)
            #expect(Self.unreadAuthors(authors) == [])
            for (number, author) in authors.enumerated() {
                #expect(Set(author.books.map(\.title)) == ["\(number) 0", "\(number) 1"])
                #expect(author.books.allSatisfy { $0.author === author })
            }
            #expect(!context.hasChanges)
        }
    }

    @Test(arguments: StoreKind.persistent) func itCanBeSwitchedOff(kind: StoreKind) throws {
        let library = try Self.library(kind, authors: 4, books: 1)
        let context = library.newContext()
        context.batchesFaults = false
        try context.performAndWait {
            let authors = try Self.authors(in: context)
            #expect(authors[0].books.count == 1)
            #expect(authors[1].books.count == 1)
            #expect(Self.unreadAuthors(authors) == [2, 3])
        }
    }

    @Test func aContextThatLimitsTheAgeOfRowsReadsNoneAhead() throws {
        let library = try Self.library(.sqlite, authors: 4, books: 1)
        let context = library.newContext()
        context.stalenessInterval = 0
        try context.performAndWait {
            let authors = try Self.authors(in: context)
            #expect(authors[0].books.count == 1)
            #expect(authors[1].books.count == 1)
            #expect(Self.unreadAuthors(authors) == [2, 3])
        }
    }

    @Test func objectsThatAreReadInAnotherOrderLoadNoOthers() throws {
        let library = try Self.library(.sqlite, authors: 6, books: 1)
        let context = library.newContext()
        try context.performAndWait {
            let authors = try Self.authors(in: context)
            for number in [1, 0, 3, 5] { #expect(authors[number].books.count == 1) }
            #expect(Self.unreadAuthors(authors) == [2, 4])
        }
    }

    @Test func aRelationshipOfManyMembersIsLoadedForFewObjects() throws {
        let library = try Self.library(.sqlite, authors: 24, books: 1)
        try library.context.performAndWait {
            let first = try #require(try Self.authors(in: library.context).first)
            for number in 0..<8_000 { library.context.book("more \(number)", by: first) }
            let second = try Self.authors(in: library.context)[1]
            for number in 0..<8_000 { library.context.book("more \(number)", by: second) }
            try library.context.save()
        }
        let context = library.newContext()
        try context.performAndWait {
            let authors = try Self.authors(in: context)
            #expect(authors[0].books.count == 8_001)
            #expect(authors[1].books.count == 8_001)
            #expect(Self.unreadAuthors(authors) == Array(10..<24))
            // The walk goes on behind those that were loaded.
            for author in authors[2...10] { #expect(author.books.count == 1) }
            #expect(Self.unreadAuthors(authors) == [])
        }
    }

    @Test(arguments: StoreKind.persistent) func destinationsAreReadTogether(kind: StoreKind) throws {
        let library = try Self.library(kind, authors: 5, books: 1)
        let context = library.newContext()
        try context.performAndWait {
            let books = try Self.books(in: context)
            #expect(books[0].author?.name == Self.name(0))
            #expect(books[1].author?.name == Self.name(1))
            // What another program writes now is not seen: the other rows have been read.
            try Self.renameAuthors(of: library)
            for number in 2..<5 { #expect(books[number].author?.name == Self.name(number)) }
        }
    }

    @Test func withoutBatchesEachDestinationIsReadWhenItIsUsed() throws {
        let library = try Self.library(.sqlite, authors: 4, books: 1)
        let context = library.newContext()
        context.batchesFaults = false
        try context.performAndWait {
            let books = try Self.books(in: context)
            #expect(books[0].author?.name == Self.name(0))
            #expect(books[1].author?.name == Self.name(1))
            try Self.renameAuthors(of: library)
            #expect(books[2].author?.name == "changed")
        }
    }

    @Test func unsavedChangesOfTheOthersStay() throws {
        let library = try Self.library(.sqlite, authors: 5, books: 2)
        let context = library.newContext()
        try context.performAndWait {
            let authors = try Self.authors(in: context)
            let books = try Self.books(in: context)
            let new = context.book("new", by: authors[2])
            books[6].author = authors[4]
            context.delete(books[4])
            context.processPendingChanges()
            #expect(authors[0].books.count == 2)
            #expect(authors[1].books.count == 2)
            #expect(authors[2].books == [books[5], new])
            #expect(authors[3].books == [books[7]])
            #expect(authors[4].books == [books[6], books[8], books[9]])
            try context.save()
        }
        try library.newContext().performAndWait {
            let stored = try Self.authors(in: try library.newStackContext()).map { Set($0.books.map(\.title)) }
            #expect(stored == [["0 0", "0 1"], ["1 0", "1 1"], ["2 1", "new"], ["3 1"], ["3 0", "4 0", "4 1"]])
        }
    }

    @Test(arguments: StoreKind.persistent) func tagsOfBooksAndNovelsAreThoseOfEach(kind: StoreKind) throws {
        let library = try Library(kind)
        try library.context.performAndWait {
            let tags = (0..<4).map { number in
                let tag = LibraryTag(context: library.context)
                tag.label = "\(number)"
                return tag
            }
            for number in 0..<12 {
                let book =
                    number.isMultiple(of: 3)
                    ? LibraryNovel(context: library.context) : LibraryBook(context: library.context)
                book.title = "\(100 + number)"
                book.tags = [tags[number % 4], tags[(number + 1) % 4]]
            }
            try library.context.save()
            library.context.reset()
        }
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = library.newContext()
        for context in [library.newContext(), child] {
            try context.performAndWait {
                let books = try Self.books(in: context)
                for (number, book) in books.enumerated() {
                    #expect(Set(book.tags.map(\.label)) == ["\(number % 4)", "\((number + 1) % 4)"])
                }
                for book in books { #expect(book.tags.allSatisfy { $0.books.contains(book) }) }
                #expect(!context.hasChanges)
            }
        }
    }

    @Test(arguments: 0..<(LongTests.areEnabled ? 20 : 5) as Range<UInt64>)
    func aRandomWalkReadsTheSameWithAndWithoutBatches(seed: UInt64) throws {
        let library = try Self.library(.sqlite, authors: 12, books: 3)
        var walks: [[String]] = []
        for batches in [true, false] {
            let context = library.newContext()
            context.batchesFaults = batches
            walks.append(try context.performAndWait { try Self.walk(in: context, SeededGenerator(seed: seed)) })
        }
        #expect(walks[0] == walks[1])
    }

    /// Reads and changes relationships, mostly of one object after the other.
    private static func walk(in context: NSManagedObjectContext, _ generator: SeededGenerator) throws -> [String] {
        var random = generator
        let authors = try authors(in: context)
        let books = try books(in: context)
        var log: [String] = []
        var place = 0
        for _ in 0..<60 {
            place =
                Int.random(in: 0..<5, using: &random) == 0 ? Int.random(in: 0..<12, using: &random) : (place + 1) % 12
            switch Int.random(in: 0..<8, using: &random) {
            case 0: books[Int.random(in: 0..<36, using: &random)].author = authors[place]
            case 1: authors[place].books.insert(context.book("new \(log.count)"))
            case 2: context.delete(books[Int.random(in: 0..<36, using: &random)])
            case 3: context.refresh(authors[place], mergeChanges: true)
            case 4: log.append("\(books[place * 3].author?.name ?? "none")")
            default: log.append(authors[place].books.map { $0.title ?? "" }.sorted().joined(separator: ","))
            }
        }
        context.processPendingChanges()
        return log + authors.map { $0.books.map { $0.title ?? "" }.sorted().joined(separator: ",") }
    }
}
