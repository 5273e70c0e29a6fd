import CoreData
import TestSupport
import Testing

/// Results of other types than a controller's, of sections out of order, and of fetches one after the other.
@Suite struct FetchedResultsFaultTests {
    private func controller<Result>(_ request: NSFetchRequest<Result>, _ library: Library) -> NSFetchedResultsController<Result> {
        NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: library.context, sectionNameKeyPath: nil, cacheName: nil)
    }

    /// The lists of results that are gone are not those of results that take their place in memory.
    @Test func eachFetchHasItsOwnObjects() throws {
        let library = try Library()
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.sortDescriptors = byTitle
        let controller = controller(request, library)
        for count in 1...40 {
            library.context.book("Book \(count)")
            try library.context.save()
            for _ in 0...count % 4 { try controller.performFetch() }
            #expect(controller.fetchedObjects?.count == count)
        }
    }

    @Test(arguments: [false, true]) func sectionsThatCameOutOfOrderAreGroupedByName(isPart: Bool) throws {
        let shelf = try BookShelf(["Ash", "Bay", "Cedar"], sections: "pages", limit: isPart ? 10 : 0)
        #expect(shelf.titles == [["Ash", "Bay"], ["Cedar"]])
        shelf.context.book("Dot", pages: 3)
        shelf.process()
        #expect(shelf.titles == [["Ash", "Bay", "Dot"], ["Cedar"]])
        try shelf.context.save()
        shelf.process()
        #expect(shelf.titles == [["Ash", "Bay", "Dot"], ["Cedar"]])
        #expect(throws: CocoaError.self) { try shelf.controller.performFetch() }
    }

    @Test func sectionsOfFloatsHaveTheirShortNames() throws {
        let thing = NSEntityDescription(
            "Thing", class: "NSManagedObject",
            [NSAttributeDescription("weight", .floatAttributeType), NSAttributeDescription("size", .doubleAttributeType)])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([thing]))
        _ = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let context = coordinator.newContext()
        for weight in [4.3, 5, 0.1] as [Float] {
            let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            thing.setValue(weight, forKey: "weight")
            thing.setValue(Double(weight), forKey: "size")
        }
        try context.save()
        func names(_ key: String) throws -> [String]? {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: key, cacheName: nil)
            try controller.performFetch()
            return controller.sections?.map(\.name)
        }
        #expect(try names("weight") == ["0.1", "4.3", "5"])
        #expect(try names("size") == ["0.10000000149011612", "4.300000190734863", "5"])
    }
}
