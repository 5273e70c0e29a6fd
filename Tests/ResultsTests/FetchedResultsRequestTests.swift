import CoreData
import TestSupport
import Testing

/// What settings of a request mean for results that follow their context.
@Suite struct FetchedResultsRequestTests {
    /// A shelf whose request has been changed since.
    private func shelf(limit: Int = 0, _ change: (NSFetchRequest<LibraryBook>) -> Void) throws -> BookShelf {
        let shelf = try BookShelf(limit: limit)
        change(shelf.controller.fetchRequest)
        try shelf.controller.performFetch()
        shelf.listener.begin(with: shelf.controller)
        return shelf
    }

    // MARK: Without pending changes

    private static let withBee = ["Ash", "Bay", "Bee", "Cedar", "Date"]

    @Test(arguments: [0, 3]) func withoutPendingChangesAContextsOwnChangesAreFollowed(limit: Int) throws {
        let shelf = try shelf(limit: limit) { $0.includesPendingChanges = false }
        shelf.context.book("Bee")
        shelf.process()
        #expect(shelf.titles == [Array(limit > 0 ? Self.withBee.prefix(limit) : Self.withBee[...])])
        try shelf.context.save()
        #expect(shelf.titles == [Array(limit > 0 ? Self.withBee.prefix(limit) : Self.withBee[...])])
        #expect(shelf.listener.rounds == 1)
        shelf.context.delete(try shelf.book("Ash"))
        try shelf.context.save()
        #expect(try shelf.controller.fetchedObjects == shelf.context.fetch(shelf.controller.fetchRequest))
        #expect(shelf.listener.sections == ResultsListener.sections(of: shelf.controller))
        #expect(shelf.listener.rounds == 2)
    }

    @Test func withoutPendingChangesALargeChangeIsFollowed() throws {
        let shelf = try shelf { $0.includesPendingChanges = false }
        for number in 0...1000 { shelf.context.book("M\(number)") }
        try shelf.context.save()
        #expect(shelf.controller.fetchedObjects?.count == 1005)
        #expect(shelf.listener.sections == ResultsListener.sections(of: shelf.controller))
        #expect(shelf.listener.rounds == 1)
    }

    @Test(arguments: [0, 3]) func whatTheFetchHasLeftOutComesWithTheSave(limit: Int) throws {
        let shelf = try BookShelf(limit: limit)
        shelf.context.book("Bee")
        shelf.context.delete(try shelf.book("Ash"))
        shelf.context.processPendingChanges()
        shelf.controller.fetchRequest.includesPendingChanges = false
        try shelf.controller.performFetch()
        shelf.listener.begin(with: shelf.controller)
        #expect(shelf.controller.fetchedObjects?.map(\.title).contains("Bee") == false)
        try shelf.context.save()
        #expect(shelf.titles == [Array(limit > 0 ? ["Bay", "Bee", "Cedar"] : ["Bay", "Bee", "Cedar", "Date"])])
        #expect(shelf.listener.complaints == [])
        #expect(shelf.listener.sections == ResultsListener.sections(of: shelf.controller))
    }
}
