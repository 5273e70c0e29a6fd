import TestSupport
import Testing

@testable import CoreData

/// The results of a request as a sequence.
struct ResultsSequenceTests {
    private let shelf: BookShelf
    private var context: NSManagedObjectContext { shelf.context }

    init() throws { shelf = try BookShelf(["Ash", "Bay", "Cedar"]) }

    private var request: NSFetchRequest<LibraryBook> { shelf.controller.fetchRequest }

    private func titles(_ state: ResultsState<NSManagedObjectID>?) async -> [String] {
        let context = context
        let objectIDs = state?.objectIDs ?? []
        return await context.perform { objectIDs.map { (context.object(with: $0) as? LibraryBook)?.title ?? "" } }
    }

    private func inContext(_ body: @escaping @Sendable (NSManagedObjectContext) throws -> Void) async throws {
        let context = context
        try await context.perform { try body(context) }
    }

    private static func book(_ title: String, in context: NSManagedObjectContext) throws -> LibraryBook {
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.predicate = NSPredicate(format: "title == %@", title)
        return try #require(try context.fetch(request).first)
    }

    @Test func theFirstElementIsThePresentState() async throws {
        var states = context.changes(of: request).makeAsyncIterator()
        let first = try #require(try await states.next())
        #expect(await titles(first) == ["Ash", "Bay", "Cedar"])
        #expect(first.difference == nil)
        #expect(first.values == first.objectIDs)
    }

    @Test func aSaveThatChangesTheResultsIsOneElement() async throws {
        var states = context.changes(of: request).makeAsyncIterator()
        let first = try #require(try await states.next())
        try await inContext { context in
            context.delete(try Self.book("Ash", in: context))
            try Self.book("Bay", in: context).title = "Zed"
            context.processPendingChanges()
            try Self.book("Cedar", in: context).rating = 3
            context.book("New")
            try context.save()
        }
        let second = try #require(try await states.next())
        #expect(await titles(second) == ["Cedar", "New", "Zed"])
        #expect(!second.objectIDs.contains { $0.isTemporaryID })
        #expect(first.objectIDs.applying(try #require(second.difference)) == second.objectIDs)
        #expect(second.updatedObjectIDs == [second.objectIDs[0], second.objectIDs[2]])
    }

    @Test func whatIsUnsavedAndWhatBearsOnNothingMakesNoElement() async throws {
        var states = context.changes(of: request).makeAsyncIterator()
        _ = try await states.next()
        try await inContext { context in
            context.author("Ada")
            try context.save()
            context.book("Unsaved")
            context.processPendingChanges()
            context.rollback()
            context.book("Saved")
            try context.save()
        }
        let next = try await states.next()
        #expect(await titles(next) == ["Ash", "Bay", "Cedar", "Saved"])
    }

    @Test func aSlowReaderFindsTheLastState() async throws {
        var states = context.changes(of: request).makeAsyncIterator()
        let first = try #require(try await states.next())
        for number in 0..<5 {
            try await inContext { context in
                context.book("New \(number)")
                try Self.book("Ash", in: context).rating = Double(number)
                try context.save()
            }
        }
        let second = try #require(try await states.next())
        #expect(second.objectIDs.count == 8)
        #expect(second.difference?.count == 5)
        #expect(second.updatedObjectIDs == [first.objectIDs[0]])
        try await inContext { context in
            context.delete(try Self.book("Bay", in: context))
            try context.save()
        }
        #expect(try await states.next()?.objectIDs.count == 7)
    }

    @Test func whatOthersSaveCountsWhenItIsMerged() async throws {
        context.automaticallyMergesChangesFromParent = true
        var states = context.changes(of: request).makeAsyncIterator()
        _ = try await states.next()
        let other = shelf.library.newContext()
        try await other.perform {
            try Self.book("Ash", in: other).title = "Zed"
            try other.save()
        }
        let next = try await states.next()
        #expect(await titles(next) == ["Bay", "Cedar", "Zed"])
    }

    @Test func aResetAndACancelledTaskEndASequence() async throws {
        var states = context.changes(of: request).makeAsyncIterator()
        _ = try await states.next()
        try await inContext { $0.reset() }
        #expect(try await states.next() == nil)
        let sequence = context.changes(of: request)
        let task = Task {
            var count = 0
            for try await _ in sequence {
                count += 1
                withUnsafeCurrentTask { $0?.cancel() }
            }
            return count
        }
        #expect(try await task.value == 1)
    }

    @Test func anErrorOfTheFetchIsThrown() async throws {
        let wrong = NSFetchRequest<LibraryBook>(entityName: "Nothing")
        var states = context.changes(of: wrong).makeAsyncIterator()
        await #expect(throws: CocoaError.self) { try await states.next() }
        #expect(try await states.next() == nil)
    }

    @Test func differencesOfRandomListsLeadFromOneToTheOther() throws {
        let objectIDs =
            try #require(shelf.controller.fetchedObjects).map(\.objectID)
            + (0..<30).map { shelf.context.book("Book \($0)").objectID }
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<200 {
            let old = Array(objectIDs.shuffled(using: &generator).prefix(Int.random(in: 0...33, using: &generator)))
            let new = Array(objectIDs.shuffled(using: &generator).prefix(Int.random(in: 0...33, using: &generator)))
            #expect(old.applying(CollectionDifference(from: old, to: new)) == new)
        }
    }
}
