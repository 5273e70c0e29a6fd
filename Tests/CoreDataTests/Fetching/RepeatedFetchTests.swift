import CoreData
import TestSupport
import Testing

/// Fetches of one shape share a statement: each must still find what its own values say.
@Suite(.everyStore) struct RepeatedFetchTests {
    let library: Library

    init() throws {
        library = try Library()
        let ada = library.context.author("Ada")
        library.context.book("Apple", pages: 10, rating: 1, by: ada)
        library.context.book("Apricot", pages: 20, rating: 2, by: ada)
        library.context.book("Banana", pages: 30, rating: 3)
        library.context.book("", pages: 40, rating: 4)
        let untitled = LibraryBook(context: library.context)
        untitled.pages = 50
        try library.context.save()
    }

    /// The pages of the books that match, in order of pages.
    private func pages(
        _ format: String, _ arguments: [Any]?, ascending: Bool = true, limit: Int = 0, offset: Int = 0
    ) throws -> [Int32] {
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: ascending)]
        request.fetchLimit = limit
        request.fetchOffset = offset
        return try library.newContext().fetch(request).map(\.pages)
    }

    @Test func otherConstantsGiveOtherRows() throws {
        for (limit, expected) in [(15, [10]), (25, [10, 20]), (5, []), (60, [10, 20, 30, 40, 50])] as [(Int, [Int32])] {
            #expect(try pages("pages < %@", [limit]) == expected)
        }
    }

    @Test func constantsOfOtherTypesAreBoundAsTheyAre() throws {
        #expect(try pages("pages == %@", [20]) == [20])
        #expect(try pages("pages == %@", [20.0]) == [20])
        #expect(try pages("pages == %@", [NSNumber(value: 30)]) == [30])
        #expect(try pages("pages == %@", [20.5]) == [])
    }

    @Test func nilIsComparedAsNilAfterValuesOfTheSameShape() throws {
        #expect(try pages("title == %@", ["Banana"]) == [30])
        #expect(try pages("title == %@", [NSNull()]) == [50])
        #expect(try pages("title == %@", ["Apple"]) == [10])
        #expect(try pages("title != %@", ["Apple"]) == [20, 30, 40, 50])
        #expect(try pages("title != %@", [NSNull()]) == [10, 20, 30, 40])
        #expect(try pages("title != %@", ["Banana"]) == [10, 20, 40, 50])
    }

    @Test(.foldsTexts) func prefixesOfEveryKindFindTheirRows() throws {
        #expect(try pages("title BEGINSWITH %@", ["Ap"]) == [10, 20])
        #expect(try pages("title BEGINSWITH %@", ["B"]) == [30])
        #expect(try pages("title BEGINSWITH %@", [""]) == [10, 20, 30, 40])
        #expect(try pages("title BEGINSWITH %@", ["\u{10FFFF}"]) == [])
        #expect(try pages("title BEGINSWITH %@", ["Apr"]) == [20])
        #expect(try pages("title BEGINSWITH[c] %@", ["ap"]) == [10, 20])
        #expect(try pages("title BEGINSWITH %@", ["ap"]) == [])
    }

    @Test func endingsAndPartsOfEveryKindFindTheirRows() throws {
        #expect(try pages("title ENDSWITH %@", ["e"]) == [10])
        #expect(try pages("title ENDSWITH %@", ["cot"]) == [20])
        #expect(try pages("title ENDSWITH %@", [""]) == [10, 20, 30, 40])
        #expect(try pages("title CONTAINS %@", ["an"]) == [30])
        #expect(try pages("title CONTAINS %@", ["p"]) == [10, 20])
        #expect(try pages("title LIKE %@", ["A*"]) == [10, 20])
        #expect(try pages("title LIKE %@", ["B*"]) == [30])
    }

    @Test func lengthsAreNoTitles() throws {
        #expect(try pages("title.length > %@", [5]) == [20, 30])
        #expect(try pages("title.length > %@", [6]) == [20])
        #expect(try pages("title.length == %@", [0]) == [40])
        #expect(try pages("title.length == %@", [5]) == [10])
        #expect(try pages("title == %@", ["5"]) == [])
        #expect(try pages("title.length == %@", [NSNull()]) == [50])
    }

    @Test func orderLimitAndOffsetBelongToTheShape() throws {
        #expect(try pages("pages > %@", [10]) == [20, 30, 40, 50])
        #expect(try pages("pages > %@", [10], ascending: false) == [50, 40, 30, 20])
        #expect(try pages("pages > %@", [10], limit: 2) == [20, 30])
        #expect(try pages("pages > %@", [20], limit: 1) == [30])
        #expect(try pages("pages > %@", [10], limit: 2, offset: 1) == [30, 40])
        #expect(try pages("pages > %@", [10], offset: 3) == [50])
        #expect(try pages("pages > %@", [10]) == [20, 30, 40, 50])
    }

    @Test func compoundsBindTheirConstantsInOrder() throws {
        #expect(try pages("pages > %@ AND title BEGINSWITH %@", [10, "A"]) == [20])
        #expect(try pages("pages > %@ AND title BEGINSWITH %@", [5, "Ap"]) == [10, 20])
        #expect(try pages("pages > %@ OR title BEGINSWITH %@", [40, "A"]) == [10, 20, 50])
        #expect(try pages("NOT (pages > %@) AND title ENDSWITH %@", [30, "a"]) == [30])
        #expect(try pages("NOT (pages > %@) AND title ENDSWITH %@", [20, "t"]) == [20])
    }

    @Test func objectsAndKeyPathsAcrossRelationshipsAreBoundAnew() throws {
        let authors = try library.context.fetch(NSFetchRequest<LibraryAuthor>(entityName: "Author"))
        let ada = try #require(authors.first)
        let stranger = library.newContext().author("Stranger")
        #expect(try pages("author == %@", [ada.objectID]) == [10, 20])
        #expect(try pages("author == %@", [stranger]) == [])
        #expect(try pages("author.name == %@", ["Ada"]) == [10, 20])
        #expect(try pages("author.name == %@", ["Eve"]) == [])
    }

    @Test func anUnsuitableConstantIsRefusedAfterSuitableOnes() throws {
        #expect(try pages("pages == %@", [10]) == [10])
        if !library.kind.isDatabase {
            // Nothing is translated there: the number is not that.
            #expect(try pages("pages == %@", [["a": 1]]) == [])
        } else {
            #expect(throws: (any Error).self) { try pages("pages == %@", [["a": 1]]) }
        }
        #expect(try pages("pages == %@", [30]) == [30])
    }

    @Test func countsAndIDsHaveTheirOwnStatements() throws {
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        for (limit, expected) in [(15, 1), (35, 3)] {
            request.predicate = NSPredicate(format: "pages < %@", argumentArray: [limit])
            #expect(try library.newContext().count(for: request) == expected)
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Book")
            ids.predicate = request.predicate
            ids.resultType = .managedObjectIDResultType
            #expect(try library.newContext().fetch(ids).count == expected)
            #expect(try library.newContext().fetch(request).count == expected)
        }
    }
}
