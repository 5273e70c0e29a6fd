import TestSupport
import Testing

@testable import CoreData

/// Results whose context is saved by somebody who hears of the same changes.
struct NestedSaveTests {
    /// A delegate that saves what it is told.
    private final class Saver: NSObject, NSFetchedResultsControllerDelegate {
        func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
            do { try controller.managedObjectContext.save() } catch { Issue.record(error) }
        }
    }

    private let shelf: BookShelf
    private let first: NSFetchedResultsController<LibraryBook>
    private let saver = Saver()
    private var context: NSManagedObjectContext { shelf.context }

    /// A controller whose delegate saves, before that of the shelf.
    init() throws {
        shelf = try BookShelf(["Ash", "Bay", "Cedar"])
        shelf.controller.delegate = nil
        first = NSFetchedResultsController(
            fetchRequest: shelf.controller.fetchRequest, managedObjectContext: shelf.context, sectionNameKeyPath: nil,
            cacheName: nil)
    }

    private func follow() throws {
        shelf.controller.delegate = shelf.listener
        try shelf.controller.performFetch()
        shelf.listener.begin(with: shelf.controller)
        shelf.listener.forgetCalls()
    }

    private func saveFromDelegate() throws {
        first.delegate = saver
        try first.performFetch()
    }

    /// Saves whatever the context tells of.
    private func saveFromObserver() -> any NSObjectProtocol {
        NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
        ) { change in
            do { try (change.object as? NSManagedObjectContext)?.save() } catch { Issue.record(error) }
        }
    }

    @Test func aSecondControllerFollowsWhatADelegateHasSaved() throws {
        try saveFromDelegate()
        try follow()
        try shelf.book("Ash").rating = 3
        shelf.process()
        #expect(shelf.listener.summary == ["update Ash"])
        shelf.listener.forgetCalls()
        try shelf.book("Ash").title = "Zed"
        shelf.process()
        #expect(shelf.listener.summary == ["move Zed"])
        #expect(shelf.titles == [["Bay", "Cedar", "Zed"]])
        #expect(!context.hasChanges)
        withExtendedLifetime((first, saver)) {}
    }

    @Test func aControllerFollowsWhatAnObserverHasSaved() throws {
        let observer = saveFromObserver()
        defer { NotificationCenter.default.removeObserver(observer) }
        try follow()
        try shelf.book("Ash").rating = 3
        try shelf.book("Bay").title = "Zed"
        context.book("New")
        context.delete(try shelf.book("Cedar"))
        shelf.process()
        #expect(shelf.listener.summary == ["delete Cedar", "insert New", "move Zed", "update Ash"])
        #expect(!context.hasChanges)
    }

    @Test func anObjectTellsWhatChangedThoughItWasSaved() async throws {
        let observer = saveFromObserver()
        defer { NotificationCenter.default.removeObserver(observer) }
        let book = try shelf.book("Ash")
        var changes = book.objectDidChange.makeAsyncIterator()
        (book.title, book.pages) = ("Oak", 9)
        context.processPendingChanges()
        book.rating = 5
        context.processPendingChanges()
        #expect(await changes.next() == ["title", "pages"])
        #expect(await changes.next() == ["rating"])
        withExtendedLifetime(shelf) {}
    }

    @Test func aSequenceHasTheStateThatWasSaved() throws {
        try saveFromDelegate()
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let feed = ResultsFeed<NSManagedObjectID>(continuation)
        feed.follow(shelf.controller.fetchRequest, in: context) { $0.objectID }
        let present = try #require(try feed.take(after: nil))
        #expect(present.objectIDs.count == 3)
        let ash = try shelf.book("Ash")
        ash.title = "Zed"
        context.processPendingChanges()
        #expect(!context.hasChanges)
        let next = try #require(try feed.take(after: present.objectIDs))
        #expect(next.objectIDs.last == ash.objectID)
        #expect(next.updatedObjectIDs == [ash.objectID])
        ash.rating = 7
        context.processPendingChanges()
        #expect(try feed.take(after: next.objectIDs)?.updatedObjectIDs == [ash.objectID])
        withExtendedLifetime((first, saver, stream)) {}
    }

    // MARK: Values that a merge policy brings

    @Test(arguments: StoreKind.allCases) func resultsFollowWhatAMergePolicyTookOver(kind: StoreKind) throws {
        let shelf = try BookShelf(["Ash", "Bay", "Cedar"], kind: kind)
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let feed = ResultsFeed<NSManagedObjectID>(continuation)
        feed.follow(shelf.controller.fetchRequest, in: shelf.context) { $0.objectID }
        let present = try #require(try feed.take(after: nil))
        let ash = try shelf.book("Ash")
        ash.rating = 3
        shelf.process()
        shelf.listener.forgetCalls()
        let other = shelf.library.newContext()
        try #require(try other.books("title == 'Ash'").first).title = "Zed"
        try other.save()
        shelf.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try shelf.context.save()
        shelf.process()
        #expect(shelf.titles == [["Bay", "Cedar", "Zed"]])
        #expect(shelf.listener.summary == ["move Zed"])
        let next = try #require(try feed.take(after: present.objectIDs))
        #expect(next.objectIDs.last == ash.objectID)
        withExtendedLifetime(stream) {}
    }
}
