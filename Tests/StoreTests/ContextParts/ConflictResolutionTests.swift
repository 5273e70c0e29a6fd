import Foundation
import TestSupport
import Testing

@testable import CoreData

/// The resolution of conflicts that a test has written, by merge policy.
struct ConflictResolutionTests {
    static let policies: [NSMergePolicy] = [
        .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback,
    ]

    /// Resolves one conflict as a save does that has met it.
    private func resolve(
        _ conflicts: SaveConflicts, _ batch: ObjectBatch, _ stack: ScriptedStack, _ policy: NSMergePolicy
    ) throws {
        stack.context.mergePolicy = policy
        stack.context.processPendingChanges()
        let found = StoreConflicts(store: stack.store, batch: Unchecked(batch), conflicts: conflicts)
        try ConflictResolution(found, after: PastConflicts(drawnIn: []), in: stack.context).resolve()
    }

    /// An author that the program has renamed, and whose name and year of birth others have changed
    /// meanwhile.
    private func contested(_ stack: ScriptedStack, _ policy: NSMergePolicy) throws -> LibraryAuthor {
        let author = try stack.author(7, "Ann", born: 1971)
        author.name = "Anna"
        let current = try stack.rows.row("Author", 7, version: 5, ["name": .string("Anne"), "born": .integer(1972)])
        var batch = ObjectBatch()
        batch.updated = [author]
        try resolve(SaveConflicts(rows: [.init(change: .update, index: 0, current: current)]), batch, stack, policy)
        return author
    }

    @Test(arguments: [
        (NSMergePolicy.mergeByPropertyObjectTrump, "Anna", 1972, true),
        (.mergeByPropertyStoreTrump, "Anne", 1972, false),
        (.overwrite, "Anna", 1971, true), (.rollback, "Anne", 1972, false),
    ]) func whoChangedARowWinsByPolicy(policy: NSMergePolicy, name: String, born: Int16, isPending: Bool) throws {
        let stack = try ScriptedStack()
        let author = try contested(stack, policy)
        #expect((author.name, author.born) == (name, born))
        #expect(author.hasPersistentChangedValues == isPending)
        // In each case it rests on the row as others have left it, so that the next attempt meets
        // no conflict.
        #expect(author.committedRow?.rowVersion == 5)
    }

    @Test func thePolicyOfErrorsTellsAllAndChangesNothing() throws {
        let stack = try ScriptedStack()
        let author = try stack.author(7, "Ann", born: 1971)
        author.name = "Anna"
        let current = try stack.rows.row("Author", 7, version: 5, ["name": .string("Anne"), "born": .integer(1972)])
        var batch = ObjectBatch()
        batch.updated = [author]
        let conflicts = SaveConflicts(rows: [.init(change: .update, index: 0, current: current)])
        let error = try #require(errorThrown { try resolve(conflicts, batch, stack, .error) })
        #expect(error.code == NSManagedObjectMergeError)
        let told = try #require((error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.first)
        #expect(told.sourceObject === author)
        #expect((told.oldVersionNumber, told.newVersionNumber) == (1, 5))
        #expect(told.objectSnapshot?["name"] as? String == "Ann")
        #expect(told.cachedSnapshot?["name"] as? String == "Ann")
        #expect(told.persistedSnapshot?["name"] as? String == "Anne")
        #expect((author.name, author.born) == ("Anna", 1971))
        #expect(author.committedRow?.rowVersion == 1)
    }

    @Test(arguments: policies) func aChangedObjectWhoseRowIsGoneIsWrittenAnewOrLeaves(policy: NSMergePolicy) throws {
        let stack = try ScriptedStack()
        let author = try stack.author(7, "Ann", born: 1971)
        author.name = "Anna"
        var batch = ObjectBatch()
        batch.updated = [author]
        stack.rows.rows = []
        try resolve(SaveConflicts(rows: [.init(change: .update, index: 0, current: nil)]), batch, stack, policy)
        if policy.mergeType == .overwriteMergePolicyType
            || policy.mergeType == .mergeByPropertyObjectTrumpMergePolicyType
        {
            #expect(author.isInserted)
            #expect((author.key, author.name, author.born) == (7, "Anna", 1971))
        } else {
            #expect(author.managedObjectContext == nil)
            #expect(!stack.context.hasChanges)
        }
    }

    @Test(arguments: policies) func aDeletionOfWhatOthersHaveChangedHoldsOrIsTakenBack(policy: NSMergePolicy) throws {
        let stack = try ScriptedStack()
        let author = try stack.author(7, "Ann", born: 1971)
        author.name = "Anna"
        stack.context.delete(author)
        let current = try stack.rows.row("Author", 7, version: 5, ["name": .string("Anne"), "born": .integer(1972)])
        var batch = ObjectBatch()
        batch.deleted = [author]
        try resolve(SaveConflicts(rows: [.init(change: .delete, index: 0, current: current)]), batch, stack, policy)
        #expect(author.committedRow?.rowVersion == 5)
        if policy.mergeType == .overwriteMergePolicyType
            || policy.mergeType == .mergeByPropertyObjectTrumpMergePolicyType
        {
            #expect(author.isDeleted)
        } else {
            #expect(!author.isDeleted)
            #expect(!stack.context.hasChanges)
            #expect((author.name, author.born) == ("Anne", 1972))
        }
    }

    @Test func aRowThatWasOnlyLookedAtIsTakenOver() throws {
        let stack = try ScriptedStack()
        let author = try stack.author(7, "Ann", born: 1971)
        let current = try stack.rows.row("Author", 7, version: 5, ["name": .string("Anne")])
        var batch = ObjectBatch()
        batch.checked = [author]
        try resolve(
            SaveConflicts(rows: [.init(change: .check, index: 0, current: current)]), batch, stack,
            .mergeByPropertyObjectTrump)
        #expect(author.name == "Anne")
        #expect(!author.hasChanges)
    }

    @Test func aNewObjectWhoseKeyIsTakenGetsAnother() throws {
        let stack = try ScriptedStack()
        let author = stack.context.author("Bob")
        try KeyAssignment(stack.coordinator, stack.context).assign(to: [author])
        #expect(author.key == 100)
        let current = try stack.rows.row("Author", 100, ["name": .string("somebody's")])
        var batch = ObjectBatch()
        batch.inserted = [author]
        // It is no conflict that a policy would have to settle.
        try resolve(SaveConflicts(rows: [.init(change: .insert, index: 0, current: current)]), batch, stack, .error)
        #expect(author.isInserted)
        #expect(author.name == "Bob")
        try KeyAssignment(stack.coordinator, stack.context).assign(to: [author])
        #expect(author.key == 101)
    }

    @Test(arguments: policies) func aNewObjectWithTheUniqueValuesOfARowTakesItsPlaceOrGivesWay(policy: NSMergePolicy)
        throws
    {
        let stack = try ScriptedStack()
        let author = stack.context.author("Ann", born: 1971)
        try KeyAssignment(stack.coordinator, stack.context).assign(to: [author])
        let existing = try stack.rows.row("Author", 7, version: 3, ["name": .string("Ann"), "born": .integer(1900)])
        stack.rows.rows = [existing]
        var batch = ObjectBatch()
        batch.inserted = [author]
        let violation = SaveConflicts.ConstraintViolation(
            constraint: ["name"], values: [.string("Ann")], layout: author.layout, existing: existing, inserts: [0],
            updates: [])
        try resolve(SaveConflicts(violations: [violation]), batch, stack, policy)
        if policy.mergeType == .overwriteMergePolicyType
            || policy.mergeType == .mergeByPropertyObjectTrumpMergePolicyType
        {
            #expect(author.isUpdated)
            #expect(!author.isInserted)
            #expect((author.key, author.born, author.committedRow?.rowVersion) == (7, 1971, 3))
        } else {
            #expect(!author.isInserted)
            #expect(!stack.context.hasChangesToWrite)
        }
    }

    @Test func aConflictThatDoesNotEndIsTold() throws {
        let stack = try ScriptedStack()
        let author = try stack.author(7, "Ann")
        author.name = "Anna"
        stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        stack.rows.failures = try (Int64(2)...40).map { version in
            let current = try stack.rows.row("Author", 7, version: version, ["name": .string("Anne \(version)")])
            return SaveConflicts(rows: [.init(change: .update, index: 0, current: current)])
        }
        let error = try #require(errorThrown { try stack.context.save() })
        #expect(error.code == NSManagedObjectMergeError)
        #expect(stack.rows.saves.count == 17)
        // Each attempt rested on the row that the one before had met.
        #expect(stack.rows.saves.map { $0.updates.first?.base?.version } == (1...17).map(Int64.init))
        #expect(author.name == "Anna")
        #expect(author.hasChanges)
    }
}
