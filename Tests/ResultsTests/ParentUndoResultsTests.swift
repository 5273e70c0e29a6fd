import CoreData
import TestSupport
import Testing

/// Fetched results controllers of a child, in sections by what a relationship leads to, while the
/// parent undoes, redoes and merges.
struct ParentUndoResultsTests {
    /// Saved books of two authors, a controller in a child, and an undo manager in the parent or in
    /// the child.
    private final class Catalogue {
        let library: Library
        let child: NSManagedObjectContext
        /// The context that has the undo manager.
        let context: NSManagedObjectContext
        let manager = UndoManager()
        let controller: NSFetchedResultsController<LibraryBook>
        let listener = ResultsListener()

        var root: NSManagedObjectContext { library.context }

        init(_ kind: StoreKind, managesChild: Bool = false) throws {
            library = try Library(kind)
            let writer = library.newContext()
            let (ada, zoe) = (writer.author("Ada"), writer.author("Zoe"))
            for (title, author) in [("Ash", ada), ("Bay", ada), ("Cedar", zoe), ("Date", ada)] {
                writer.book(title, by: author)
            }
            try writer.save()
            child = library.context.newChild()
            context = managesChild ? child : library.context
            controller = Self.controller(child)
            controller.delegate = listener
            try controller.performFetch()
            listener.begin(with: controller)
            manager.groupsByEvent = false
            context.undoManager = manager
        }

        private static func controller(_ context: NSManagedObjectContext) -> NSFetchedResultsController<LibraryBook> {
            let request = NSFetchRequest<LibraryBook>(entityName: "Book")
            request.sortDescriptors = ["author.name", "title"].map { NSSortDescriptor(key: $0, ascending: true) }
            return NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "author.name", cacheName: nil)
        }

        static func book(_ title: String, in context: NSManagedObjectContext) throws -> LibraryBook {
            try #require(try context.books("title == %@", [title]).first)
        }

        static func author(_ name: String, in context: NSManagedObjectContext) throws -> LibraryAuthor {
            try #require(try context.authors("name == %@", [name]).first)
        }

        func group(_ body: () throws -> Void) rethrows { try context.group(body) }

        func undoAll() { context.undoAll() }

        func redoAll() { context.redoAll() }

        /// Has another context of the store change something, and all levels merge it.
        func mergeFromElsewhere(_ change: (NSManagedObjectContext) throws -> Void) throws {
            let other = library.newContext()
            try change(other)
            let log = NotificationLog(NSManagedObjectContext.didSaveObjectIDsNotification, from: other)
            try other.save()
            let saved = try #require(log.all.last)
            var changes: [AnyHashable: Any] = [:]
            for key in [NSInsertedObjectIDsKey, NSUpdatedObjectIDsKey, NSDeletedObjectIDsKey] {
                changes[key] = saved.objectIDs(key)
            }
            group { NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [root, child]) }
        }

        private static func titles(of controller: NSFetchedResultsController<LibraryBook>) -> [String] {
            (controller.sections ?? []).map { section in
                let titles = (section.objects ?? []).compactMap { ($0 as? LibraryBook)?.title }
                return "\(section.name): \(titles.joined(separator: " "))"
            }
        }

        /// Expects that the controller shows, and has told, what one shows that fetches now.
        ///
        /// - Parameter showsStored: whether the child has nothing unsaved, so that a context of the
        ///   store shows the same.
        func check(_ step: String, showsStored: Bool = true, _ location: SourceLocation = #_sourceLocation) throws {
            child.performAndWait { child.processPendingChanges() }
            let fresh = Self.controller(child)
            try fresh.performFetch()
            let (shown, expected) = (Self.titles(of: controller), Self.titles(of: fresh))
            #expect(shown == expected, "\(step)", sourceLocation: location)
            #expect(controller.fetchedObjects == fresh.fetchedObjects, "\(step)", sourceLocation: location)
            #expect(listener.sections == ResultsListener.sections(of: controller), "\(step)", sourceLocation: location)
            #expect(listener.complaints == [], "\(step)", sourceLocation: location)
            if !showsStored { return }
            let stored = Self.controller(library.newContext())
            try stored.performFetch()
            #expect(shown == Self.titles(of: stored), "\(step), stored", sourceLocation: location)
        }
    }

    @Test(arguments: StoreKind.allCases) func sectionsFollowWhatTheParentUndoesAndSaves(kind: StoreKind) throws {
        let catalogue = try Catalogue(kind)
        let root = catalogue.root
        catalogue.child.automaticallyMergesChangesFromParent = true
        func save(_ step: String) throws {
            try root.save()
            try catalogue.check(step)
        }
        try catalogue.group {
            let (bob, bay) = (root.author("Bob"), try Catalogue.book("Bay", in: root))
            bay.author = bob
            root.book("Oak", by: bob)
            // The last one of its section.
            root.delete(try Catalogue.book("Cedar", in: root))
        }
        try save("changed")
        try catalogue.group { root.delete(try Catalogue.author("Ada", in: root)) }
        try save("an author is deleted")
        for round in 0..<2 {
            root.undo()
            try save("undone once \(round)")
            root.undo()
            try save("undone twice \(round)")
            root.redo()
            try save("redone once \(round)")
            root.redo()
            try save("redone twice \(round)")
        }
    }

    @Test(arguments: StoreKind.allCases) func sectionsFollowWhatTheParentMergesAndUndoes(kind: StoreKind) throws {
        let catalogue = try Catalogue(kind)
        let root = catalogue.root
        catalogue.child.automaticallyMergesChangesFromParent = true
        try catalogue.group { try Catalogue.book("Bay", in: root).author = try Catalogue.author("Zoe", in: root) }
        try root.save()
        try catalogue.check("moved")
        try catalogue.mergeFromElsewhere { other in
            try Catalogue.book("Ash", in: other).author = other.author("Max")
            other.delete(try Catalogue.book("Cedar", in: other))
            other.book("Elm", by: try Catalogue.author("Zoe", in: other))
        }
        try catalogue.check("merged")
        catalogue.undoAll()
        try root.save()
        try catalogue.check("undone")
        try catalogue.mergeFromElsewhere { other in other.delete(try Catalogue.author("Zoe", in: other)) }
        try catalogue.check("an author is deleted elsewhere")
        catalogue.redoAll()
        try root.save()
        try catalogue.check("redone")
    }

    @Test(arguments: StoreKind.allCases) func unsavedChangesOfTheChildKeepTheirSections(kind: StoreKind) throws {
        let catalogue = try Catalogue(kind)
        let (root, child) = (catalogue.root, catalogue.child)
        child.automaticallyMergesChangesFromParent = true
        try Catalogue.book("Date", in: child).author = child.author("Eve")
        try catalogue.check("unsaved", showsStored: false)
        try catalogue.group {
            try Catalogue.book("Ash", in: root).author = try Catalogue.author("Zoe", in: root)
            root.delete(try Catalogue.book("Bay", in: root))
        }
        try root.save()
        try catalogue.check("saved above", showsStored: false)
        root.undo()
        try root.save()
        try catalogue.check("undone above", showsStored: false)
        try catalogue.group { try child.save() }
        try root.save()
        try catalogue.check("saved up")
        root.undo()
        try root.save()
        try catalogue.check("the child's save is undone")
    }

    @Test(arguments: StoreKind.allCases) func sectionsFollowAChildThatUndoesBetweenMerges(kind: StoreKind) throws {
        let catalogue = try Catalogue(kind, managesChild: true)
        let child = catalogue.child
        try catalogue.group {
            try Catalogue.book("Ash", in: child).author = try Catalogue.author("Zoe", in: child)
            child.delete(try Catalogue.book("Date", in: child))
        }
        try catalogue.check("changed", showsStored: false)
        try catalogue.mergeFromElsewhere { other in
            try Catalogue.book("Bay", in: other).author = other.author("Max")
            try Catalogue.book("Date", in: other).pages = 7
        }
        try catalogue.check("merged", showsStored: false)
        catalogue.undoAll()
        try catalogue.check("undone")
        catalogue.redoAll()
        try catalogue.check("redone", showsStored: false)
        try child.save()
        try catalogue.root.save()
        try catalogue.check("saved")
        catalogue.undoAll()
        try catalogue.check("undone after the save", showsStored: false)
        try child.save()
        try catalogue.root.save()
        try catalogue.check("saved again")
    }

    /// A parent's unsaved changes post nothing to the child, which reads them with its next fetch.
    @Test(arguments: StoreKind.allCases) func aControllerThatFetchesAgainShowsWhatTheParentTookBack(kind: StoreKind)
        throws
    {
        let catalogue = try Catalogue(kind)
        let (root, child) = (catalogue.root, catalogue.child)
        let eve = child.author("Eve")
        try Catalogue.book("Cedar", in: child).author = eve
        child.book("Oak", by: eve)
        try catalogue.group { try child.save() }
        try catalogue.check("saved below", showsStored: false)
        for round in 0..<2 {
            for isUndone in [true, false] {
                if isUndone { root.undo() } else { root.redo() }
                child.refreshAllObjects()
                try catalogue.controller.performFetch()
                catalogue.listener.begin(with: catalogue.controller)
                try catalogue.check("\(isUndone ? "undone" : "redone") \(round)", showsStored: isUndone)
            }
        }
        try root.save()
        try catalogue.check("saved")
    }
}
