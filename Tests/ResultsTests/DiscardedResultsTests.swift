import CoreData
import TestSupport
import Testing

/// Results with new objects that are deleted before they were ever saved.
struct DiscardedResultsTests {
    @Test(
        "97, 265: it is told as deleted when that is processed, and a save tells nothing more",
        arguments: [false, true])
    func itIsToldAsDeletedOnce(rollsBack: Bool) throws {
        let shelf = try BookShelf(["Ash", "Cedar"])
        let new = shelf.context.book("Bay")
        shelf.process()
        #expect(shelf.listener.summary == ["insert Bay"])
        shelf.listener.forgetCalls()
        shelf.context.delete(new)
        shelf.process()
        #expect(shelf.listener.summary.count == 1)
        #expect(shelf.titles == [["Ash", "Cedar"]])
        shelf.listener.forgetCalls()
        try shelf.controller.performFetch()
        #expect(shelf.titles == [["Ash", "Cedar"]])
        if rollsBack { shelf.context.rollback() } else { try shelf.context.save() }
        shelf.process()
        #expect(shelf.listener.summary == [])
        #expect(!shelf.context.hasChanges)
    }

    @Test("97, 265: it is told as inserted when it is inserted again") func itIsToldAsInsertedAgain() throws {
        let shelf = try BookShelf(["Ash", "Cedar"])
        let new = shelf.context.book("Bay")
        shelf.process()
        shelf.context.delete(new)
        shelf.process()
        shelf.listener.forgetCalls()
        shelf.context.insert(new)
        shelf.process()
        #expect(shelf.listener.summary == ["insert Bay"])
        #expect(shelf.titles == [["Ash", "Bay", "Cedar"]])
        shelf.listener.forgetCalls()
        try shelf.context.save()
        shelf.process()
        #expect(shelf.listener.summary == [])
        #expect(shelf.titles == [["Ash", "Bay", "Cedar"]])
    }
}
