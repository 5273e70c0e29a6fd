import CoreData
import TestSupport
import Testing

/// The IDs and stores of new objects after a save that failed, and what becomes of assignments to
/// stores.
struct PlaceAfterFailureTests {
    /// A library whose store has an author named Ada, and another new one of that name, whose save
    /// has failed.
    private func refusedAuthor(_ kind: StoreKind, asksFirst: Bool = false) throws -> (
        library: Library, author: LibraryAuthor
    ) {
        let library = try Library(kind, uniqueNames: true)
        library.context.author("Ada")
        try library.context.save()
        let author = library.context.author("Ada")
        if asksFirst { #expect(author.objectID.isTemporaryID) }
        let error = errorThrown { try library.context.save() }
        #expect(error?.code == NSManagedObjectConstraintMergeError)
        return (library, author)
    }

    // MARK: - Identity

    @Test(
        "47, 97: A new object that leaves the context after a failed save has a temporary ID",
        arguments: StoreKind.allCases, [false, true])
    func anObjectThatLeavesAfterAFailedSaveHasATemporaryID(kind: StoreKind, asksFirst: Bool) throws {
        for deletes in [false, true] {
            let (library, author) = try refusedAuthor(kind, asksFirst: asksFirst)
            let former = asksFirst ? author.objectID : nil
            if deletes { library.context.delete(author) } else { library.context.rollback() }
            library.context.processPendingChanges()
            if deletes {
                #expect(author.objectID.isTemporaryID)
                try library.context.save()
            }
            #expect(author.managedObjectContext == nil)
            #expect(author.objectID.isTemporaryID)
            if let former { #expect(author.objectID == former) }
            #expect(author.objectID == author.objectID)
        }
    }

    @Test("Observers of a rollback see temporary IDs of the objects that leave")
    func observersOfARollbackSeeTemporaryIDs() throws {
        final class Seen: @unchecked Sendable {
            // Sendable: the notification is posted on the thread that rolls back.
            var areTemporary: [Bool] = []
        }
        let (library, author) = try refusedAuthor(.sqlite)
        let seen = Seen()
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: library.context, queue: nil
        ) { seen.areTemporary += $0.objects(NSDeletedObjectsKey).map(\.objectID.isTemporaryID) }
        library.context.rollback()
        NotificationCenter.default.removeObserver(token)
        #expect(seen.areTemporary == [true])
        #expect(author.managedObjectContext == nil)
    }

    @Test("An object that left after a failed save may be inserted into any context", arguments: [false, true])
    func anObjectThatLeftAfterAFailedSaveMayBeInsertedElsewhere(intoChild: Bool) throws {
        let (library, author) = try refusedAuthor(.sqlite)
        library.context.rollback()
        author.name = "Ada II"
        let context =
            intoChild ? NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType) : library.newContext()
        if intoChild { context.parent = library.context }
        context.insert(author)
        try context.save()
        if intoChild { try library.context.save() }
        context.performAndWait {}
        #expect(!author.objectID.isTemporaryID)
        #expect(try library.newContext().names() == ["Ada", "Ada II"])
    }

    @Test("A revived object that is deleted again keeps its ID", arguments: [false, true])
    func aRevivedObjectThatIsDeletedAgainKeepsItsID(isChild: Bool) throws {
        let desk = try UndoDesk(.sqlite, isChild: isChild)
        let ada = desk.context.author("Ada")
        try desk.begin()
        // A child has heard of the key by its next block.
        desk.context.performAndWait {}
        let former = ada.objectID
        desk.group { desk.context.delete(ada) }
        try desk.context.save()
        desk.context.undo()
        #expect(ada.isInserted)
        desk.context.redo()
        #expect(ada.objectID == former)
        desk.context.undo()
        #expect(ada.objectID == former)
        try desk.save()
        #expect(ada.objectID == former)
        #expect(desk.library.file.column("SELECT ZNAME FROM ZAUTHOR") == ["Ada"])
    }

    // MARK: - Places

    private func addStore(_ name: String, to library: Library) throws -> NSPersistentStore {
        try library.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: library.folder.file("\(name).sqlite"))
    }

    private func names(_ name: String, _ library: Library) -> [String?] {
        SQLiteFile(library.folder.file("\(name).sqlite")).column("SELECT ZNAME FROM ZAUTHOR ORDER BY ZNAME")
    }

    @Test("98, 129: An object may be assigned to another store after a failed save", arguments: [false, true])
    func anObjectMayBeAssignedAfterAFailedSave(inTree: Bool) throws {
        let library = try Library()
        let second = try addStore("second", to: library)
        let context = inTree ? NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType) : library.context
        if inTree { context.parent = library.context }
        let ada = context.author("Ada")
        context.assign(ada, to: second)
        let book = context.book("Notes", by: ada)
        #expect(errorThrown { try context.save() }?.code == NSManagedObjectExternalRelationshipError)
        context.assign(book, to: second)
        try context.save()
        if inTree { try library.context.save() }
        context.performAndWait {}
        #expect(book.objectID.persistentStore === second)
        #expect(names("second", library) == ["Ada"])
        #expect(library.file.value("SELECT count(*) FROM ZBOOK") == "0")
    }

    @Test(
        "Where a store refused new objects and was removed, they are saved in the next one", arguments: [false, true])
    func newObjectsAreSavedInTheNextStore(inTree: Bool) throws {
        let library = try Library(uniqueNames: true)
        library.context.author("Ada")
        try library.context.save()
        // With two stores a child's save says for which of them its objects are.
        if inTree { _ = try addStore("second", to: library) }
        let context = inTree ? NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType) : library.context
        if inTree { context.parent = library.context }
        let twin = context.author("Ada")
        if inTree { try context.save() }
        #expect(errorThrown { try library.context.save() }?.code == NSManagedObjectConstraintMergeError)
        try library.coordinator.remove(library.store)
        library.context.performAndWait {}
        if !inTree { _ = try addStore("second", to: library) }
        try library.context.save()
        #expect(names("second", library) == ["Ada"])
        if !inTree {
            #expect(twin.name == "Ada")
            #expect(twin.objectID.persistentStore === library.coordinator.persistentStores.first)
        }
    }

    @Test("129: An object with a permanent ID cannot be assigned to another store")
    func anObjectWithAPermanentIDCannotBeAssigned() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let library = try Library(.inMemory)
            let second = try library.coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
            let ada = library.context.author("Ada")
            try library.context.obtainPermanentIDs(for: [ada])
            library.context.assign(ada, to: library.store)
            library.context.assign(ada, to: second)
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("has a permanent ID and cannot be assigned to another store"), "\(message)")
    }

    // MARK: - Assignments

    @Test(
        "129: A reset forgets assignments, whatever is made at the addresses of the objects", arguments: [false, true])
    func aResetForgetsAssignments(inTree: Bool) throws {
        let library = try Library()
        let second = try addStore("second", to: library)
        let context = inTree ? NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType) : library.context
        if inTree { context.parent = library.context }
        for number in 0..<200 { context.assign(context.author("\(number)"), to: second) }
        if inTree { try context.save() }
        context.reset()
        library.context.reset()
        for number in 0..<200 { library.context.author("\(number)") }
        try library.context.save()
        #expect(names("second", library) == [])
        #expect(library.file.value("SELECT count(*) FROM ZAUTHOR") == "200")
    }

    @Test("129: A save of some objects leaves the assignments of others")
    func aSaveOfSomeObjectsLeavesTheOthersAssignments() throws {
        let library = try Library()
        let second = try addStore("second", to: library)
        let (ada, ben) = (library.context.author("Ada"), library.context.author("Ben"))
        for author in [ada, ben] { library.context.assign(author, to: second) }
        let request = NSSaveChangesRequest(inserted: [ada], updated: nil, deleted: nil, locked: nil)
        _ = try library.coordinator.execute(request, with: library.context)
        #expect(ben.isInserted)
        try library.context.save()
        #expect(ben.objectID.persistentStore === second)
        #expect(names("second", library) == ["Ada", "Ben"])
    }

    @Test("129: An object that is deleted and inserted again in one event keeps its assignment")
    func anAssignmentOutlivesADeletionThatIsTakenBack() throws {
        let library = try Library()
        let second = try addStore("second", to: library)
        let ada = library.context.author("Ada")
        library.context.assign(ada, to: second)
        library.context.delete(ada)
        library.context.insert(ada)
        try library.context.save()
        #expect(ada.objectID.persistentStore === second)
    }
}
