import CoreData
import TestSupport
import Testing

/// Fetched results controllers of contexts that follow the saves of another coordinator.
struct FollowedResultsTests {
    private let library: Library
    private let other: NSManagedObjectContext
    /// A controller without a delegate does not follow its context.
    private let listener = ResultsListener()

    init() throws {
        library = try Library(options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
        other = try library.newStackContext()
        for (title, pages) in [("Ash", 64), ("Bay", 64), ("Cedar", 1)] { other.book(title, pages: Int32(pages)) }
        try other.save()
    }

    private func controller(_ context: NSManagedObjectContext) throws -> NSFetchedResultsController<LibraryBook> {
        context.automaticallyMergesChangesFromParent = true
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.predicate = NSPredicate(format: "pages < 50")
        request.sortDescriptors = byTitle
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        controller.delegate = listener
        try context.performAndWait {
            try controller.performFetch()
            listener.begin(with: controller)
        }
        return controller
    }

    private func change(_ title: String, _ pages: Int32) throws {
        try #require(try other.books("title == %@", [title]).first).pages = pages
    }

    @Test func aHeldObjectThatBeginsToMatchHasItsValues() throws {
        let context = library.newContext()
        let held = try context.performAndWait { try context.books("title == 'Ash'", []) }
        #expect(context.performAndWait { held.first?.pages } == 64)
        let controller = try controller(context)
        try change("Ash", 12)
        try change("Bay", 70)
        try other.save()
        #expect(
            wait(upTo: 60) {
                context.performAndWait { controller.fetchedObjects?.compactMap(\.title) == ["Ash", "Cedar"] }
            })
        #expect(context.performAndWait { held.first?.pages } == 12)
    }

    @Test func aChildsResultsFollow() throws {
        let parent = library.newContext()
        parent.automaticallyMergesChangesFromParent = true
        let child = parent.newChild()
        let controller = try controller(child)
        try change("Ash", 12)
        try change("Cedar", 70)
        other.book("Date", pages: 2)
        try other.save()
        #expect(
            wait(upTo: 60) {
                child.performAndWait { controller.fetchedObjects?.compactMap(\.title) == ["Ash", "Date"] }
            })
    }
}
