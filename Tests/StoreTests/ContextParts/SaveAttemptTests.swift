import Foundation
import TestSupport
import Testing

@testable import CoreData

/// The batches that an attempt to save gives to stores, and the changes of its completion.
struct SaveAttemptTests {
    private struct DiskFull: Error {}

    /// One attempt to save what is pending, without the hooks around it.
    private func attempt(_ stack: ScriptedStack) throws -> WrittenChanges {
        stack.context.processPendingChanges()
        let changes = stack.context.changes
        let objects = SavedObjects(
            inserted: changes.inserted.objects, updated: changes.updated.objects, deletions: changes.deleted.objects)
        var attempt = SaveAttempt(objects, stack.coordinator, stack.context)
        return try attempt.run()
    }

    private func value(_ change: RowChange, _ name: String) throws -> String? {
        let slot = try #require(change.layout.slotByName[name])
        let values = try #require(change.values)
        #expect(values.has(slot))
        return values[slot].text
    }

    @Test func aNewObjectIsAnInsertionWithTheKeyOfItsStore() throws {
        let stack = try ScriptedStack()
        let author = stack.context.author("Ann", born: 1971)
        _ = try attempt(stack)
        let batch = try #require(stack.rows.saves.last)
        #expect(batch.inserts.count == 1)
        #expect(batch.updates.isEmpty)
        #expect(batch.deletes.isEmpty)
        let change = batch.inserts[0]
        #expect((change.key, author.key) == (100, 100))
        #expect(change.base == nil)
        #expect(change.insertedVersion == 1)
        #expect(try value(change, "name") == "Ann")
        #expect(try value(change, "born") == "1971")
        // The attempt tells nobody: the object is new until the completion.
        #expect(author.isInserted)
    }

    @Test func aChangedObjectIsItsChangedValuesOnTheRowThatTheyRestOn() throws {
        let stack = try ScriptedStack()
        let author = try stack.author(7, "Ann", born: 1971)
        author.name = "Anna"
        // Set to what it was: no change.
        author.born = 1971
        _ = try attempt(stack)
        let change = try #require(stack.rows.saves.last?.updates.first)
        #expect((change.key, change.base?.version) == (7, 1))
        #expect(try value(change, "name") == "Anna")
        #expect(change.values?.has(try #require(change.layout.slotByName["born"])) == false)
    }

    @Test func relationshipsAreReferencesAndRowsOfJoinTables() throws {
        let stack = try ScriptedStack()
        let author = try stack.author(7, "Ann")
        let book = stack.context.book(
            "Walden", by: author, tags: [stack.context.tag("wood"), stack.context.tag("life")])
        _ = try attempt(stack)
        let batch = try #require(stack.rows.saves.last)
        let change = try #require(batch.inserts.first { $0.layout.name == "Book" })
        #expect(try value(change, "author") == "7")
        #expect(batch.relationshipChanges.count == 1)
        let pairs = try #require(batch.relationshipChanges.first)
        #expect(Set(pairs.added.map(\.key)) == Set(book.tags.map(\.key)))
        #expect(pairs.removed.isEmpty)
        #expect(pairs.ownerKey == book.key)
        // Its books have changed, which is in no column of the author's.
        #expect(batch.updates.map(\.touchesVersionOnly) == [true])
    }

    @Test func deletionsAndCheckedObjectsComeWithTheirRows() throws {
        let stack = try ScriptedStack()
        let (ann, bob) = (try stack.author(7, "Ann"), try stack.author(8, "Bob"))
        stack.context.delete(ann)
        stack.context.detectConflicts(for: bob)
        _ = try attempt(stack)
        let batch = try #require(stack.rows.saves.last)
        #expect(batch.deletes.map(\.key) == [7])
        #expect(batch.deletes.first?.base?.version == 1)
        #expect(batch.versionChecks.map(\.key) == [8])
        #expect(batch.updates.isEmpty)
    }

    @Test func whatAStoreCouldNotWriteIsPendingAsItWas() throws {
        let stack = try ScriptedStack()
        let (old, new) = (try stack.author(7, "Ann"), stack.context.author("Bob"))
        old.name = "Anna"
        stack.rows.failures = [DiskFull()]
        #expect(throws: DiskFull.self) { try attempt(stack) }
        #expect(new.isInserted)
        #expect(old.isUpdated)
        #expect((old.name, new.name) == ("Anna", "Bob"))
        #expect(old.committedValues(forKeys: ["name"])["name"] as? String == "Ann")
        _ = try attempt(stack)
        // By the key that it had already.
        #expect(stack.rows.saves.map { $0.inserts.map(\.key) } == [[100], [100]])
    }

    @Test func eachStoreGetsItsOwnAndNoneIsCommittedBeforeAllAreWritten() throws {
        let stack = try ScriptedStack(stores: 2)
        let (first, second) = (stack.context.author("Ann"), stack.context.author("Bob"))
        stack.context.assign(first, to: stack.stores[0])
        stack.context.assign(second, to: stack.stores[1])
        let rows = stack.stores.compactMap(\.rows)
        rows[1].failures = [DiskFull()]
        #expect(throws: DiskFull.self) { try attempt(stack) }
        #expect(rows.map(\.commits) == [0, 0])
        #expect(try attempt(stack).stores.count == 2)
        #expect(rows.map(\.commits) == [1, 1])
        #expect(rows.map { $0.saves.last?.inserts.map(\.key) } == [[first.key], [second.key]])
    }

    @Test func whatIsWrittenIsCommittedByTheCompletionAndByNothingElse() throws {
        let stack = try ScriptedStack()
        let (old, new) = (try stack.author(7, "Ann"), stack.context.author("Bob"))
        let gone = try stack.author(8, "Eve")
        let temporary = new.objectID
        old.name = "Anna"
        stack.context.delete(gone)
        let written = try attempt(stack)
        let log = NotificationLog([NSManagedObjectContext.didSaveObjectsNotification], from: stack.context)
        SaveCompletion(stack.context).finish(written)
        #expect(!stack.context.hasChanges)
        #expect(!new.isInserted)
        #expect(!new.objectID.isTemporaryID)
        #expect(new.objectID != temporary)
        #expect(stack.context.registeredObject(for: new.objectID) === new)
        #expect(old.committedValues(forKeys: ["name"])["name"] as? String == "Anna")
        #expect(old.committedRow?.rowVersion == 2)
        #expect(gone.managedObjectContext == nil)
        #expect(log.count == 1)
    }
}
