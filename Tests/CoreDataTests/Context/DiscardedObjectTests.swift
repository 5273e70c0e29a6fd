import CoreData
import TestSupport
import Testing

/// New objects that are deleted before they were ever saved.
struct DiscardedObjectTests {
    /// Events between the insertion of an object and its deletion.
    enum Meanwhile: CaseIterable {
        case nothing, processing, fetch, permanentID
    }

    /// Events between its deletion and the save.
    enum Afterwards: CaseIterable {
        case nothing, processing, fetch
    }

    struct Place: CustomStringConvertible, Sendable {
        let kind: StoreKind
        let isChild: Bool
        var description: String { "\(kind)\(isChild ? ", child" : "")" }
    }

    static let places = StoreKind.allCases.flatMap { kind in [false, true].map { Place(kind: kind, isChild: $0) } }

    /// A context and what is above it, with a saved book.
    private final class Desk {
        let library: Library
        let context: NSManagedObjectContext
        let book: LibraryBook

        init(_ place: Place = Place(kind: .sqlite, isChild: false)) throws {
            library = try Library(place.kind, uniqueNames: !place.isChild)
            if place.isChild {
                context = library.context.newChild()
            } else {
                context = library.context
            }
            library.context.author("taken")
            try library.context.save()
            book = context.book("Notes")
            try save()
        }

        func save() throws {
            try context.save()
            if context !== library.context { try library.context.save() }
        }

        func pass(_ meanwhile: Meanwhile, _ author: LibraryAuthor) throws {
            switch meanwhile {
            case .nothing: break
            case .processing: context.processPendingChanges()
            case .fetch: #expect(try context.names() == ["Ada", "taken"])
            case .permanentID: try context.obtainPermanentIDs(for: [author])
            }
        }

        func pass(_ afterwards: Afterwards) throws {
            switch afterwards {
            case .nothing: break
            case .processing: context.processPendingChanges()
            case .fetch: #expect(try context.names() == ["taken"])
            }
        }

        func expectPending(_ author: LibraryAuthor) {
            #expect(author.isDeleted)
            #expect(!author.isInserted)
            #expect(!author.isUpdated)
            #expect(author.hasChanges)
            #expect(author.managedObjectContext === context)
            #expect(context.hasChanges)
            #expect(context.deletedObjects == [author])
            #expect(context.insertedObjects.isEmpty)
            #expect(context.updatedObjects.isEmpty)
            #expect(context.registeredObjects.contains(author))
        }

        func expectGone(_ author: LibraryAuthor) {
            #expect(!author.isDeleted)
            #expect(!author.isInserted)
            #expect(!author.hasChanges)
            #expect(author.managedObjectContext == nil)
            #expect(!context.hasChanges)
            #expect(context.deletedObjects.isEmpty)
            #expect(context.insertedObjects.isEmpty)
            #expect(!context.registeredObjects.contains(author))
        }
    }

    // MARK: - Until the save

    @Test(
        "97: it is among the deleted objects until the save, which writes nothing of it", arguments: places,
        Meanwhile.allCases)
    func itIsPendingUntilTheSave(place: Place, meanwhile: Meanwhile) throws {
        for afterwards in Afterwards.allCases {
            let desk = try Desk(place)
            let author = desk.context.author("Ada")
            try desk.pass(meanwhile, author)
            desk.context.delete(author)
            desk.expectPending(author)
            try desk.pass(afterwards)
            desk.expectPending(author)
            desk.context.delete(author)
            desk.expectPending(author)
            #expect(try desk.context.names() == ["taken"])
            #expect(try desk.context.count(for: NSFetchRequest<LibraryAuthor>(entityName: "Author")) == 1)
            let saves = NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: desk.context)
            try desk.context.save()
            desk.expectGone(author)
            #expect(saves.count == 1)
            for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] {
                #expect(saves.all.first?.objects(key) == [])
            }
            #expect(!desk.library.context.hasChanges)
            #expect(try desk.library.newContext().names() == ["taken"])
        }
    }

    @Test("97: an object that a save has refused may be deleted") func aRefusedObjectMayBeDeleted() throws {
        let desk = try Desk()
        let refused = desk.context.author("taken")
        for _ in 0..<2 { #expect(errorThrown { try desk.context.save() } != nil) }
        desk.context.delete(refused)
        desk.context.processPendingChanges()
        desk.expectPending(refused)
        #expect(refused.objectID.isTemporaryID)
        try desk.context.save()
        desk.expectGone(refused)
    }

    @Test("97: a save that fails leaves it among the deleted objects") func aFailedSaveLeavesItPending() throws {
        let desk = try Desk()
        let (author, twin) = (desk.context.author("Ada"), desk.context.author("taken"))
        desk.context.delete(author)
        #expect(errorThrown { try desk.context.save() } != nil)
        #expect(desk.context.deletedObjects == [author])
        #expect(author.isDeleted)
        #expect(author.managedObjectContext === desk.context)
        twin.name = "free"
        try desk.context.save()
        desk.expectGone(author)
        #expect(try desk.library.newContext().names() == ["free", "taken"])
    }

    @Test("97, 136, 137: a rollback ends it, and so does a reset", arguments: places, [false, true])
    func aRollbackAndAResetEndIt(place: Place, processes: Bool) throws {
        for resets in [false, true] {
            let desk = try Desk(place)
            let author = desk.context.author("Ada")
            desk.context.processPendingChanges()
            desk.context.delete(author)
            if processes { desk.context.processPendingChanges() }
            if resets { desk.context.reset() } else { desk.context.rollback() }
            #expect(author.managedObjectContext == nil)
            #expect(!author.isDeleted)
            #expect(!desk.context.hasChanges)
            #expect(desk.context.deletedObjects.isEmpty)
            try desk.save()
            #expect(try desk.library.newContext().names() == ["taken"])
        }
    }

    @Test("97, 130: it is told as deleted once, whatever becomes of it then") func itIsToldOnce() throws {
        let desk = try Desk()
        let log = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: desk.context)
        let author = desk.context.author("Ada")
        desk.context.processPendingChanges()
        desk.context.delete(author)
        desk.context.processPendingChanges()
        #expect(log.all.map { $0.objects(NSDeletedObjectsKey) } == [[], [author]])
        author.born = 1815
        desk.context.processPendingChanges()
        try desk.context.save()
        #expect(log.count == 2)
        desk.expectGone(author)
    }

    @Test("91, 97: delete rules that wait for the save are applied then") func waitingDeleteRulesAreApplied() throws {
        let desk = try Desk()
        desk.context.propagatesDeletesAtEndOfEvent = false
        let author = desk.context.author("Ada")
        desk.book.author = author
        desk.context.processPendingChanges()
        desk.context.delete(author)
        desk.context.processPendingChanges()
        #expect(desk.context.deletedObjects == [author])
        try desk.context.save()
        #expect(desk.book.author == nil)
        desk.expectGone(author)
    }

    @Test("97: a context that has nothing else may get another parent") func aContextThatHasNothingElseMayGetAParent()
        throws
    {
        let library = try Library()
        let (child, other) = (
            NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType), library.newContext()
        )
        child.parent = library.context
        child.performAndWait {
            child.delete(child.author("new"))
            child.processPendingChanges()
            child.parent = other
        }
        #expect(child.parent === other)
    }

    @Test(
        "97: what is led to it afterwards is refused with its reason", arguments: places,
        [Afterwards.processing, .fetch])
    func whatLeadsToItIsRefused(place: Place, afterwards: Afterwards) throws {
        let desk = try Desk(place)
        try desk.context.performAndWait {
            let author = desk.context.author("new")
            desk.context.delete(author)
            if afterwards == .processing { desk.context.processPendingChanges() }
            if afterwards == .fetch { _ = try desk.context.names() }
            desk.book.author = author
            let error = errorThrown { try desk.context.save() } as NSError?
            #expect(error?.code == NSManagedObjectValidationError)
            #expect(error?.localizedDescription.contains("Book.author") == true)
            #expect(error?.localizedDescription.contains("to be deleted") == true, "\(error as Any)")
            desk.context.insert(author)
            try desk.context.save()
            #expect(desk.book.author === author)
        }
    }

    @Test("A save request ends those that it names") func aSaveRequestEndsThoseThatItNames() throws {
        let desk = try Desk()
        let (first, second) = (desk.context.author("Ada"), desk.context.author("Ben"))
        desk.context.delete(first)
        desk.context.delete(second)
        let request = NSSaveChangesRequest(inserted: nil, updated: nil, deleted: [first], locked: nil)
        _ = try desk.library.coordinator.execute(request, with: desk.context)
        #expect(first.managedObjectContext == nil)
        desk.expectPending(second)
        try desk.context.save()
        desk.expectGone(second)
    }

    @MainActor @Test("97: a context of the main queue keeps it through its events") func aContextOfTheMainQueueKeepsIt()
        throws
    {
        let library = try Library()
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = library.coordinator
        let author = context.author("Ada")
        context.performAndWait {}
        context.processPendingChanges()
        context.delete(author)
        context.performAndWait {}
        context.processPendingChanges()
        #expect(author.isDeleted)
        #expect(context.deletedObjects == [author])
        #expect(context.hasChanges)
        try context.save()
        #expect(author.managedObjectContext == nil)
        #expect(!context.hasChanges)
    }

    // MARK: - Inserted again

    @Test("97: it may be inserted again, which is told as an insertion", arguments: places, Meanwhile.allCases)
    func itMayBeInsertedAgain(place: Place, meanwhile: Meanwhile) throws {
        let desk = try Desk(place)
        let author = desk.context.author("Ada")
        try desk.pass(meanwhile, author)
        let objectID = author.objectID
        let log = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: desk.context)
        for _ in 0..<2 {
            desk.context.delete(author)
            desk.context.processPendingChanges()
            log.clear()
            desk.context.insert(author)
            desk.context.processPendingChanges()
            #expect(log.all.map { $0.objects(NSInsertedObjectsKey) } == [[author]])
            #expect(desk.context.insertedObjects == [author])
            #expect(desk.context.deletedObjects.isEmpty)
            #expect(author.isInserted)
            #expect(!author.isDeleted)
            #expect(author.objectID == objectID)
        }
        try desk.save()
        #expect(try desk.library.newContext().names() == ["Ada", "taken"])
        #expect(!desk.context.hasChanges)
    }

    @Test("97, 140: its deletion is undone and done again", arguments: places, [false, true])
    func itsDeletionIsUndoneAndDoneAgain(place: Place, savesMeanwhile: Bool) throws {
        let desk = try UndoDesk(place.kind, isChild: place.isChild)
        let context = desk.context
        let book = context.book("Notes")
        try desk.begin()
        var made: LibraryAuthor?
        desk.group { made = context.author("Ada", born: 1815) }
        let author = try #require(made)
        desk.group { book.author = author }
        desk.group { context.delete(author) }
        #expect(context.deletedObjects == [author])
        #expect(book.author == nil)
        if savesMeanwhile {
            try desk.save()
            #expect(author.managedObjectContext == nil)
            #expect(!context.hasChanges)
        }
        context.undo()
        #expect(context.insertedObjects.contains(author))
        #expect(context.deletedObjects.isEmpty)
        #expect(book.author === author)
        #expect(author.born == 1815)
        context.redo()
        #expect(author.isDeleted)
        #expect(context.deletedObjects == [author])
        #expect(context.hasChanges)
        context.undo()
        #expect(context.insertedObjects.contains(author))
        #expect(context.deletedObjects.isEmpty)
        try desk.save()
        #expect(try desk.library.newContext().names() == ["Ada"])
        #expect(book.author === author)
    }

    @Test("97, 140: of an insertion that is undone nothing is left to save", arguments: places)
    func ofAnUndoneInsertionNothingIsLeft(place: Place) throws {
        let desk = try UndoDesk(place.kind, isChild: place.isChild)
        try desk.begin()
        var made: LibraryAuthor?
        desk.group { made = desk.context.author("Ada") }
        let author = try #require(made)
        desk.group { desk.context.delete(author) }
        desk.context.undo()
        desk.context.undo()
        #expect(author.managedObjectContext == nil)
        #expect(!desk.context.hasChanges)
        desk.context.redo()
        #expect(desk.context.insertedObjects == [author])
    }

    // MARK: - Parents

    @Test(
        "97, 154: a parent has what its child has saved and deleted since", arguments: StoreKind.allCases,
        [false, true])
    func aParentKeepsWhatItsChildHasDeleted(kind: StoreKind, comesBack: Bool) throws {
        let desk = try Desk(Place(kind: kind, isChild: true))
        let (parent, child) = (desk.library.context, desk.context)
        let author = child.author("Ada")
        try child.save()
        let above = try #require(parent.insertedObjects.first as? LibraryAuthor)
        child.delete(author)
        try child.save()
        #expect(!child.hasChanges)
        #expect(above.isDeleted)
        #expect(parent.deletedObjects == [above])
        #expect(parent.insertedObjects.isEmpty)
        #expect(try child.names() == ["taken"])
        if comesBack {
            child.insert(author)
            try child.save()
            #expect(parent.insertedObjects.count == 1)
            #expect(parent.deletedObjects.isEmpty)
        }
        try parent.save()
        #expect(!parent.hasChanges)
        #expect(try desk.library.newContext().names() == (comesBack ? ["Ada", "taken"] : ["taken"]))
    }

    @Test("154: what comes back to a parent comes to the store that it was assigned to")
    func whatComesBackKeepsItsStore() throws {
        let library = try Library()
        let url = library.folder.file("second.sqlite")
        let second = try library.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let child = library.context.newChild()
        let author = child.author("Ada")
        child.assign(author, to: second)
        try child.save()
        child.delete(author)
        try child.save()
        child.insert(author)
        try child.save()
        try library.context.save()
        #expect(SQLiteFile(url).column("SELECT ZNAME FROM ZAUTHOR") == ["Ada"])
        #expect(library.file.value("SELECT count(*) FROM ZAUTHOR") == "0")
    }
}
