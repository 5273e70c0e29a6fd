import CoreData
import TestSupport
import Testing

/// The calls that a fetched results controller makes to its delegate.
struct FetchedResultsChangeTests {
    @Test("264: a round begins, tells sections, tells objects, and ends") func aRoundHasItsOrder() throws {
        let shelf = try BookShelf(["Ash", "Bay", "Cedar"], sort: byPages, sections: "pages")
        try shelf.book("Cedar").pages = 3
        shelf.context.book("Pear", pages: 4)
        shelf.process()
        #expect(shelf.listener.calls == ["will", "section", "section", "object", "object", "did"])
        #expect(shelf.titles == [["Ash", "Bay", "Cedar"], ["Pear"]])
    }

    @Test("265: changes are told when they are processed, and a save tells nothing more")
    func changesAreToldWhenTheyAreProcessed() throws {
        let shelf = try BookShelf()
        try shelf.book("Bay").rating = 4
        #expect(shelf.listener.rounds == 0)
        shelf.process()
        #expect(shelf.listener.rounds == 1)
        try shelf.context.save()
        #expect(shelf.listener.rounds == 1)
    }

    @Test("266: places are those before for what goes, and those after for what comes")
    func placesAreThoseBeforeAndAfter() throws {
        let shelf = try BookShelf(["Ash", "Bay", "Cedar", "Date"])
        let (ash, date) = (try shelf.book("Ash"), try shelf.book("Date"))
        shelf.context.delete(ash)
        date.title = "Aaa"
        let new = shelf.context.book("Bee")
        shelf.process()
        func call(_ object: NSManagedObject) throws -> ResultsListener.ObjectCall {
            try #require(shelf.listener.objectCalls.first { $0.object === object })
        }
        #expect(try call(ash).old == IndexPath(item: 0, section: 0))
        #expect(try call(ash).new == nil)
        #expect(try call(date).old == IndexPath(item: 3, section: 0))
        #expect(try call(date).new == IndexPath(item: 0, section: 0))
        #expect(try call(new).old == nil)
        #expect(try call(new).new == IndexPath(item: 2, section: 0))
        #expect(shelf.titles == [["Aaa", "Bay", "Bee", "Cedar"]])
    }

    @Test("267: a changed sort key is one move, any other change an update") func aChangedSortKeyIsOneMove() throws {
        let shelf = try BookShelf()
        try shelf.book("Ash").title = "Zed"
        try shelf.book("Bay").rating = 3
        shelf.process()
        #expect(shelf.listener.summary == ["move Zed", "update Bay"])
    }

    @Test("267: a changed sort key is a move also where the place is the same")
    func aChangedSortKeyIsAMoveToTheSamePlace() throws {
        let shelf = try BookShelf()
        try shelf.book("Bay").title = "Bee"
        shelf.process()
        #expect(shelf.listener.summary == ["move Bee"])
        #expect(shelf.listener.objectCalls.first?.old == shelf.listener.objectCalls.first?.new)
    }

    @Test func aSortKeyThatIsSetToItsValueIsAnUpdate() throws {
        let shelf = try BookShelf(["Ash", "Bay", "Cedar"], sort: byPages, sections: "pages")
        let (ash, bay, cedar) = (try shelf.book("Ash"), try shelf.book("Bay"), try shelf.book("Cedar"))
        ash.title = "Ash"
        bay.title = "Bee"
        bay.title = "Bay"
        cedar.pages = 6
        cedar.pages = 5
        cedar.title = "Cider"
        shelf.process()
        #expect(shelf.listener.summary == ["move Cider", "update Ash", "update Bay"])
        // Against unsaved values, too.
        cedar.title = "Cider"
        shelf.process()
        #expect(shelf.listener.summary.last == "update Cider")
    }

    /// An observer that is told before the controller saves, after which the objects do not know
    /// what they were.
    @Test func aSaveInAnObserverDoesNotMakeAnUpdateAMove() throws {
        let shelf = try BookShelf()
        let ash = try shelf.book("Ash")
        let context = shelf.context
        let token = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
        ) { _ in if context.hasChanges { try? context.save() } }
        defer { NotificationCenter.default.removeObserver(token) }
        ash.title = "Ash"
        shelf.process()
        #expect(shelf.listener.summary == ["update Ash"])
    }

    @Test func aSortKeyAcrossARelationshipThatIsSetToItsDestinationIsAnUpdate() throws {
        let shelf = try BookShelf(sort: [NSSortDescriptor(key: "author.name", ascending: true)] + byTitle)
        let ash = try shelf.book("Ash")
        let ada = shelf.context.author("Ada")
        ash.author = ada
        try shelf.context.save()
        #expect(shelf.listener.summary == ["move Ash"])
        ash.author = ada
        shelf.process()
        #expect(shelf.listener.summary == ["update Ash"])
    }

    @Test func aSectionIsEqualToItselfInCollectionsOfFoundation() throws {
        let shelf = try BookShelf(sort: byPages, sections: "pages")
        let sections = try #require(shelf.controller.sections)
        let (first, second) = (sections[0], sections[1])
        #expect(NSDictionary(dictionary: ["section": first]) == NSDictionary(dictionary: ["section": first]))
        #expect(NSDictionary(dictionary: ["section": first]) != NSDictionary(dictionary: ["section": second]))
        #expect(NSSet(array: [first, second, first]).count == 2)
        #expect(NSArray(array: [first, second]).index(of: second) == 1)
    }

    @Test("268: what stops matching is deleted, what starts matching inserted") func thePredicateDecides() throws {
        let shelf = try BookShelf(["Ash", "Bay", "Cedar"], where: NSPredicate(format: "pages < 5"))
        #expect(shelf.titles == [["Ash", "Bay"]])
        let cedar = try #require(
            try shelf.context.fetch(NSFetchRequest<LibraryBook>(entityName: "Book")).first { $0.title == "Cedar" })
        try shelf.book("Ash").pages = 9
        cedar.pages = 1
        shelf.process()
        #expect(shelf.listener.summary == ["delete Ash", "insert Cedar"])
    }

    @Test("269: an emptied section is deleted, a new name inserted") func sectionsComeAndGo() throws {
        let shelf = try BookShelf(["Ash", "Bay", "Cedar"], sort: byPages, sections: "pages")
        try shelf.book("Cedar").pages = 7
        shelf.process()
        #expect(shelf.listener.sectionCalls.map(\.name) == ["5", "7"])
        #expect(shelf.listener.sectionCalls.map(\.type) == [.delete, .insert])
        #expect(shelf.listener.sectionCalls.map(\.index) == [1, 1])
        #expect(shelf.listener.summary == ["move Cedar"])
    }

    @Test func aSectionWhoseOnlyObjectMovesWithinItStays() throws {
        let shelf = try BookShelf(["Ash", "Cedar"], sort: byPages, sections: "pages")
        try shelf.book("Cedar").title = "Zebra"
        shelf.process()
        #expect(shelf.listener.sectionCalls.isEmpty)
        #expect(shelf.listener.summary == ["move Zebra"])
    }

    @Test func sectionsThatChangePlacesAreDeletedAndInserted() throws {
        // Sections by a value that goes with the order, but is not it.
        let library = try Library()
        let context = library.context
        for (title, pages, rating) in [("A", 1, 10), ("B", 2, 20), ("C", 3, 30)] {
            context.book(title, pages: Int32(pages), rating: Double(rating))
        }
        try context.save()
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.sortDescriptors = byPages
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "rating", cacheName: nil)
        let listener = ResultsListener()
        controller.delegate = listener
        try controller.performFetch()
        listener.begin(with: controller)
        controller.object(at: IndexPath(item: 0, section: 0)).pages = 9
        context.processPendingChanges()
        #expect(listener.complaints == [])
        #expect(listener.sections.map(\.name) == ["20", "30", "10"])
        #expect(listener.sections == ResultsListener.sections(of: controller))
    }

    @Test("271: a reset tells nothing, and the next fetch begins anew") func aResetTellsNothing() throws {
        let shelf = try BookShelf()
        shelf.context.reset()
        shelf.context.book("New")
        shelf.context.processPendingChanges()
        #expect(shelf.listener.rounds == 0)
        try shelf.controller.performFetch()
        shelf.listener.begin(with: shelf.controller)
        #expect(shelf.titles == [["Ash", "Bay", "Cedar", "Date", "New"]])
        shelf.context.book("Newer")
        shelf.process()
        #expect(shelf.listener.summary == ["insert Newer"])
    }

    @Test("274: the delegate is not kept alive") func theDelegateIsNotKeptAlive() throws {
        let shelf = try BookShelf()
        weak var gone: ResultsListener?
        do {
            let listener = ResultsListener()
            gone = listener
            shelf.controller.delegate = listener
        }
        #expect(gone == nil)
        #expect(shelf.controller.delegate == nil)
        shelf.context.book("Bee")
        shelf.context.processPendingChanges()
        #expect(shelf.titles == [["Ash", "Bay", "Cedar", "Date"]])
    }

    @Test func theControllerIsNotKeptAliveByItsContext() throws {
        let library = try Library()
        weak var gone: NSFetchedResultsController<LibraryBook>?
        let listener = ResultsListener()
        do {
            let request = NSFetchRequest<LibraryBook>(entityName: "Book")
            request.sortDescriptors = byTitle
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: library.context, sectionNameKeyPath: nil, cacheName: nil)
            gone = controller
            controller.delegate = listener
            try controller.performFetch()
            library.context.book("Ash")
            library.context.processPendingChanges()
            #expect(listener.rounds == 1)
        }
        #expect(gone == nil)
        library.context.book("Bay")
        library.context.processPendingChanges()
        #expect(listener.rounds == 1)
    }

    @Test func aDelegateFindsItsControllerInTheParameter() throws {
        let shelf = try BookShelf()
        var isSame: [Bool] = []
        shelf.listener.willChange = { controller in
            isSame = [controller === shelf.controller, controller == shelf.controller, controller !== shelf.controller]
        }
        try shelf.book("Ash").rating = 1
        shelf.process()
        #expect(isSame == [true, true, false])
        let other = try BookShelf()
        #expect(!(shelf.controller === other.controller))
        #expect(shelf.controller != other.controller)
    }

    @Test("263: one method is enough to follow changes, and without any nothing is followed") func oneMethodIsEnough()
        throws
    {
        final class Ends: NSObject, NSFetchedResultsControllerDelegate {
            var count = 0
            func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
                count += 1
            }
        }
        final class Nothing: NSObject, NSFetchedResultsControllerDelegate {}
        let shelf = try BookShelf()
        let ends = Ends()
        shelf.controller.delegate = ends
        shelf.context.book("Bee")
        shelf.context.processPendingChanges()
        #expect(ends.count == 1)
        #expect(shelf.titles == [["Ash", "Bay", "Bee", "Cedar", "Date"]])
        for delegate in [Nothing(), nil] as [Nothing?] {
            shelf.controller.delegate = delegate
            shelf.context.book("Ant")
            shelf.context.processPendingChanges()
            shelf.context.book("Ape")
            shelf.context.processPendingChanges()
            #expect(shelf.titles == [["Ash", "Bay", "Bee", "Cedar", "Date"]])
        }
        try shelf.controller.performFetch()
        #expect(shelf.titles == [["Ant", "Ant", "Ape", "Ape", "Ash", "Bay", "Bee", "Cedar", "Date"]])
    }

    @Test func whatBearsOnNoResultTellsNothing() throws {
        let shelf = try BookShelf(["Ash", "Cedar"], where: NSPredicate(format: "pages < 5"))
        let cedar = try #require(
            try shelf.context.fetch(NSFetchRequest<LibraryBook>(entityName: "Book")).first { $0.title == "Cedar" })
        cedar.rating = 5
        shelf.context.author("Ada")
        shelf.context.novel("Long", pages: 1000)
        try shelf.book("Ash").setPrimitiveValue(9, forKey: "pages")
        shelf.process()
        try shelf.context.save()
        #expect(shelf.listener.rounds == 0)
    }

    @Test func objectsOfSubentitiesFollowOnlyWhereTheRequestWantsThem() throws {
        let shelf = try BookShelf()
        shelf.context.novel("Emma", pages: 4)
        shelf.process()
        #expect(shelf.listener.summary == ["insert Emma"])
        shelf.controller.fetchRequest.includesSubentities = false
        try shelf.controller.performFetch()
        shelf.listener.begin(with: shelf.controller)
        shelf.context.novel("Eve", pages: 4)
        shelf.process()
        #expect(shelf.listener.rounds == 0)
    }

    @Test func aChangedRequestWaitsForTheNextFetch() throws {
        let shelf = try BookShelf()
        shelf.controller.fetchRequest.predicate = NSPredicate(format: "title == 'Ash'")
        shelf.context.book("Bee")
        shelf.process()
        #expect(shelf.listener.summary == ["insert Bee"])
        try shelf.controller.performFetch()
        #expect(shelf.titles == [["Ash"]])
    }

    @Test func whatARollbackTakesBackIsTold() throws {
        let shelf = try BookShelf()
        shelf.context.delete(try shelf.book("Ash"))
        try shelf.book("Bay").title = "Zed"
        shelf.context.book("New")
        shelf.process()
        #expect(shelf.titles == [["Cedar", "Date", "New", "Zed"]])
        shelf.context.rollback()
        shelf.process()
        #expect(shelf.titles == [["Ash", "Bay", "Cedar", "Date"]])
    }

    @Test func aRefreshTellsWhatOthersChanged() throws {
        let shelf = try BookShelf()
        let other = shelf.library.newContext()
        let books = try other.fetch(NSFetchRequest<LibraryBook>(entityName: "Book"))
        books.first { $0.title == "Ash" }?.title = "Zed"
        try other.save()
        shelf.context.refreshAllObjects()
        shelf.process()
        #expect(shelf.titles == [["Bay", "Cedar", "Date", "Zed"]])
        #expect(Set(shelf.listener.summary) == ["move Zed", "update Bay", "update Cedar", "update Date"])
    }

    @Test(arguments: [false, true]) func whatOthersSaveIsToldWhenItIsMerged(_ isRemote: Bool) throws {
        let shelf = try BookShelf(["Ash", "Bay", "Cedar"], where: NSPredicate(format: "pages < 5"))
        // Nothing but the controller knows the books, and it has read none of them.
        shelf.context.refreshAllObjects()
        shelf.context.processPendingChanges()
        shelf.listener.begin(with: shelf.controller)
        shelf.context.refreshAllObjects()
        let other = isRemote ? try shelf.library.newStackContext() : shelf.library.newContext()
        let books = try other.fetch(NSFetchRequest<LibraryBook>(entityName: "Book"))
        let saves = NotificationLog(NSManagedObjectContext.didSaveObjectIDsNotification, from: other)
        books.first { $0.title == "Ash" }?.title = "Zed"
        books.first { $0.title == "Bay" }.map(other.delete)
        books.first { $0.title == "Cedar" }?.pages = 1
        other.book("New", pages: 2)
        try other.save()
        let saved = try #require(saves.all.last)
        if isRemote {
            var uris: [AnyHashable: Any] = [:]
            for key in [NSInsertedObjectIDsKey, NSUpdatedObjectIDsKey, NSDeletedObjectIDsKey] {
                uris[key] = (saved.userInfo?[key] as? Set<NSManagedObjectID>)?.map { $0.uriRepresentation() }
            }
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: uris, into: [shelf.context])
        } else {
            shelf.context.mergeChanges(fromContextDidSave: saved)
        }
        shelf.process()
        #expect(shelf.titles == [["Cedar", "New", "Zed"]])
    }

    @Test func aDeleteRuleDeletesResults() throws {
        let shelf = try BookShelf()
        let ada = shelf.context.author("Ada")
        try shelf.book("Ash").author = ada
        shelf.process()
        #expect(shelf.listener.summary == ["update Ash"])
        shelf.listener.forgetCalls()
        shelf.context.delete(ada)
        shelf.process()
        #expect(shelf.listener.summary == ["update Ash"])
    }

    @Test func aLimitKeepsTheFirstResults() throws {
        let shelf = try BookShelf(["Ash", "Bay", "Cedar", "Date"], limit: 2)
        #expect(shelf.titles == [["Ash", "Bay"]])
        shelf.context.delete(try shelf.book("Ash"))
        shelf.process()
        #expect(shelf.titles == [["Bay", "Cedar"]])
        shelf.context.book("Ape")
        shelf.process()
        #expect(shelf.listener.summary == ["delete Cedar", "insert Ape"])
    }

    @Test(arguments: [nil, "pages"]) func aLargeChangeIsOneRound(_ sections: String?) throws {
        let shelf = try BookShelf(["Ash", "Bay", "Cedar"], sort: byPages, sections: sections)
        var generator = SeededGenerator(seed: 3)
        for number in 0..<2500 {
            shelf.context.book("Book \(number)", pages: Int32.random(in: 0..<9, using: &generator))
        }
        shelf.process()
        #expect(shelf.listener.rounds == 1)
        #expect(try shelf.controller.fetchedObjects == shelf.context.fetch(shelf.controller.fetchRequest))
        for book in try #require(shelf.controller.fetchedObjects) where Bool.random(using: &generator) {
            book.pages = Int32.random(in: 3..<12, using: &generator)
        }
        shelf.context.delete(try shelf.book("Ash"))
        shelf.process()
        #expect(try shelf.controller.fetchedObjects == shelf.context.fetch(shelf.controller.fetchRequest))
    }

    @Test func aDelegateMayFetchAgainAtTheBeginningOfARound() throws {
        let shelf = try BookShelf()
        shelf.listener.willChange = { _ in
            do { try shelf.controller.performFetch() } catch { Issue.record(error) }
        }
        shelf.context.book("Bee")
        shelf.process()
        #expect(shelf.titles == [["Ash", "Bay", "Bee", "Cedar", "Date"]])
    }

    @Test @MainActor func aMainQueueContextTellsAtTheEndOfTheEvent() async throws {
        let library = try Library()
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = library.coordinator
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.sortDescriptors = byTitle
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        let listener = ResultsListener()
        controller.delegate = listener
        try controller.performFetch()
        context.book("Ash")
        #expect(listener.rounds == 0)
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
        #expect(listener.rounds == 1)
        withExtendedLifetime(library) {}
    }
}

/// Fetched results controllers beside other parts of the engine.
struct FetchedResultsPairTests {
    @Test func objectsOfARemovedStoreAreDeleted() throws {
        let shelf = try BookShelf()
        let store = try #require(shelf.library.coordinator.persistentStores.first)
        try shelf.library.coordinator.remove(store)
        // Its queue is free to hear of it.
        shelf.context.performAndWait { shelf.context.processPendingChanges() }
        shelf.process()
        #expect(shelf.titles == [[]])
    }

    @Test func aSaveBringsTheOrderByDerivedAttributes() throws {
        let folder = try TemporaryFolder()
        let vendor = NSEntityDescription(
            "Vendor", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        let item = NSEntityDescription(
            "Item", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        let count = NSDerivedAttributeDescription("count", .integer64AttributeType, from: "items.@count")
        vendor.properties.append(count)
        relate(vendor, "items", toMany: true, item, inverse: "vendor")
        let stack = try TestStack(NSManagedObjectModel([vendor, item]), url: folder.file("store.sqlite"))
        let context = stack.context
        func insert(_ entity: String, _ name: String, _ vendor: NSManagedObject? = nil) -> NSManagedObject {
            let object = NSManagedObject(entity: stack.entity(entity), insertInto: context)
            object.setValue(name, forKey: "name")
            if let vendor { object.setValue(vendor, forKey: "vendor") }
            return object
        }
        let (one, two) = (insert("Vendor", "one"), insert("Vendor", "two"))
        _ = insert("Item", "first", one)
        try context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Vendor")
        request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: false)]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        let listener = ResultsListener()
        controller.delegate = listener
        try controller.performFetch()
        listener.begin(with: controller)
        #expect(controller.fetchedObjects == [one, two])
        for name in ["second", "third"] { _ = insert("Item", name, two) }
        try context.save()
        #expect(controller.fetchedObjects == [two, one])
        #expect(listener.sections == ResultsListener.sections(of: controller))
    }

    @Test func aControllerMayBeMadeWhileAnotherTells() throws {
        let shelf = try BookShelf()
        let listener = ResultsListener()
        var made: [NSFetchedResultsController<LibraryBook>] = []
        shelf.listener.willChange = { _ in
            let controller = NSFetchedResultsController(
                fetchRequest: shelf.controller.fetchRequest, managedObjectContext: shelf.context,
                sectionNameKeyPath: nil, cacheName: nil)
            controller.delegate = listener
            do { try controller.performFetch() } catch { Issue.record(error) }
            made.append(controller)
        }
        shelf.context.book("Bee")
        shelf.process()
        #expect(made.count == 1)
        #expect(listener.rounds == 0)
        listener.begin(with: made[0])
        shelf.listener.willChange = { _ in made = [] }
        shelf.context.book("Cob")
        shelf.process()
        #expect(shelf.titles == [["Ash", "Bay", "Bee", "Cedar", "Cob", "Date"]])
    }

    @Test func severalStoresGiveOneOrder() throws {
        let library = try Library()
        let second = try library.coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let context = library.context
        let listener = ResultsListener()
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.sortDescriptors = byTitle
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        controller.delegate = listener
        try controller.performFetch()
        listener.begin(with: controller)
        context.book("B")
        context.assign(context.book("A"), to: second)
        context.assign(context.book("C"), to: second)
        try context.save()
        #expect(listener.sections == ResultsListener.sections(of: controller))
        #expect(try controller.fetchedObjects == context.fetch(request))
        request.affectedStores = [second]
        try controller.performFetch()
        listener.begin(with: controller)
        context.book("D")
        context.assign(context.book("E"), to: second)
        context.processPendingChanges()
        #expect(listener.summary == ["insert E"])
    }
}
