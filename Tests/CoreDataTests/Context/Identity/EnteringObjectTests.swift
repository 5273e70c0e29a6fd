import CoreData
import TestSupport
import Testing

/// Objects that enter a context otherwise than by being made there: made without one, or new when
/// they were deleted.
struct EnteringObjectTests {
    /// An author that belongs to no context.
    private func looseAuthor(_ name: String, _ library: Library) throws -> LibraryAuthor {
        let entity = try #require(library.coordinator.managedObjectModel.entitiesByName["Author"])
        let author = LibraryAuthor(entity: entity, insertInto: nil)
        author.name = name
        return author
    }

    /// Checks that an author was saved under a permanent ID, by whose URI another context finds it.
    private func expectSaved(_ author: LibraryAuthor, _ name: String, _ library: Library) throws {
        #expect(!author.isInserted)
        #expect(!author.objectID.isTemporaryID)
        let objectID = try #require(
            library.coordinator.managedObjectID(forURIRepresentation: author.objectID.uriRepresentation()))
        #expect(try library.newContext().existingObject(with: objectID).value(forKey: "name") as? String == name)
    }

    // MARK: - IDs that were asked for before

    @Test(
        "126: An object asked for its ID before it is inserted is found by it, and has a permanent one after the save",
        arguments: StoreKind.allCases)
    func anObjectIsFoundByTheIDThatItHadBefore(kind: StoreKind) throws {
        let library = try Library(kind)
        let ada = try looseAuthor("Ada", library)
        let temporary = ada.objectID
        #expect(temporary.isTemporaryID)
        library.context.insert(ada)
        #expect(ada.objectID == temporary)
        #expect(library.context.registeredObject(for: temporary) === ada)
        #expect(library.context.object(with: temporary) === ada)
        let log = NotificationLog(NSManagedObjectContext.didSaveObjectIDsNotification, from: library.context)
        try library.context.save()
        try expectSaved(ada, "Ada", library)
        #expect(log.all.first?.objectIDs(NSInsertedObjectIDsKey) == [ada.objectID])
        #expect(library.context.registeredObject(for: ada.objectID) === ada)
    }

    @Test("97: as has one that was deleted and is inserted again, of which the ID is known", arguments: [false, true])
    func anObjectThatComesBackHasAPermanentIDAfterTheSave(obtainsID: Bool) throws {
        let library = try Library()
        let ada = library.context.author("Ada")
        if obtainsID { try library.context.obtainPermanentIDs(for: [ada]) }
        let former = ada.objectID
        #expect(former.isTemporaryID != obtainsID)
        library.context.delete(ada)
        try library.context.save()
        #expect(library.context.registeredObject(for: former) == nil)
        library.context.insert(ada)
        #expect(ada.objectID == former)
        #expect(library.context.registeredObject(for: former) === ada)
        try library.context.save()
        try expectSaved(ada, "Ada", library)
        if obtainsID { #expect(ada.objectID == former) }
    }

    @Test("Temporary IDs are permanent after the save whatever others are asked for theirs")
    func eachTemporaryIDIsReplacedByItself() throws {
        let library = try Library()
        let authors = try ["Ada", "Ben", "Cora"].map { try looseAuthor($0, library) }
        #expect(Set(authors.map(\.objectID)).count == 3)
        for author in authors.reversed() { library.context.insert(author) }
        try library.context.save()
        #expect(Set(authors.map(\.objectID)).count == 3)
        for (author, name) in zip(authors, ["Ada", "Ben", "Cora"]) { try expectSaved(author, name, library) }
    }

    @Test(
        "A child saves objects that were asked for their IDs before they were inserted, each as itself",
        arguments: StoreKind.allCases)
    func aChildSavesEachObjectAsItself(kind: StoreKind) throws {
        let library = try Library(kind)
        let child = library.context.newChild()
        let authors = try ["Ada", "Ben"].map { try looseAuthor($0, library) }
        let temporary = authors.map(\.objectID)
        for author in authors { child.insert(author) }
        let book = child.book("Notes", by: authors[1])
        try child.save()
        #expect(library.context.insertedObjects.count == 3)
        #expect(try library.context.names() == ["Ada", "Ben"])
        #expect(
            temporary.map { (library.context.registeredObject(for: $0) as? LibraryAuthor)?.name } == ["Ada", "Ben"])
        #expect(temporary.map { child.registeredObject(for: $0) } == authors)
        #expect(book.author === authors[1])
        #expect(try library.context.books().first?.author?.name == "Ben")
        try library.context.save()
        child.performAndWait {}
        #expect(Set(authors.map(\.objectID)).count == 2)
        for (author, name) in zip(authors, ["Ada", "Ben"]) { try expectSaved(author, name, library) }
        #expect(try library.newContext().books().first?.author?.name == "Ben")
    }

    @Test("A sibling takes over what was saved to the parent under an ID that was asked for before")
    func aSiblingTakesOverWhatWasSavedToTheParent() throws {
        let library = try Library()
        let (child, sibling) = (library.context.newChild(), library.context.newChild())
        let stranger = library.newContext()
        let ada = try looseAuthor("Ada", library)
        let temporary = ada.objectID
        child.insert(ada)
        let changes = NotificationLog(.NSManagedObjectContextObjectsDidChange, from: sibling)
        let unrelated = NotificationLog(.NSManagedObjectContextObjectsDidChange, from: stranger)
        let saves = NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: child)
        try child.save()
        let save = try #require(saves.all.first)
        sibling.mergeChanges(fromContextDidSave: save)
        stranger.mergeChanges(fromContextDidSave: save)
        #expect(changes.all.first?.objects(NSInsertedObjectsKey).map { ($0 as? LibraryAuthor)?.name } == ["Ada"])
        // What is in no store is not there for those of other parents.
        #expect(unrelated.count == 0)
        #expect(sibling.registeredObject(for: temporary) === changes.all.first?.objects(NSInsertedObjectsKey).first)
    }

    // MARK: - From one context to another

    @Test("An object that has left one context may be inserted into another", arguments: [false, true], [false, true])
    func anObjectThatHasLeftOneContextMayBeInsertedIntoAnother(obtainsID: Bool, fromChild: Bool) throws {
        let library = try Library()
        let first = fromChild ? library.newContext().newChild() : library.newContext()
        let ada = first.author("Ada")
        if obtainsID { try first.obtainPermanentIDs(for: [ada]) }
        let former = ada.objectID
        first.rollback()
        #expect(ada.managedObjectContext == nil)
        library.context.insert(ada)
        #expect(library.context.registeredObject(for: ada.objectID) === ada)
        if obtainsID { #expect(ada.objectID == former) }
        try library.context.save()
        try expectSaved(ada, "Ada", library)
        if obtainsID { #expect(ada.objectID == former) }
        #expect(library.file.column("SELECT Z_PK > 0 FROM ZAUTHOR") == ["1"])
    }

    @Test("A permanent ID of a store that is gone does not keep an object from being saved in another one")
    func anObjectIsSavedThoughTheStoreOfItsIDIsGone() throws {
        let library = try Library()
        let ada = library.context.author("Ada")
        try library.context.obtainPermanentIDs(for: [ada])
        library.context.rollback()
        try library.coordinator.remove(library.store)
        library.context.performAndWait {}
        let url = library.folder.file("other.sqlite")
        let other = try library.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        library.context.insert(ada)
        try library.context.save()
        #expect(ada.objectID.persistentStore === other)
        #expect(SQLiteFile(url).column("SELECT ZNAME FROM ZAUTHOR") == ["Ada"])
    }

    @Test("137: An object whose context was reset cannot be inserted: its values are gone")
    func anObjectWhoseContextWasResetCannotBeInserted() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let library = try Library(.inMemory)
            let ada = library.context.author("Ada")
            library.context.reset()
            library.newContext().insert(ada)
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("its context was reset"), "\(message)")
    }

    // MARK: - Deleted and inserted again

    @Test(
        "97: A new object that is deleted and inserted again in one event is saved", arguments: [false, true],
        [false, true])
    func aNewObjectMayComeBackInTheSameEvent(isOfFormerEvent: Bool, obtainsID: Bool) throws {
        let library = try Library()
        let context = library.context
        let log = NotificationLog(.NSManagedObjectContextObjectsDidChange, from: context)
        let ada = context.author("Ada")
        let book = context.book("Notes", by: ada)
        if isOfFormerEvent { context.processPendingChanges() }
        if obtainsID { try context.obtainPermanentIDs(for: [ada]) }
        let former = ada.objectID
        log.clear()
        for _ in 0..<2 {
            context.delete(ada)
            #expect(context.insertedObjects == [book])
            context.insert(ada)
            #expect(context.insertedObjects == [ada, book])
        }
        #expect(ada.isInserted)
        #expect(!ada.isDeleted)
        context.processPendingChanges()
        #expect(log.count == 1)
        #expect(log.all.first?.objects(NSDeletedObjectsKey) == [])
        #expect(log.all.first?.objects(NSInsertedObjectsKey).contains(ada) == !isOfFormerEvent)
        #expect(ada.managedObjectContext === context)
        #expect(ada.objectID == former)
        #expect(context.registeredObject(for: former) === ada)
        #expect(book.author === ada)
        try context.save()
        try expectSaved(ada, "Ada", library)
        #expect(library.file.column("SELECT ZTITLE FROM ZBOOK WHERE ZAUTHOR = (SELECT Z_PK FROM ZAUTHOR)") == ["Notes"])
    }

    @Test("97: It may be deleted once more") func itMayBeDeletedOnceMore() throws {
        let library = try Library()
        let ada = library.context.author("Ada")
        let book = library.context.book("Notes", by: ada)
        library.context.delete(ada)
        library.context.insert(ada)
        library.context.delete(ada)
        try library.context.save()
        #expect(ada.managedObjectContext == nil)
        #expect(book.author == nil)
        #expect(library.file.value("SELECT count(*) FROM ZAUTHOR") == "0")
    }

    @Test("97: An observer of the event may insert it again") func anObserverOfTheEventMayInsertItAgain() throws {
        let library = try Library()
        let ada = library.context.author("Ada")
        library.context.processPendingChanges()
        let former = ada.objectID
        library.context.delete(ada)
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: library.context, queue: nil
        ) { notification in
            for object in notification.objects(NSDeletedObjectsKey) {
                (notification.object as? NSManagedObjectContext)?.insert(object)
            }
        }
        library.context.processPendingChanges()
        NotificationCenter.default.removeObserver(token)
        #expect(ada.objectID == former)
        #expect(library.context.insertedObjects == [ada])
        try library.context.save()
        try expectSaved(ada, "Ada", library)
    }

    @Test("140: What was inserted, deleted and inserted in one event is undone as one insertion")
    func deletionAndInsertionInOneEventAreUndoneAsOneInsertion() throws {
        let desk = try UndoDesk(.sqlite)
        try desk.begin()
        var author: LibraryAuthor?
        desk.group {
            let ada = desk.context.author("Ada")
            desk.context.delete(ada)
            desk.context.insert(ada)
            author = ada
        }
        let ada = try #require(author)
        desk.context.undo()
        #expect(!desk.context.hasChanges)
        desk.context.redo()
        #expect(desk.context.insertedObjects == [ada])
        try desk.save()
        try expectSaved(ada, "Ada", desk.library)
        #expect(desk.library.file.column("SELECT ZNAME FROM ZAUTHOR") == ["Ada"])
    }

    @Test(
        "An object whose deletion was saved may be inserted again, and is the same row", arguments: StoreKind.allCases)
    func anObjectWhoseDeletionWasSavedMayBeInsertedAgain(kind: StoreKind) throws {
        let library = try Library(kind)
        let ada = library.context.author("Ada", born: 1815)
        try library.context.save()
        let former = ada.objectID
        library.context.delete(ada)
        try library.context.save()
        #expect(try library.newContext().authors().isEmpty)
        library.context.insert(ada)
        #expect(ada.isInserted)
        #expect(ada.managedObjectContext === library.context)
        try library.context.save()
        #expect(ada.objectID == former)
        #expect(ada.born == 1815)
        try expectSaved(ada, "Ada", library)
        // It leaves again like any other, and keeps its identity.
        library.context.delete(ada)
        try library.context.save()
        library.context.insert(ada)
        library.context.rollback()
        #expect(ada.objectID == former)
    }
}
