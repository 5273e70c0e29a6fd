import CoreData
import TestSupport
import Testing

/// Undoing a context's changes.
@Suite(.everyStore) struct UndoTests {
    let library: Library
    let context: NSManagedObjectContext
    let manager: UndoManager

    init() throws {
        library = try Library()
        context = library.context
        manager = UndoManager()
        manager.groupsByEvent = false
        context.undoManager = manager
        // Until the first group: what tests set up is not to be undone.
        manager.disableUndoRegistration()
    }

    /// Makes changes that are undone together.
    private func group(_ body: () throws -> Void) rethrows {
        enableUndo()
        manager.beginUndoGrouping()
        try body()
        manager.endUndoGrouping()
    }

    @Test func thereIsNoUndoManagerByDefault() throws {  // 138
        let other = library.newContext()
        #expect(other.undoManager == nil)
        other.author("Ada")
        other.undo()
        other.redo()
        #expect(other.insertedObjects.count == 1)
    }

    @Test func changesAreRegisteredWhenPendingChangesAreProcessed() throws {  // 139
        enableUndo()
        manager.beginUndoGrouping()
        context.author("Ada").born = 1815
        #expect(!manager.canUndo)
        context.processPendingChanges()
        #expect(manager.canUndo)
        manager.endUndoGrouping()
    }

    @Test func anInsertionIsUndoneAndRedone() throws {  // 140
        var ada: LibraryAuthor?
        group { ada = context.author("Ada", born: 1815) }
        let author = try #require(ada)
        context.undo()
        #expect(context.insertedObjects.isEmpty)
        #expect(!context.hasChanges)
        #expect(try context.names() == [])
        #expect(author.managedObjectContext == nil)
        context.redo()
        #expect(context.insertedObjects == [author])
        #expect(author.name == "Ada")
        #expect(author.born == 1815)
        #expect(author.managedObjectContext === context)
        try context.save()
        #expect(try library.newContext().names() == ["Ada"])
    }

    @Test func anUpdateIsUndoneAndRedone() throws {  // 140
        let ada = context.author("Ada", born: 1)
        try saveWithoutUndo()
        group { ada.name = "Ida" }
        group {
            ada.name = "Eve"
            ada.born = 2
        }
        context.undo()
        #expect(ada.name == "Ida")
        #expect(ada.born == 1)
        #expect(ada.hasChanges)
        context.undo()
        #expect(ada.name == "Ada")
        #expect(!context.hasChanges)
        context.redo()
        context.redo()
        #expect(ada.name == "Eve")
        #expect(ada.born == 2)
        #expect(context.updatedObjects == [ada])
    }

    @Test func aDeletionIsUndoneWithEverythingItsRulesDid() throws {  // 140
        let ada = context.author("Ada")
        let notes = context.book("Notes", by: ada, tags: [context.tag("a"), context.tag("b")])
        try saveWithoutUndo()
        group { context.delete(ada) }
        #expect(notes.author == nil)
        group { context.delete(notes) }
        context.undo()
        #expect(!notes.isDeleted)
        #expect(Set(notes.tags.map(\.label)) == ["a", "b"])
        context.undo()
        #expect(!ada.isDeleted)
        #expect(notes.author === ada)
        #expect(ada.books == [notes])
        #expect(!context.hasChanges)
        context.redo()
        #expect(ada.isDeleted)
        #expect(notes.author == nil)
        context.undo()
        #expect(try context.names() == ["Ada"])
    }

    @Test func relationshipChangesAreUndoneOnBothSides() throws {
        let ada = context.author("Ada")
        let bob = context.author("Bob")
        let notes = context.book("Notes", by: ada)
        let tag = context.tag("t")
        try saveWithoutUndo()
        group {
            notes.author = bob
            notes.tags = [tag]
        }
        context.undo()
        #expect(notes.author === ada)
        #expect(ada.books == [notes])
        #expect(bob.books.isEmpty)
        #expect(tag.books.isEmpty)
        #expect(!context.hasChanges)
        context.redo()
        #expect(notes.author === bob)
        #expect(bob.books == [notes])
        #expect(tag.books == [notes])
        try context.save()
        #expect(try library.newContext().books().first?.author?.name == "Bob")
    }

    @Test func changesWithRegistrationDisabledStay() throws {  // 141
        group { context.author("Ada") }
        context.processPendingChanges()
        manager.disableUndoRegistration()
        context.author("Bob")
        context.processPendingChanges()
        manager.enableUndoRegistration()
        context.undo()
        #expect(try context.names() == ["Bob"])
    }

    @Test func transientValuesAreUndone() throws {  // 142, 334
        let notes = context.book("Notes")
        notes.mark = "old"
        try saveWithoutUndo()
        group { notes.mark = "new" }
        context.undo()
        #expect(notes.mark == "old")
        context.redo()
        #expect(notes.mark == "new")
    }

    @Test func primitiveValuesAreNotUndone() throws {  // 32, 53
        let ada = context.author("Ada", born: 1)
        try saveWithoutUndo()
        group {
            ada.setPrimitiveValue(7, forKey: "born")
            ada.name = "Ida"
        }
        context.undo()
        #expect(ada.name == "Ada")
        #expect(ada.born == 7)
    }

    @Test func mergedChangesAreNotUndone() throws {
        let ada = context.author("Ada", born: 1)
        try saveWithoutUndo()
        group { ada.name = "Ida" }
        let other = library.newContext()
        let saves = NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: other)
        try #require(try other.authors().first).born = 9
        try other.save()
        context.mergeChanges(fromContextDidSave: try #require(saves.all.last))
        #expect(ada.born == 9)
        context.undo()
        #expect(ada.name == "Ada")
        #expect(ada.born == 9)
    }

    @Test func rollbackAndResetEmptyTheStack() throws {  // 136
        group { context.author("Ada") }
        context.rollback()
        #expect(!manager.canUndo)
        group { context.author("Bob") }
        context.reset()
        #expect(!manager.canUndo)
    }

    @Test func whatWasSavedIsUndoneAsChangesToSave() throws {
        var ada: LibraryAuthor?
        group { ada = context.author("Ada", born: 1) }
        let author = try #require(ada)
        try context.save()
        group { author.name = "Ida" }
        try context.save()
        context.undo()
        #expect(author.name == "Ada")
        try context.save()
        #expect(try library.newContext().names() == ["Ada"])
        context.undo()
        #expect(author.isDeleted)
        try context.save()
        #expect(try library.newContext().names() == [])
        context.redo()
        #expect(author.name == "Ada")
        #expect(author.born == 1)
        try context.save()
        #expect(try library.newContext().names() == ["Ada"])
        context.redo()
        try context.save()
        #expect(try library.newContext().names() == ["Ida"])
    }

    @Test func aSavedDeletionIsUndoneWithItsRelationships() throws {
        let ada = context.author("Ada", born: 1)
        let notes = context.book("Notes", by: ada, tags: [context.tag("a"), context.tag("b")])
        try saveWithoutUndo()
        let objectID = notes.objectID
        group { context.delete(notes) }
        try context.save()
        #expect(try library.newContext().titles() == [])
        context.undo()
        #expect(try context.titles() == ["Notes"])
        #expect(notes.author === ada)
        #expect(ada.books == [notes])
        try context.save()
        let other = library.newContext()
        let saved = try #require(try other.books().first)
        #expect(saved.author?.name == "Ada")
        #expect(Set(saved.tags.map(\.label)) == ["a", "b"])
        #expect(saved.objectID == objectID)
        #expect(notes.objectID == objectID)
    }

    @Test func aDeletionThatARefreshHasTakenBackIsNotInsertedOnceMore() throws {
        let ada = context.author("Ada", born: 1)
        let notes = context.book("Notes", by: ada)
        try saveWithoutUndo()
        group { context.delete(notes) }
        context.refresh(notes, mergeChanges: false)
        #expect(!notes.isDeleted)
        context.undo()
        #expect(context.insertedObjects.isEmpty)
        #expect(notes.author === ada)
        #expect(ada.books == [notes])
        try context.save()
        #expect(library.stored("title", of: "Book") == ["Notes"])
        context.redo()
        #expect(notes.isDeleted)
        #expect(ada.books.isEmpty)
        try context.save()
        #expect(library.storedCount(of: "Book") == 0)
        context.undo()
        #expect(notes.author === ada)
        #expect(ada.books == [notes])
        try context.save()
        #expect(library.stored("title", of: "Book") == ["Notes"])
    }

    @Test func undoAndRedoTellTheObjectsAndNotInsertThemAnew() throws {  // 33, 36
        let label = NSAttributeDescription("label", .stringAttributeType)
        let stack = try TestStack([NSEntityDescription("Watched", class: "CoreDataTests.WatchedObject", [label])])
        let context = stack.context
        let manager = UndoManager()
        manager.groupsByEvent = false
        context.undoManager = manager
        manager.beginUndoGrouping()
        let object = WatchedObject(context: context)
        manager.endUndoGrouping()
        manager.beginUndoGrouping()
        object.label = "a"
        manager.endUndoGrouping()
        #expect(object.insertions == 1)
        context.undo()
        #expect(object.events == [.undoUpdate])
        context.undo()
        #expect(object.events == [.undoUpdate, .undoInsertion])
        context.redo()
        #expect(object.events == [.undoUpdate, .undoInsertion, .undoDeletion])
        #expect(object.insertions == 1)
        withExtendedLifetime(stack) {}
    }

    @Test func aBlockOfAPrivateQueueIsUndoneAsAWhole() async throws {
        let context = library.newContext()
        context.undoManager = UndoManager()
        await context.perform {
            context.author("Ada")
            context.processPendingChanges()
            context.author("Bob")
        }
        await context.perform { _ = context.author("Cid") }
        try await context.perform {
            context.undo()
            let first = try context.names()
            context.undo()
            let second = try context.names()
            #expect(first == ["Ada", "Bob"])
            #expect(second == [])
        }
    }

    @Test func whatAChildSavedIsUndoneInTheParentAsOneAction() throws {
        let ada = context.author("Ada")
        try saveWithoutUndo()
        let child = context.newChild()
        let mine = try #require(try child.authors().first)
        mine.name = "Ida"
        child.book("Notes", by: mine)
        manager.beginUndoGrouping()
        try child.save()
        manager.endUndoGrouping()
        #expect(ada.name == "Ida")
        #expect(ada.books.count == 1)
        context.undo()
        #expect(ada.name == "Ada")
        #expect(ada.books.isEmpty)
        #expect(!context.hasChanges)
        context.redo()
        try context.save()
        #expect(try library.newContext().titles() == ["Notes"])
    }

    /// Has everything from here on registered.
    private func enableUndo() {
        context.processPendingChanges()
        if !manager.isUndoRegistrationEnabled { manager.enableUndoRegistration() }
    }

    /// Saves what a test has set up, which is not to be undone.
    private func saveWithoutUndo() throws {
        try context.save()
        enableUndo()
    }
}

/// An object that counts what it is told.
final class WatchedObject: NSManagedObject {
    @Managed var label: String?
    var insertions = 0
    var events: [NSSnapshotEventType] = []

    override func awakeFromInsert() {
        super.awakeFromInsert()
        insertions += 1
    }

    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        super.awake(fromSnapshotEvents: flags)
        events.append(flags)
    }
}
