import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Merging of saves that are reported by object IDs alone, with rows that a test has written.
struct ContextMergeTests {
    private func merge(_ changes: SavedObjectIDs, _ stack: ScriptedStack, keepingDeletions: Bool = true) {
        ContextMerge.run(changes, keepingDeletions: keepingDeletions, nil, in: stack.context)
    }

    /// Others have changed the row of an author, which the row cache has from their save.
    private func change(_ author: LibraryAuthor, _ stack: ScriptedStack, name: String, born: Int64) throws {
        let row = try stack.rows.row("Author", author.key, version: 5, ["name": .string(name), "born": .integer(born)])
        stack.rows.rows = [row]
        stack.rows.rowCache(of: author.layout)?.insert([row.page])
    }

    @Test func whatIsUnchangedHereIsReadAgainAndWhatIsChangedStays() throws {
        let stack = try ScriptedStack()
        let author = try stack.author(7, "Ann", born: 1971)
        author.name = "Anna"
        stack.context.processPendingChanges()
        try change(author, stack, name: "Anne", born: 1972)
        let log = NotificationLog(NSManagedObjectContext.didMergeChangesObjectIDsNotification, from: stack.context)
        merge(SavedObjectIDs(inserted: [], updated: [author.objectID], deleted: []), stack)
        #expect((author.name, author.born) == ("Anna", 1972))
        #expect(author.hasChanges)
        #expect(stack.context.updatedObjects == [author])
        #expect(log.count == 1)
        #expect(stack.rows.saves.isEmpty)
    }

    @Test func whatTheContextDoesNotHaveIsNotReadForIt() throws {
        let stack = try ScriptedStack()
        let layout = try stack.author(7, "Ann").layout
        let objectID = NSManagedObjectID(key: 8, layout: layout, store: stack.store)
        merge(SavedObjectIDs(inserted: [objectID], updated: [objectID], deleted: []), stack)
        #expect(stack.context.registeredObject(for: objectID) == nil)
        #expect(stack.rows.fetches.isEmpty)
    }

    @Test(arguments: [true, false]) func whatOthersDeletedIsDeletedHereWithItsChanges(isKept: Bool) throws {
        let stack = try ScriptedStack()
        let author = try stack.author(7, "Ann")
        author.name = "Anna"
        stack.rows.rows = []
        merge(SavedObjectIDs(inserted: [], updated: [], deleted: [author.objectID]), stack, keepingDeletions: isKept)
        #expect(author.isDeleted == isKept)
        #expect((author.managedObjectContext == nil) == !isKept)
        // Nothing is to be written of it.
        #expect(!stack.context.hasChangesToWrite)
    }

    @Test func anObjectOfARowThatIsToBeWrittenAnewWaitsForItsSave() throws {
        let stack = try ScriptedStack()
        let new = stack.context.author("Bob")
        try KeyAssignment(stack.coordinator, stack.context).assign(to: [new])
        let objectID = NSManagedObjectID(key: new.key, layout: new.layout, store: stack.store)
        stack.rows.rows = [try stack.rows.row("Author", new.key, version: 5, ["name": .string("others'")])]
        merge(SavedObjectIDs(inserted: [], updated: [objectID], deleted: []), stack)
        #expect(new.isInserted)
        #expect(new.name == "Bob")
    }
}
