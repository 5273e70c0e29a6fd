import CoreData
import TestSupport
import Testing

/// Predicates and orders that look at unsaved objects: what a store refuses is refused with them, too, and what it finds they find.
@Suite struct UnsavedPredicateTests {
    /// A saved novel and a plain book that is not saved.
    private func library(_ kind: StoreKind) throws -> Library {
        let library = try Library(kind)
        let ada = library.context.author("Ada")
        library.context.novel("Saved", pages: 5, genre: "crime", by: ada)
        try library.context.save()
        library.context.book("New", pages: 1, by: ada)
        return library
    }

    private func request(_ predicate: NSPredicate?, sortedBy key: String? = nil) -> NSFetchRequest<LibraryBook> {
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.predicate = predicate
        request.sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: true)] }
        return request
    }

    // MARK: Properties of subentities

    private static let formats: [(format: String, titles: [String])] = [
        ("genre == 'crime'", ["Saved"]), ("genre == nil", ["New"]), ("genre != 'war'", ["New", "Saved"]),
        ("genre BEGINSWITH 'c'", ["Saved"]),
        ("author.books.genre == 'crime'", ["New", "Saved"]),
        ("SUBQUERY(author.books, $b, $b.genre == 'crime').@count == 1", ["New", "Saved"]),
    ]

    @Test(arguments: StoreKind.allCases, formats)
    func anObjectHasNoValueForAPropertyOfASubentity(kind: StoreKind, expected: (format: String, titles: [String])) throws {
        let (format, titles) = expected
        let library = try library(kind)
        #expect(try library.context.titles(format) == titles)
        let all = try library.context.books()
        #expect(all.filter { NSPredicate(format: format).evaluate(with: $0) }.map(\.title) == titles)
        try library.context.save()
        #expect(try library.newContext().titles(format) == titles)
    }

    @Test(arguments: StoreKind.allCases) func unsavedObjectsAreSortedByAPropertyOfASubentity(kind: StoreKind) throws {
        let library = try library(kind)
        let titles = try library.context.fetch(request(nil, sortedBy: "genre")).map(\.title)
        #expect(titles == ["New", "Saved"])
        try library.context.save()
        #expect(try library.newContext().fetch(request(nil, sortedBy: "genre")).map(\.title) == titles)
    }

    @Test func aPropertyOfASiblingHasNoValue() throws {
        let base = NSEntityDescription("Base", [NSAttributeDescription("name", .stringAttributeType)])
        let left = NSEntityDescription("Left", [NSAttributeDescription("width", .integer32AttributeType)])
        let right = NSEntityDescription("Right", [NSAttributeDescription("height", .integer32AttributeType)])
        base.subentities = [left, right]
        let stack = try TestStack([base, left, right])
        let object = NSManagedObject(entity: stack.entity("Right"), insertInto: stack.context)
        #expect(NSPredicate(format: "width == nil").evaluate(with: object))
        let request = NSFetchRequest<NSManagedObject>(entityName: "Base")
        request.predicate = NSPredicate(format: "width > 3")
        #expect(try stack.context.fetch(request).isEmpty)
    }

    @Test func aProgramThatReadsAPropertyOfASubentityIsStopped() async {
        await #expect(processExitsWith: .failure) {
            let library = try Library(.inMemory)
            _ = library.context.book("A").value(forKey: "genre")
        }
        await #expect(processExitsWith: .failure) {
            let library = try Library(.inMemory)
            _ = library.context.book("A", by: library.context.author("Ada")).value(forKeyPath: "author.books.genre")
        }
    }
}
