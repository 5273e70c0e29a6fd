import CoreData
import TestSupport
import Testing

/// A library of a few books, a controller over them, and what it tells.
struct BookShelf {
    let library: Library
    let controller: NSFetchedResultsController<LibraryBook>
    let listener = ResultsListener()

    var context: NSManagedObjectContext { library.context }

    /// - Parameter titles: one book each, with as many pages as the title is long; they are saved.
    init(
        _ titles: [String] = ["Ash", "Bay", "Cedar", "Date"],
        sort: [NSSortDescriptor] = [NSSortDescriptor(key: "title", ascending: true)],
        where predicate: NSPredicate? = nil, sections: String? = nil, limit: Int = 0, kind: StoreKind = .sqlite
    ) throws {
        library = try Library(kind)
        for title in titles { library.context.book(title, pages: Int32(title.count)) }
        try library.context.save()
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.sortDescriptors = sort
        request.predicate = predicate
        request.fetchLimit = limit
        controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: library.context, sectionNameKeyPath: sections, cacheName: nil)
        controller.delegate = listener
        try controller.performFetch()
        listener.begin(with: controller)
    }

    func book(_ title: String) throws -> LibraryBook {
        try #require(controller.fetchedObjects?.first { $0.title == title }, "the book \(title)")
    }

    /// The titles by section.
    var titles: [[String]] {
        (controller.sections ?? []).map { ($0.objects ?? []).compactMap { ($0 as? LibraryBook)?.title } }
    }

    /// Processes pending changes and checks that what the calls amount to is what the controller
    /// shows.
    func process() {
        context.processPendingChanges()
        #expect(listener.complaints == [])
        #expect(listener.sections == ResultsListener.sections(of: controller))
    }
}

let byTitle = [NSSortDescriptor(key: "title", ascending: true)]
let byPages = [NSSortDescriptor(key: "pages", ascending: true), NSSortDescriptor(key: "title", ascending: true)]
