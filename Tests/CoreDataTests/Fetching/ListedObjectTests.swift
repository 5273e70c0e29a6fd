import CoreData
import TestSupport
import Testing

/// Fetches of objects by lists of their IDs.
struct ListedObjectTests {
    @Test(arguments: StoreKind.allCases) func onlyTheListedObjectsOfTheEntityAreFound(kind: StoreKind) throws {
        let (library, other) = (try Library(kind), try Library(kind))
        let context = library.context
        let books = (0..<20).map { context.book("\($0)", by: context.author("\($0)")) }
        try context.save()
        let strangers = (0..<20).map { other.context.book("\($0)") }
        try other.context.save()
        let unsaved = context.book("unsaved")
        let wanted = [books[3], books[7], books[11]]
        let lists: [(list: [NSManagedObjectID], titles: [String])] = [
            (wanted.map(\.objectID), ["11", "3", "7"]),
            // Those of authors have the same keys.
            (wanted.compactMap { $0.author?.objectID }, []),
            (wanted.map(\.objectID) + wanted.compactMap { $0.author?.objectID }, ["11", "3", "7"]),
            (strangers.map(\.objectID), []), (strangers.map(\.objectID) + [books[5].objectID], ["5"]),
            ([unsaved.objectID] + wanted.map(\.objectID), ["11", "3", "7", "unsaved"]),
            (wanted.map(\.objectID) + wanted.map(\.objectID), ["11", "3", "7"]),
        ]
        for (number, (list, titles)) in lists.enumerated() {
            let request = NSFetchRequest<LibraryBook>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            // The same as lists of objects, and as sets.
            for predicate in [NSPredicate(format: "SELF IN %@", list), NSPredicate(format: "SELF IN %@", Set(list))] {
                request.predicate = predicate
                #expect(try context.fetch(request).map(\.title) == titles, "list \(number)")
            }
            let authors = NSFetchRequest<LibraryBook>(entityName: "Book")
            authors.predicate = NSPredicate(format: "author IN %@", wanted.compactMap { $0.author?.objectID })
            #expect(try context.count(for: authors) == 3)
            authors.predicate = NSPredicate(format: "NOT (author IN %@)", wanted.compactMap { $0.author?.objectID })
            #expect(try context.count(for: authors) == 18)
        }
        withExtendedLifetime(other) {}
    }
}
