import CoreData
import TestSupport
import Testing

/// The stores that new objects were assigned to, after their insertion was undone and done again.
struct UndoneAssignmentTests {
    private let folder: TemporaryFolder
    private let context: NSManagedObjectContext
    private let manager = UndoManager()
    private let second: NSPersistentStore
    private let coordinator: NSPersistentStoreCoordinator

    init() throws {
        folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        self.coordinator = coordinator
        let urls = ["first.sqlite", "second.sqlite"].map(folder.file)
        let stores = try urls.map {
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: $0, options: nil)
        }
        second = stores[1]
        context = coordinator.newContext()
        manager.groupsByEvent = false
        context.undoManager = manager
    }

    private func group(_ body: () -> Void) {
        manager.beginUndoGrouping()
        body()
        context.processPendingChanges()
        manager.endUndoGrouping()
    }

    private func insertAssigned() throws -> LibraryAuthor {
        var author: LibraryAuthor?
        group {
            let ada = context.author("Ada")
            context.assign(ada, to: second)
            author = ada
        }
        return try #require(author)
    }

    @Test func anInsertionThatIsDoneAgainGoesToItsStore() throws {
        let ada = try insertAssigned()
        for _ in 0..<2 {
            context.undo()
            context.redo()
        }
        try context.save()
        #expect(ada.objectID.persistentStore === second)
        #expect(SQLiteFile(folder.file("second.sqlite")).column("SELECT ZNAME FROM ZAUTHOR") == ["Ada"])
    }

    @Test func aNewObjectWhoseDeletionIsUndoneGoesToItsStore() throws {
        let ada = try insertAssigned()
        group { context.delete(ada) }
        context.undo()
        try context.save()
        #expect(ada.objectID.persistentStore === second)
    }

    @Test func anInsertionIsDoneAgainThoughItsStoreIsGone() throws {
        let ada = try insertAssigned()
        context.undo()
        try coordinator.remove(second)
        // What becomes of the store's objects is a block of the context.
        try context.performAndWait {
            context.redo()
            try context.save()
        }
        #expect(ada.objectID.persistentStore === coordinator.persistentStores.first)
    }
}
