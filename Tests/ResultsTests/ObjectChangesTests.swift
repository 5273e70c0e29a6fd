import CoreData
import TestSupport
import Testing

/// The changes of one object, and the notifications of a context, as sequences.
struct ObjectChangesTests {
    private let shelf: BookShelf
    private let book: LibraryBook
    private var context: NSManagedObjectContext { shelf.context }

    init() throws {
        shelf = try BookShelf(["Ash"])
        book = try shelf.book("Ash")
    }

    @Test func anObjectTellsWhichPropertiesChanged() async throws {
        var changes = book.objectDidChange.makeAsyncIterator()
        book.title = "Oak"
        book.pages = 9
        context.processPendingChanges()
        book.setPrimitiveValue(1, forKey: "rating")
        context.author("Ada")
        context.processPendingChanges()
        book.author = context.author("Bob")
        context.processPendingChanges()
        #expect(await changes.next() == ["title", "pages"])
        #expect(await changes.next() == ["author"])
        withExtendedLifetime(shelf) {}
    }

    @Test("63: each assignment is told, before it is saved and after") func eachAssignmentIsTold() async throws {
        var changes = book.objectDidChange.makeAsyncIterator()
        for title in ["Oak", "Elm"] {
            book.title = title
            context.processPendingChanges()
        }
        try context.save()
        book.title = "Oak"
        context.processPendingChanges()
        for _ in 0..<3 { #expect(await changes.next() == ["title"]) }
        withExtendedLifetime(shelf) {}
    }

    @Test("65: changes through a mutable set are told, also by the inverse") func changesThroughAMutableSetAreTold()
        async throws
    {
        let tag = LibraryTag(context: context)
        context.processPendingChanges()
        var (changes, inverse) = (book.objectDidChange.makeAsyncIterator(), tag.objectDidChange.makeAsyncIterator())
        book.mutableSetValue(forKey: "tags").add(tag)
        context.processPendingChanges()
        book.mutableSetValue(forKey: "tags").remove(tag)
        context.processPendingChanges()
        for _ in 0..<2 {
            #expect(await changes.next() == ["tags"])
            #expect(await inverse.next() == ["books"])
        }
        withExtendedLifetime(shelf) {}
    }

    @Test("130: whether there is something to save is told with each change") func whetherThereIsSomethingToSaveIsTold()
        async throws
    {
        var changes = context.notifications(of: .objectsDidChange).makeAsyncIterator()
        #expect(!context.hasChanges)
        book.title = "Oak"
        context.processPendingChanges()
        #expect(await changes.next()?.context.hasChanges == true)
        context.rollback()
        #expect(await changes.next()?.refreshed == [book])
        #expect(!context.hasChanges)
        withExtendedLifetime(shelf) {}
    }

    @Test func aRefreshMayHaveChangedAnything() async throws {
        var changes = book.objectDidChange.makeAsyncIterator()
        context.refresh(book, mergeChanges: false)
        context.processPendingChanges()
        context.delete(book)
        context.processPendingChanges()
        #expect(await changes.next() == [])
        #expect(await changes.next() != nil)
        withExtendedLifetime(shelf) {}
    }

    @Test func anObjectTellsOnceThatItWillChange() async throws {
        var changes = book.objectWillChange.makeAsyncIterator()
        book.title = "Oak"
        await changes.next()
        book.pages = 3
        context.processPendingChanges()
        book.pages = 4
        await changes.next()
        context.reset()
        #expect(await changes.next() == nil)
        let again = book.objectWillChange
        again.send()
        var none = again.makeAsyncIterator()
        #expect(await none.next() == nil)
        withExtendedLifetime(shelf) {}
    }

    @Test("160, 161: notifications are values of their types") func notificationsAreValuesOfTheirTypes() async throws {
        var before = context.notifications(of: .willSave).makeAsyncIterator()
        var saves = context.notifications(of: .didSave).makeAsyncIterator()
        var idSaves = context.notifications(of: .didSaveObjectIDs).makeAsyncIterator()
        var changes = context.notifications(of: .objectsDidChange).makeAsyncIterator()
        book.title = "Oak"
        let new = context.book("New")
        try context.save()
        #expect(await before.next()?.context === context)
        let save = try #require(await saves.next())
        #expect(save.inserted == [new])
        #expect(save.updated == [book])
        #expect(save.deleted == [])
        let ids = try #require(await idSaves.next())
        #expect(ids.insertedIDs == [new.objectID])
        #expect(ids.updatedIDs == [book.objectID])
        let change = try #require(await changes.next())
        #expect(change.inserted == [new])
        #expect(!change.invalidatedAll)
        context.reset()
        #expect(await changes.next()?.invalidatedAll == true)
        withExtendedLifetime(shelf) {}
    }

    @Test("168: a merge tells its IDs as values of their types") func aMergeTellsItsIDs() async throws {
        var merges = context.notifications(of: .didMergeChanges).makeAsyncIterator()
        let other = shelf.library.newContext()
        let saves = NotificationLog(NSManagedObjectContext.didSaveObjectIDsNotification, from: other)
        let new = other.book("New")
        try other.save()
        context.mergeChanges(fromContextDidSave: try #require(saves.all.last))
        #expect(await merges.next()?.insertedIDs == [new.objectID])
        withExtendedLifetime(shelf) {}
    }
}
