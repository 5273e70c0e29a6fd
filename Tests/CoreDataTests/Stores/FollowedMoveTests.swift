import CoreData
import TestSupport
import Testing

/// Objects of contexts whose store moves elsewhere ("Save As"): they follow their rows, with what
/// is unsaved.
struct FollowedMoveTests {
    /// Has a controller follow its context.
    private final class Follower: NSObject, NSFetchedResultsControllerDelegate {
        var count = 0
        func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
            count += 1
        }
    }

    /// A store of shelves and books, and where it moves.
    private final class Move: @unchecked Sendable {
        // Sendable: threads use it one after the other.

        let coordinator: NSPersistentStoreCoordinator
        let target: MigratedStore
        let model: NSManagedObjectModel
        private let source: MigratedStore
        private var contexts: [NSManagedObjectContext] = []

        init(from: StoreKind = .sqlite, to: StoreKind = .sqlite) throws {
            let book = entity("Book", text("title"), NSAttributeDescription("tags", .transformableAttributeType))
            book.properties += [NSAttributeDescription("pages", .integer64AttributeType)]
            let novel = entity("Novel", text("genre"))
            book.subentities = [novel]
            let shelf = entity("Shelf", text("name"))
            relate(shelf, "books", toMany: true, book, inverse: "shelf")
            relate(shelf, "favourites", toMany: true, ordered: true, book, inverse: "admirers", inverseToMany: true)
            model = NSManagedObjectModel([shelf, book, novel])
            (source, target) = (try MigratedStore(from), try MigratedStore(to))
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(ofType: from.type, configurationName: nil, at: source.url, options: nil)
            let context = newContext()
            // Their keys are free again: rows have others where they move.
            var gone = (0..<3).map { number in context.insert("Book", ["title": "gone \(number)"]) }
            gone.append(context.insert("Shelf", ["name": "gone"]))
            try context.save()
            for object in gone { context.delete(object) }
            try context.save()
            let books = (0..<4).map { (number: Int) in
                context.insert("Book", ["title": "book \(number)", "pages": number])
            }
            let novel0 = context.insert("Novel", ["title": "novel", "genre": "crime"])
            for number in 0..<2 {
                let shelf = context.insert("Shelf", ["name": "shelf \(number)"])
                shelf.setValue(Set([books[number], books[number + 2]]), forKey: "books")
                shelf.setValue(NSOrderedSet(array: [novel0, books[3], books[0]]), forKey: "favourites")
            }
            try context.save()
        }

        func newContext(_ type: NSManagedObjectContextConcurrencyType = .privateQueueConcurrencyType)
            -> NSManagedObjectContext
        {
            let context = NSManagedObjectContext(concurrencyType: type)
            context.persistentStoreCoordinator = coordinator
            contexts.append(context)
            return context
        }

        @discardableResult
        func run() throws -> NSPersistentStore {
            try coordinator.migratePersistentStore(
                coordinator.persistentStores[0], to: target.url, options: nil, withType: target.kind.type)
        }

        func found() throws -> [String] { try FollowedMoveTests.found(in: newContext()) }
    }

    /// Everything in the store of a context, in words.
    private static func found(in context: NSManagedObjectContext) throws -> [String] {
        try context.objects("Shelf", by: "name").map { shelf in
            let books = (shelf.value(forKey: "books") as? Set<NSManagedObject> ?? []).map {
                "\($0.value(forKey: "title") ?? "nil")"
            }
            let favourites = (shelf.value(forKey: "favourites") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
            return
                "\(shelf.value(forKey: "name") ?? "nil"): \(books.sorted()), "
                + "\(favourites.map { $0.value(forKey: "title") as? String ?? "" })"
        }
            + context.objects("Book", by: "title").map { book in
                let shelf = book.value(forKey: "shelf") as? NSManagedObject
                return
                    "\(book.value(forKey: "title") ?? "nil") \(book.value(forKey: "pages") ?? "nil") on "
                    + "\(shelf?.value(forKey: "name") ?? "nil")"
            }
    }

    @Test(arguments: StoreKind.allCases, StoreKind.allCases)
    func objectsKeepTheirValuesAndFollowTheirRows(from: StoreKind, to: StoreKind) throws {
        let move = try Move(from: from, to: to)
        let context = move.newContext()
        try context.performAndWait {
            let objects = Set(try context.objects("Shelf", by: "name") + context.objects("Book", by: "title"))
            let before = try Self.found(in: context)
            let store = try move.run()
            #expect(!context.hasChanges)
            for object in objects { #expect(object.objectID.persistentStore === store) }
            #expect(try Self.found(in: context) == before)
            #expect(try context.objects("Book", by: "title").allSatisfy(objects.contains))
            #expect(context.registeredObjects == objects)
            #expect(try move.found() == before)
        }
    }

    @Test(arguments: StoreKind.allCases, StoreKind.allCases)
    func unsavedChangesAreSavedWhereTheRowsWent(from: StoreKind, to: StoreKind) throws {
        let move = try Move(from: from, to: to)
        let context = move.newContext()
        try context.performAndWait {
            let shelves = try context.objects("Shelf", by: "name"), books = try context.objects("Book", by: "title")
            books[0].setValue("changed", forKey: "title")
            books[1].setValue(shelves[0], forKey: "shelf")
            books[2].setValue(nil, forKey: "shelf")
            context.delete(books[3])
            let new = context.insert("Novel", ["title": "new", "shelf": shelves[1]])
            let certain = context.insert("Book", ["title": "certain"])
            try context.obtainPermanentIDs(for: [certain])
            shelves[1].mutableOrderedSetValue(forKey: "favourites").insert(new, at: 0)
            context.processPendingChanges()
            let expected = try Self.found(in: context)
            let store = try move.run()
            #expect(context.hasChanges)
            #expect(certain.objectID.persistentStore === store)
            #expect(!certain.objectID.isTemporaryID)
            #expect(try Self.found(in: context) == expected)
            try context.save()
            #expect(try move.found() == expected)
            #expect(try Self.found(in: context) == expected)
            #expect(try context.existingObject(with: certain.objectID) === certain)
            // The store is as sound as any that a program opens later.
            if to != .inMemory {
                try move.coordinator.remove(store)
                #expect(try move.target.open(move.model) { try Self.found(in: $0) } == expected)
            }
        }
    }

    @Test(arguments: [NSManagedObjectContextConcurrencyType.mainQueueConcurrencyType, .privateQueueConcurrencyType])
    @MainActor
    func childrenFollowTheirParents(type: NSManagedObjectContextConcurrencyType) throws {
        let move = try Move()
        let parent = move.newContext(type)
        let child = parent.newChild()
        let (books, expected) = try child.performAndWait {
            let shelves = try child.objects("Shelf", by: "name"), books = try child.objects("Book", by: "title")
            // One that the parent has, and no store.
            let half = child.insert("Book", ["title": "half", "shelf": shelves[0]])
            try child.save()
            half.setValue("half done", forKey: "title")
            books[0].setValue("changed", forKey: "title")
            child.insert("Book", ["title": "new", "shelf": half.value(forKey: "shelf") as Any])
            child.delete(books[1])
            child.processPendingChanges()
            return (books, try Self.found(in: child))
        }
        let store = try move.run()
        try child.performAndWait {
            let followed = try Self.found(in: child)
            #expect(followed == expected)
            #expect(books[0].objectID.persistentStore === store)
            try child.save()
        }
        try parent.performAndWait { try parent.save() }
        #expect(try move.found() == expected)
        try child.performAndWait {
            #expect(try Self.found(in: child) == expected)
            books[0].setValue("again", forKey: "title")
            try child.save()
        }
        try parent.performAndWait { try parent.save() }
        #expect(try move.found().contains { $0.hasPrefix("again") })
    }

    @Test func aContextInTheMiddleOfABlockFollowsAtItsNextRequest() throws {
        let move = try Move()
        let context = move.newContext()
        try context.performAndWait {
            let books = try context.objects("Book", by: "title")
            books[0].setValue("changed", forKey: "title")
            context.refresh(books[1], mergeChanges: false)
            let thread = Thread {
                _ = try? move.run()
                finished.signal()
            }
            thread.start()
            finished.wait()
            #expect(books[1].value(forKey: "title") as? String == "book 1")
            #expect(books[0].value(forKey: "title") as? String == "changed")
            try context.save()
        }
        #expect(try move.found().contains { $0.hasPrefix("changed") })
    }
    private let finished = DispatchSemaphore(value: 0)

    @Test func changesThatWereMadeBeforeTheMoveCanBeUndone() throws {
        let move = try Move()
        let context = move.newContext()
        try context.performAndWait {
            context.undoManager = UndoManager()
            context.undoManager?.groupsByEvent = false
            let expected = try Self.found(in: context)
            let books = try context.objects("Book", by: "title"), shelves = try context.objects("Shelf", by: "name")
            context.undoManager?.beginUndoGrouping()
            books[0].setValue(shelves[1], forKey: "shelf")
            books[1].setValue("changed", forKey: "title")
            context.delete(books[2])
            context.processPendingChanges()
            context.undoManager?.endUndoGrouping()
            try move.run()
            try context.save()
            context.undo()
            try context.save()
            #expect(try move.found() == expected)
        }
    }

    @Test func whatOthersHaveSavedBeforeTheMoveIsTakenOver() throws {
        let move = try Move()
        let context = move.newContext()
        try context.performAndWait {
            let other = move.newContext()
            let books = try context.objects("Book", by: "title")
            books[0].setValue(100, forKey: "pages")
            let others = try other.objects("Book", by: "title")
            for book in others.prefix(2) { book.setValue("by another", forKey: "title") }
            other.delete(others[2])
            try other.save()
            try move.run()
            #expect(books[0].value(forKey: "title") as? String == "by another")
            #expect(books[1].value(forKey: "title") as? String == "by another")
            // Of a row that was gone already nothing is left.
            #expect(books[2].value(forKey: "title") == nil)
            try context.save()
            #expect(try move.found().filter { $0.hasPrefix("by another 100") }.count == 1)
        }
    }

    @Test func aPinnedContextReadsTheNewStore() throws {
        let move = try Move()
        let context = move.newContext()
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            let before = try Self.found(in: context)
            try move.run()
            #expect(try Self.found(in: context) == before)
        }
    }

    @Test func aResultsControllerGoesOn() throws {
        let move = try Move()
        let context = move.newContext()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let delegate = Follower()
            controller.delegate = delegate
            try controller.performFetch()
            let titles = { (controller.fetchedObjects ?? []).map { $0.value(forKey: "title") as? String ?? "nil" } }
            let before = titles()
            try move.run()
            #expect(titles() == before)
            controller.fetchedObjects?.first?.setValue("z", forKey: "title")
            context.insert("Book", ["title": "a"])
            context.processPendingChanges()
            #expect(titles() == (["a"] + before.dropFirst() + ["z"]).sorted())
            #expect(delegate.count == 1)
        }
    }
}
