import CoreData
import TestSupport
import Testing

/// Settings of a fetch request that matter to results which follow their context.
struct FetchedResultsRequestTests {
    /// A shelf whose request has been changed since.
    private func shelf(limit: Int = 0, _ change: (NSFetchRequest<LibraryBook>) -> Void) throws -> BookShelf {
        let shelf = try BookShelf(limit: limit)
        change(shelf.controller.fetchRequest)
        try shelf.controller.performFetch()
        shelf.listener.begin(with: shelf.controller)
        return shelf
    }

    // MARK: Without pending changes

    private static let withBee = ["Ash", "Bay", "Bee", "Cedar", "Date"]

    @Test(arguments: [0, 3]) func withoutPendingChangesAContextsOwnChangesAreFollowed(limit: Int) throws {
        let shelf = try shelf(limit: limit) { $0.includesPendingChanges = false }
        shelf.context.book("Bee")
        shelf.process()
        #expect(shelf.titles == [Array(limit > 0 ? Self.withBee.prefix(limit) : Self.withBee[...])])
        try shelf.context.save()
        #expect(shelf.titles == [Array(limit > 0 ? Self.withBee.prefix(limit) : Self.withBee[...])])
        #expect(shelf.listener.rounds == 1)
        shelf.context.delete(try shelf.book("Ash"))
        try shelf.context.save()
        #expect(try shelf.controller.fetchedObjects == shelf.context.fetch(shelf.controller.fetchRequest))
        #expect(shelf.listener.sections == ResultsListener.sections(of: shelf.controller))
        #expect(shelf.listener.rounds == 2)
    }

    @Test func withoutPendingChangesALargeChangeIsFollowed() throws {
        let shelf = try shelf { $0.includesPendingChanges = false }
        for number in 0...1000 { shelf.context.book("M\(number)") }
        try shelf.context.save()
        #expect(shelf.controller.fetchedObjects?.count == 1005)
        #expect(shelf.listener.sections == ResultsListener.sections(of: shelf.controller))
        #expect(shelf.listener.rounds == 1)
    }

    @Test(arguments: [0, 3]) func whatTheFetchHasLeftOutComesWithTheSave(limit: Int) throws {
        let shelf = try BookShelf(limit: limit)
        shelf.context.book("Bee")
        shelf.context.delete(try shelf.book("Ash"))
        shelf.context.processPendingChanges()
        shelf.controller.fetchRequest.includesPendingChanges = false
        try shelf.controller.performFetch()
        shelf.listener.begin(with: shelf.controller)
        #expect(shelf.controller.fetchedObjects?.map(\.title).contains("Bee") == false)
        try shelf.context.save()
        #expect(shelf.titles == [Array(limit > 0 ? ["Bay", "Bee", "Cedar"] : ["Bay", "Bee", "Cedar", "Date"])])
        #expect(shelf.listener.complaints == [])
        #expect(shelf.listener.sections == ResultsListener.sections(of: shelf.controller))
    }

    // MARK: Refreshing

    @Test func aFetchThatRefreshesTellsOfChangedObjectsOnly() throws {
        let shelf = try BookShelf()
        for book in try #require(shelf.controller.fetchedObjects) { _ = book.title }
        #expect(shelf.library.file.execute("UPDATE ZBOOK SET ZPAGES = 90, Z_OPT = Z_OPT + 1 WHERE ZTITLE = 'Ash'"))
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.shouldRefreshRefetchedObjects = true
        #expect(try shelf.context.fetch(request).count == 4)
        shelf.process()
        #expect(shelf.listener.summary == ["update Ash"])
        #expect(try shelf.book("Ash").pages == 90)
    }

    @Test func resultsThatAreFetchedAgainAreNotReadAgain() throws {
        let shelf = try shelf(limit: 3) { $0.shouldRefreshRefetchedObjects = true }
        for book in try #require(shelf.controller.fetchedObjects) { _ = book.title }
        shelf.context.processPendingChanges()
        shelf.listener.begin(with: shelf.controller)
        #expect(shelf.library.file.execute("UPDATE ZBOOK SET ZPAGES = 90, Z_OPT = Z_OPT + 1 WHERE ZTITLE = 'Bay'"))
        try shelf.book("Ash").pages = 80
        for _ in 0..<3 { shelf.process() }
        #expect(shelf.listener.rounds == 1)
        #expect(shelf.listener.summary == ["update Ash"])
    }

    // MARK: The delegate's controller

    /// The controller that a shelf's delegate receives.
    private func delegatesController(_ shelf: BookShelf) throws -> NSFetchedResultsController<any NSFetchRequestResult>
    {
        var given: NSFetchedResultsController<any NSFetchRequestResult>?
        shelf.listener.willChange = { given = $0 }
        shelf.context.book("Elder")
        shelf.process()
        return try #require(given)
    }

    @Test func theDelegatesControllerFetchesByThePresentRequest() throws {
        let shelf = try BookShelf()
        let given = try delegatesController(shelf)
        shelf.controller.fetchRequest.predicate = NSPredicate(format: "pages == 3")
        #expect(given.fetchRequest.predicate?.predicateFormat == "pages == 3")
        try given.performFetch()
        #expect(shelf.titles == [["Ash", "Bay"]])
        shelf.listener.begin(with: shelf.controller)
        shelf.context.book("Beech", pages: 5)
        shelf.context.book("Box", pages: 3)
        shelf.process()
        #expect(shelf.titles == [["Ash", "Bay", "Box"]])
    }

    @Test func bothControllersHaveOneRequest() throws {
        let shelf = try BookShelf()
        let given = try delegatesController(shelf)
        given.fetchRequest.predicate = NSPredicate(format: "pages == 3")
        given.fetchRequest.fetchLimit = 1
        given.fetchRequest.includesSubentities = false
        #expect(shelf.controller.fetchRequest.predicate?.predicateFormat == "pages == 3")
        #expect(shelf.controller.fetchRequest.fetchLimit == 1)
        #expect(!shelf.controller.fetchRequest.includesSubentities)
        #expect(given.fetchRequest.entityName == "Book")
        #expect(given.fetchRequest.entity?.name == "Book")
        #expect(given.fetchRequest.description == shelf.controller.fetchRequest.description)
        let copy = try #require(given.fetchRequest.copy() as? NSFetchRequest<any NSFetchRequestResult>)
        given.fetchRequest.fetchLimit = 0
        #expect(copy.fetchLimit == 1)
        #expect(copy.predicate?.predicateFormat == "pages == 3")
        try shelf.controller.performFetch()
        #expect(shelf.titles == [["Ash", "Bay"]])
    }

    @Test func theRuleOfTheCacheHoldsForTheDelegatesController() throws {
        let library = try Library()
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.sortDescriptors = byTitle
        let name = "the delegate's \(UUID())"
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: library.context, sectionNameKeyPath: nil, cacheName: name)
        let listener = ResultsListener()
        controller.delegate = listener
        try controller.performFetch()
        listener.begin(with: controller)
        var given: NSFetchedResultsController<any NSFetchRequestResult>?
        listener.willChange = { given = $0 }
        library.context.book("Ash")
        library.context.processPendingChanges()
        request.predicate = NSPredicate(format: "pages > 3")
        let facade = try #require(given)
        let error = #expect(throws: CocoaError.self) { try facade.performFetch() }
        #expect(error?.code == .coreData)
        NSFetchedResultsController<LibraryBook>.deleteCache(withName: name)
        try facade.performFetch()
        #expect(controller.fetchedObjects == [])
    }
}
