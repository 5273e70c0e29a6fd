import CoreData
import TestSupport
import Testing

/// Results of other types than a controller's, of sections out of order, and of fetches one after
/// the other.
struct FetchedResultsFaultTests {
    private func controller<Result>(_ request: NSFetchRequest<Result>, _ library: Library)
        -> NSFetchedResultsController<Result>
    {
        NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: library.context, sectionNameKeyPath: nil, cacheName: nil)
    }

    @Test("Results of another class are refused, and the former results stay", arguments: [0, 2])
    func resultsOfAnotherClassAreRefused(batchSize: Int) throws {
        let library = try Library()
        for number in 0..<6 { library.context.novel("Novel \(number)") }
        try library.context.save()
        let request = NSFetchRequest<LibraryNovel>(entityName: "Book")
        request.sortDescriptors = byTitle
        request.fetchBatchSize = batchSize
        let controller = controller(request, library)
        try controller.performFetch()
        #expect(controller.fetchedObjects?.count == 6)
        library.context.book("Plain")
        try library.context.save()
        let error = #expect(throws: CocoaError.self) { try controller.performFetch() }
        #expect(error?.code == .coreData)
        #expect(error?.localizedDescription.contains("LibraryNovel") == true)
        #expect(error?.localizedDescription.contains("LibraryBook") == true)
        #expect(controller.fetchedObjects?.count == 6)
    }

    @Test func objectsForAControllerOfDictionariesAreRefused() throws {
        let library = try Library()
        library.context.book("Ash")
        try library.context.save()
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.sortDescriptors = byTitle
        let objects = controller(request, library)
        #expect(throws: CocoaError.self) { try objects.performFetch() }
        #expect(objects.fetchedObjects == nil)
        request.resultType = .dictionaryResultType
        try objects.performFetch()
        #expect(objects.fetchedObjects?.count == 1)
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
            [
                NSAttributeDescription("weight", .floatAttributeType),
                NSAttributeDescription("size", .doubleAttributeType),
            ])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([thing]))
        _ = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
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
