import CoreData
import TestSupport
import Testing

/// Fetched results controllers without changes.
struct FetchedResultsTests {
    private func controller<Result>(
        _ request: NSFetchRequest<Result>, _ library: Library, sections: String? = nil, cache: String? = nil
    ) -> NSFetchedResultsController<Result> {
        NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: library.context, sectionNameKeyPath: sections, cacheName: cache
        )
    }

    @Test("259: nothing is there before the first fetch") func nothingIsThereBeforeTheFirstFetch() throws {
        let library = try Library()
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.sortDescriptors = byTitle
        let controller = controller(request, library)
        #expect(controller.fetchedObjects == nil)
        #expect(controller.sections == nil)
        #expect(controller.fetchRequest === request)
        #expect(controller.managedObjectContext === library.context)
    }

    @Test("260: a request without sort descriptors is refused") func aRequestWithoutSortDescriptorsIsRefused() throws {
        let library = try Library()
        let controller = controller(NSFetchRequest<LibraryBook>(entityName: "Book"), library)
        let error = #expect(throws: CocoaError.self) { try controller.performFetch() }
        #expect(error?.code == .coreData)
        #expect(
            error?.localizedDescription.contains("Book of a fetched results controller has no sort descriptors") == true
        )
    }

    @Test func anEmptyListOfSortDescriptorsLeavesTheOrderToTheStore() throws {
        let library = try Library()
        for title in ["B", "A"] { library.context.book(title, pages: 1) }
        try library.context.save()
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.sortDescriptors = []
        let controller = controller(request, library)
        let listener = ResultsListener()
        controller.delegate = listener
        try controller.performFetch()
        #expect(controller.fetchedObjects?.map(\.title) == ["B", "A"])
        library.context.book("C", pages: 1)
        library.context.processPendingChanges()
        #expect(controller.fetchedObjects?.compactMap(\.title).sorted() == ["A", "B", "C"])
        #expect(listener.rounds == 1)
    }

    @Test func changesBeforeTheFetchAreNotTold() throws {
        let library = try Library()
        let books = ["A", "B", "C"].map { library.context.book($0, pages: 1) }
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.sortDescriptors = byTitle
        let controller = controller(request, library)
        let listener = ResultsListener()
        controller.delegate = listener
        try controller.performFetch()
        library.context.processPendingChanges()
        #expect(listener.rounds == 0)
        books[0].title = "Z"
        library.context.processPendingChanges()
        #expect(listener.rounds == 1)
        #expect(listener.objectCalls.map(\.type) == [.move])
    }

    @Test("260: sections out of order are refused, and the former results stay") func sectionsOutOfOrderAreRefused()
        throws
    {
        let library = try Library()
        for (title, pages) in [("A", 1), ("B", 2), ("C", 1)] { library.context.book(title, pages: Int32(pages)) }
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.sortDescriptors = byPages
        let controller = controller(request, library, sections: "pages")
        try controller.performFetch()
        request.sortDescriptors = byTitle
        let error = #expect(throws: CocoaError.self) { try controller.performFetch() }
        #expect(
            error?.localizedDescription.contains("index 2 is in the section \"1\", which had ended before it") == true)
        #expect(controller.fetchedObjects?.map(\.title) == ["A", "C", "B"])
    }

    @Test("261: without a section key path there is one section", arguments: [[], ["Ash", "Bay"]])
    func withoutASectionKeyPathThereIsOneSection(_ titles: [String]) throws {
        let shelf = try BookShelf(titles)
        #expect(shelf.titles == [titles])
        #expect(shelf.controller.sections?.first?.numberOfObjects == titles.count)
    }

    @Test("262: a path leads to its object, and an object of others has none") func aPathLeadsToItsObject() throws {
        let shelf = try BookShelf(["Ash", "Bay", "Oak", "Cedar", "Larch", "Hazels"], sort: byPages, sections: "pages")
        for book in try #require(shelf.controller.fetchedObjects) {
            let path = try #require(shelf.controller.indexPath(forObject: book))
            #expect(shelf.controller.object(at: path) === book)
        }
        #expect(shelf.controller.indexPath(forObject: try shelf.book("Larch")) == IndexPath(item: 1, section: 1))
        let other = shelf.library.newContext()
        let foreign = try #require(try other.fetch(NSFetchRequest<LibraryBook>(entityName: "Book")).first)
        #expect(shelf.controller.indexPath(forObject: foreign) == nil)
    }

    @Test func sectionsAreNamedByTheirValueAsText() throws {
        let library = try Library()
        let ada = library.context.author("Ada")
        library.context.book("With", rating: 2.5, by: ada)
        library.context.book("Without", rating: 2.5)
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        for (key, names) in [("author.name", ["", "Ada"]), ("rating", ["2.5"]), ("pages", ["0"]), ("published", [""])] {
            request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
            let controller = controller(request, library, sections: key)
            try controller.performFetch()
            #expect(controller.sections?.map(\.name) == names)
        }
    }

    @Test("272: the title of a section is the capital of its name") func theTitleOfASectionIsTheCapitalOfItsName()
        throws
    {
        let shelf = try BookShelf(["ash", "aspen", "Bay", "über"], sections: "title")
        #expect(shelf.controller.sections?.map(\.indexTitle) == ["B", "A", "A", "Ü"])
        #expect(shelf.controller.sectionIndexTitles == ["B", "A", "Ü"])
        #expect(shelf.controller.sectionIndexTitle(forSectionName: "oak") == "O")
        #expect(shelf.controller.section(forSectionIndexTitle: "A", at: 1) == 1)
        #expect(shelf.controller.section(forSectionIndexTitle: "Ü", at: 2) == 3)
    }

    @Test func aDelegateAndASubclassTitleSections() throws {
        final class Titles: NSObject, NSFetchedResultsControllerDelegate {
            func controller(
                _ controller: NSFetchedResultsController<NSFetchRequestResult>,
                sectionIndexTitleForSectionName sectionName: String
            ) -> String? { "<\(sectionName)>" }
        }
        final class Numbered: NSFetchedResultsController<LibraryBook> {
            override func sectionIndexTitle(forSectionName sectionName: String) -> String? { "#" }
        }
        let shelf = try BookShelf(["Ash", "Bay"], sections: "title")
        let titles = Titles()
        shelf.controller.delegate = titles
        #expect(shelf.controller.sectionIndexTitles == ["<Ash>", "<Bay>"])
        let numbered = Numbered(
            fetchRequest: shelf.controller.fetchRequest, managedObjectContext: shelf.context,
            sectionNameKeyPath: "title", cacheName: nil)
        try numbered.performFetch()
        #expect(numbered.sections?.map(\.indexTitle) == ["#", "#"])
        #expect(numbered.sectionIndexTitles == ["#"])
    }

    @Test("273: with a cache the request must not change before the cache is deleted")
    func aCachedRequestMustNotChange() throws {
        let library = try Library()
        library.context.book("Ash")
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.sortDescriptors = byTitle
        let controller = controller(request, library, cache: "aCachedRequestMustNotChange")
        #expect(controller.cacheName == "aCachedRequestMustNotChange")
        try controller.performFetch()
        try controller.performFetch()
        request.predicate = NSPredicate(format: "title == 'Bay'")
        let error = #expect(throws: CocoaError.self) { try controller.performFetch() }
        #expect(error?.localizedDescription.contains("aCachedRequestMustNotChange") == true)
        #expect(controller.fetchedObjects?.count == 1)
        NSFetchedResultsController<LibraryBook>.deleteCache(withName: "aCachedRequestMustNotChange")
        try controller.performFetch()
        #expect(controller.fetchedObjects?.count == 0)
    }

    /// In a process of its own: all caches go, also those of other tests.
    @Test func withoutANameAllCachesAreDeleted() async {
        await #expect(processExitsWith: .success) {
            let library = try Library()
            library.context.book("Ash")
            let request = NSFetchRequest<LibraryBook>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let controllers = ["one", "two"].map {
                NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: library.context, sectionNameKeyPath: nil, cacheName: $0
                )
            }
            for controller in controllers { try controller.performFetch() }
            request.predicate = NSPredicate(format: "title == 'Bay'")
            for controller in controllers { #expect(throws: CocoaError.self) { try controller.performFetch() } }
            NSFetchedResultsController<NSFetchRequestResult>.deleteCache(withName: nil)
            for controller in controllers {
                try controller.performFetch()
                #expect(controller.fetchedObjects?.count == 0)
            }
        }
    }

    @Test func dictionariesAndIDsAreShown() throws {
        let shelf = try BookShelf(["Ash", "Bay", "Cedar"])
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["title", "pages"]
        request.sortDescriptors = byPages
        let dictionaries = controller(request, shelf.library, sections: "pages")
        try dictionaries.performFetch()
        #expect(dictionaries.sections?.map(\.name) == ["3", "5"])
        let cedar = dictionaries.object(at: IndexPath(row: 0, section: 1))
        #expect(cedar["title"] as? String == "Cedar")
        #expect(dictionaries.indexPath(forObject: cedar) == IndexPath(row: 0, section: 1))
        let idRequest = NSFetchRequest<NSManagedObjectID>(entityName: "Book")
        idRequest.resultType = .managedObjectIDResultType
        idRequest.sortDescriptors = byTitle
        let objectIDs = controller(idRequest, shelf.library)
        try objectIDs.performFetch()
        #expect(objectIDs.fetchedObjects == shelf.controller.fetchedObjects?.map(\.objectID))
        let count = NSFetchRequest<NSNumber>(entityName: "Book")
        count.resultType = .countResultType
        count.sortDescriptors = byTitle
        #expect(throws: CocoaError.self) { try controller(count, shelf.library).performFetch() }
    }

    @Test func aRequestForAnyResultGivesItsObjects() throws {
        let shelf = try BookShelf(["Ash", "Bay"])
        let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Book")
        request.sortDescriptors = byTitle
        let controller = controller(request, shelf.library)
        try controller.performFetch()
        #expect(controller.fetchedObjects?.compactMap { ($0 as? LibraryBook)?.title } == ["Ash", "Bay"])
        #expect((controller.object(at: IndexPath(item: 1, section: 0)) as? LibraryBook)?.title == "Bay")
    }

    @Test func batchesOfAFetchAreReadWhenTheyAreShown() throws {
        let shelf = try BookShelf((0..<100).map { "Book \(100 + $0)" })
        let context = shelf.library.newContext()
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.sortDescriptors = byTitle
        request.fetchBatchSize = 10
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        try controller.performFetch()
        #expect(controller.object(at: IndexPath(item: 55, section: 0)).title == "Book 155")
        #expect(controller.object(at: IndexPath(item: 3, section: 0)).isFault)
    }
}
