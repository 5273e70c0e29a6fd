import CoreData
import TestSupport
import Testing

/// Fetched results controllers of contexts that have a parent.
struct ChildResultsTests {
    /// Saved books, and controllers in a child and in a grandchild.
    final class Tree {
        let library: Library
        let child: NSManagedObjectContext
        let grandchild: NSManagedObjectContext
        let controller: NSFetchedResultsController<LibraryBook>
        let listener = ResultsListener()
        let lower: NSFetchedResultsController<LibraryBook>
        let lowerListener = ResultsListener()

        var root: NSManagedObjectContext { library.context }

        init(_ kind: StoreKind, _ titles: [String] = ["Ash", "Bay", "Cedar"], sections: String? = nil) throws {
            library = try Library(kind)
            for title in titles { library.context.book(title, pages: Int32(title.count)) }
            try library.context.save()
            child = library.context.newChild()
            grandchild = child.newChild()
            controller = try Self.controller(child, sections)
            lower = try Self.controller(grandchild, sections)
            controller.delegate = listener
            lower.delegate = lowerListener
            listener.begin(with: controller)
            lowerListener.begin(with: lower)
        }

        static func controller(
            _ context: NSManagedObjectContext, _ sections: String?
        ) throws -> NSFetchedResultsController<LibraryBook> {
            let request = NSFetchRequest<LibraryBook>(entityName: "Book")
            request.sortDescriptors = sections == nil ? byTitle : byPages
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections, cacheName: nil)
            try controller.performFetch()
            return controller
        }

        func book(_ title: String, in context: NSManagedObjectContext) throws -> LibraryBook {
            try #require(try context.books("title == %@", [title]).first)
        }

        /// Checks that what the calls amount to is what both controllers show.
        func check() {
            for (controller, listener) in [(controller, listener), (lower, lowerListener)] {
                #expect(listener.complaints == [])
                #expect(listener.sections == ResultsListener.sections(of: controller))
                for (index, book) in (controller.fetchedObjects ?? []).enumerated()
                where controller.sections?.count == 1 {
                    #expect(controller.object(at: IndexPath(item: index, section: 0)) === book)
                    #expect(controller.indexPath(forObject: book) == IndexPath(item: index, section: 0))
                    let context = controller.managedObjectContext
                    #expect(context.registeredObject(for: book.objectID) === book)
                    #expect(context.object(with: book.objectID) === book)
                }
            }
        }
    }

    private final class Snapshots: NSObject, NSFetchedResultsControllerDelegate {
        var all: [NSDiffableDataSourceSnapshot<String, NSManagedObjectID>] = []

        func controller(
            _ controller: NSFetchedResultsController<NSFetchRequestResult>,
            didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
        ) { all.append(snapshot as NSDiffableDataSourceSnapshot<String, NSManagedObjectID>) }
    }

    @Test("154, 265: Saving up tells each level once what it did not know", arguments: StoreKind.allCases)
    func savingUpTellsEachLevelOnce(kind: StoreKind) throws {
        let tree = try Tree(kind)
        // Each fetch would process what was changed before it.
        let (ash, cedar) = (try tree.book("Ash", in: tree.grandchild), try tree.book("Cedar", in: tree.grandchild))
        tree.grandchild.book("Birch")
        ash.rating = 2
        tree.grandchild.delete(cedar)
        tree.grandchild.processPendingChanges()
        let expected = ["insert Birch", "delete Cedar", "update Ash"]
        #expect(tree.lowerListener.summary.sorted() == expected.sorted())
        #expect(tree.listener.rounds == 0)
        try tree.grandchild.save()
        tree.child.processPendingChanges()
        #expect(tree.lowerListener.rounds == 1)
        #expect(tree.listener.rounds == 1)
        #expect(tree.listener.summary.sorted() == expected.sorted())
        tree.check()
        try tree.child.save()
        try tree.root.save()
        for context in [tree.child, tree.grandchild] {
            context.performAndWait {}
            context.processPendingChanges()
        }
        // New IDs are no change.
        #expect(tree.listener.rounds == 1)
        #expect(tree.lowerListener.rounds == 1)
        #expect(tree.lower.fetchedObjects?.map(\.title) == ["Ash", "Bay", "Birch"])
        #expect(tree.lower.fetchedObjects?.allSatisfy { !$0.objectID.isTemporaryID } == true)
        #expect(tree.controller.fetchedObjects?.map(\.objectID) == tree.lower.fetchedObjects?.map(\.objectID))
        tree.check()
    }

    @Test(arguments: StoreKind.allCases) func changesOfAnObjectWithANewIDAreTold(kind: StoreKind) throws {
        let tree = try Tree(kind)
        let birch = tree.grandchild.book("Birch")
        for context in [tree.grandchild, tree.child, tree.root] { try context.save() }
        tree.lowerListener.forgetCalls()
        birch.rating = 5
        tree.grandchild.processPendingChanges()
        #expect(tree.lowerListener.summary == ["update Birch"])
        birch.title = "Zebra"
        try tree.grandchild.save()
        tree.child.processPendingChanges()
        #expect(tree.lowerListener.summary == ["move Zebra"])
        #expect(tree.listener.summary == ["move Zebra"])
        tree.check()
        tree.grandchild.delete(birch)
        try tree.grandchild.save()
        tree.child.processPendingChanges()
        #expect(tree.lowerListener.summary.map { $0.prefix(6) } == ["delete"])
        #expect(tree.listener.summary.map { $0.prefix(6) } == ["delete"])
        tree.check()
    }

    @Test("270: The IDs of each snapshot lead to the objects in their places", arguments: StoreKind.allCases)
    func theIDsOfSnapshotsLeadToTheObjects(kind: StoreKind) throws {
        let tree = try Tree(kind)
        let delegate = Snapshots()
        tree.lower.delegate = delegate
        try tree.lower.performFetch()
        let birch = tree.grandchild.book("Birch")
        tree.grandchild.processPendingChanges()
        let first = try #require(delegate.all.last)
        #expect(first.itemIdentifiers == tree.lower.fetchedObjects?.map(\.objectID))
        for context in [tree.grandchild, tree.child, tree.root] { try context.save() }
        tree.grandchild.performAndWait {}
        #expect(!birch.objectID.isTemporaryID)
        // The first one's temporary ID still names the object.
        #expect(first.itemIdentifiers.map { tree.grandchild.object(with: $0) } == tree.lower.fetchedObjects)
        try tree.book("Ash", in: tree.grandchild).rating = 3
        tree.grandchild.processPendingChanges()
        let last = try #require(delegate.all.last)
        #expect(last.itemIdentifiers == tree.lower.fetchedObjects?.map(\.objectID))
        #expect(last.itemIdentifiers.allSatisfy { !$0.isTemporaryID })
        #expect(last.itemIdentifiers.map { tree.grandchild.object(with: $0) } == tree.lower.fetchedObjects)
        withExtendedLifetime(tree) {}
    }

    @Test("157: What a parent changes is told where it is merged automatically", arguments: StoreKind.allCases)
    func whatAParentChangesIsTold(kind: StoreKind) throws {
        let tree = try Tree(kind, sections: "pages")
        tree.child.automaticallyMergesChangesFromParent = true
        try tree.book("Ash", in: tree.root).pages = 9
        tree.root.delete(try tree.book("Bay", in: tree.root))
        tree.root.book("Oak", pages: 9)
        try tree.root.save()
        tree.child.performAndWait { tree.child.processPendingChanges() }
        #expect(tree.listener.sections.map(\.name) == ["5", "9"])
        #expect(
            tree.controller.sections?.map { ($0.objects ?? []).compactMap { ($0 as? LibraryBook)?.title } } == [
                ["Cedar"], ["Ash", "Oak"],
            ])
        // The grandchild takes nothing over by itself.
        #expect(tree.lowerListener.rounds == 0)
        try tree.lower.performFetch()
        tree.lowerListener.begin(with: tree.lower)
        tree.grandchild.refreshAllObjects()
        tree.grandchild.processPendingChanges()
        tree.check()
    }

    @Test("169: What another coordinator saves is told in each level that it is merged into")
    func whatAnotherCoordinatorSavesIsTold() throws {
        let tree = try Tree(.sqlite, sections: "pages")
        let other = try tree.library.newStackContext()
        let log = NotificationLog(NSManagedObjectContext.didSaveObjectIDsNotification, from: other)
        try tree.book("Ash", in: other).pages = 9
        other.delete(try tree.book("Bay", in: other))
        other.book("Oak", pages: 9)
        try other.save()
        let saved = try #require(log.all.last)
        var changes: [AnyHashable: Any] = [:]
        for key in [NSInsertedObjectIDsKey, NSUpdatedObjectIDsKey, NSDeletedObjectIDsKey] {
            changes[key] = saved.objectIDs(key).map { $0.uriRepresentation() }
        }
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: changes, into: [tree.root, tree.child, tree.grandchild])
        for (controller, listener) in [(tree.controller, tree.listener), (tree.lower, tree.lowerListener)] {
            controller.managedObjectContext.processPendingChanges()
            #expect(controller.sections?.map(\.name) == ["5", "9"])
            #expect(controller.fetchedObjects?.map(\.title) == ["Cedar", "Ash", "Oak"])
            #expect(listener.sections == ResultsListener.sections(of: controller))
        }
        #expect(!tree.grandchild.hasChanges)
        tree.check()
    }

    @Test func aRollbackIsToldInItsLevelOnly() throws {
        let tree = try Tree(.sqlite)
        try tree.book("Ash", in: tree.grandchild).title = "Zed"
        tree.grandchild.book("Birch")
        try tree.grandchild.save()
        tree.grandchild.delete(try tree.book("Bay", in: tree.grandchild))
        tree.grandchild.processPendingChanges()
        tree.grandchild.rollback()
        tree.grandchild.processPendingChanges()
        #expect(tree.lower.fetchedObjects?.map(\.title) == ["Bay", "Birch", "Cedar", "Zed"])
        tree.child.rollback()
        tree.child.processPendingChanges()
        #expect(tree.controller.fetchedObjects?.map(\.title) == ["Ash", "Bay", "Cedar"])
        tree.check()
    }

    @Test("273: A cached request shows what is unsaved above when it is fetched again")
    func aCachedRequestIsFetchedAnew() throws {
        let tree = try Tree(.sqlite)
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.sortDescriptors = byPages
        let controllers = [tree.child, tree.grandchild].map {
            NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: $0, sectionNameKeyPath: "pages",
                cacheName: "aCachedRequestIsFetchedAnew")
        }
        defer { NSFetchedResultsController<LibraryBook>.deleteCache(withName: "aCachedRequestIsFetchedAnew") }
        for controller in controllers { try controller.performFetch() }
        tree.root.book("Oak", pages: 3)
        for controller in controllers {
            try controller.performFetch()
            #expect(controller.sections?.map(\.name) == ["3", "5"])
            #expect(controller.fetchedObjects?.map(\.title) == ["Ash", "Bay", "Oak", "Cedar"])
        }
    }
}
