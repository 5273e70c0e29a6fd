import CoreData
import TestSupport
import Testing

/// Constants of Swift types that stand for a number or a text.
struct ConstantTypeTests {
    private enum Title: String { case open, shut }
    private enum Level: Int16 { case low = 10, high = 20 }
    private struct Code: RawRepresentable { var rawValue: String }

    @Test(arguments: StoreKind.allCases) func aConstantCountsAsWhatItStandsFor(kind: StoreKind) throws {
        let library = try Library(kind)
        library.context.book("open", pages: 10, rating: 1.5)
        library.context.book("shut", pages: 20, rating: 2.5)
        try library.context.save()
        let predicates: [(NSPredicate, String)] = [
            (NSPredicate(format: "rating > %f", CGFloat(2)), "shut"),
            (NSPredicate(format: "rating > %@", CGFloat(2)), "shut"),
            (NSPredicate(format: "rating == %@", argumentArray: [CGFloat(1.5)]), "open"),
            (NSPredicate(format: "pages == %d", CGFloat(10)), "open"),
            (NSPredicate(format: "rating IN %@", [CGFloat(1.5)]), "open"),
            (NSPredicate(format: "title == %@", Title.open), "open"),
            (NSPredicate(format: "title IN %@", [Title.shut]), "shut"),
            (NSPredicate(format: "pages == %@", Level.high), "shut"),
            (NSPredicate(format: "pages == %d", Level.high.rawValue), "shut"),
            (NSPredicate(format: "title == %@", Code(rawValue: "open")), "open"),
            (NSPredicate(format: "title == %@", "reopen".suffix(4)), "open"),
            (NSPredicate(format: "title BEGINSWITH %@", Character("o")), "open"),
            (NSPredicate(format: "title IN %@", ["reopen".suffix(4)]), "open"),
        ]
        for (predicate, title) in predicates {
            let request = NSFetchRequest<LibraryBook>(entityName: "Book")
            request.predicate = predicate
            #expect(try library.newContext().fetch(request).map(\.title) == [title], "\(predicate) in the store")
            #expect(
                try library.newContext().books().filter { predicate.evaluate(with: $0) }.map(\.title) == [title],
                "\(predicate) evaluated")
        }
    }
}
