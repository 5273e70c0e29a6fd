import CoreData
import TestSupport
import Testing

/// Results as snapshots and differences.
struct ResultsSnapshotTests {
    private final class Snapshots: NSObject, NSFetchedResultsControllerDelegate {
        var all: [NSDiffableDataSourceSnapshotReference] = []
        var others = 0

        func controller(
            _ controller: NSFetchedResultsController<NSFetchRequestResult>,
            didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
        ) { all.append(snapshot) }
        func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) { others += 1 }
        func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) { others += 1 }
        func controller(
            _ controller: NSFetchedResultsController<NSFetchRequestResult>,
            didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
        ) { others += 1 }
    }

    private final class Differences: NSObject, NSFetchedResultsControllerDelegate {
        var all: [CollectionDifference<NSManagedObjectID>] = []
        var others = 0

        func controller(
            _ controller: NSFetchedResultsController<NSFetchRequestResult>,
            didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
        ) { all.append(diff) }
        func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) { others += 1 }
    }

    @Test("270: a snapshot takes the place of all other calls") func aSnapshotTakesThePlaceOfAllOtherCalls() throws {
        let shelf = try BookShelf(["Ash", "Bay", "Cedar"], sort: byPages, sections: "pages")
        let delegate = Snapshots()
        shelf.controller.delegate = delegate
        try shelf.controller.performFetch()
        try shelf.book("Ash").rating = 5
        try shelf.book("Cedar").pages = 1
        shelf.context.processPendingChanges()
        #expect(delegate.all.count == 2)
        #expect(delegate.others == 0)
        let books = try #require(shelf.controller.fetchedObjects)
        let last = try #require(delegate.all.last) as NSDiffableDataSourceSnapshot<String, NSManagedObjectID>
        #expect(last.sectionIdentifiers == ["1", "3"])
        #expect(last.itemIdentifiers == books.map(\.objectID))
        #expect(last.reloadedItemIdentifiers == [books[1].objectID])
        // The first is still what it was.
        let first = delegate.all[0] as NSDiffableDataSourceSnapshot<String, NSManagedObjectID>
        #expect(first.sectionIdentifiers == ["3", "5"])
        #expect(first.numberOfItems(inSection: "3") == 2)
    }

    @Test("270: a difference does so without sections") func aDifferenceDoesSoWithoutSections() throws {
        let shelf = try BookShelf(["Ash", "Bay", "Cedar"])
        let delegate = Differences()
        shelf.controller.delegate = delegate
        let before = try #require(shelf.controller.fetchedObjects).map(\.objectID)
        shelf.context.delete(try shelf.book("Ash"))
        try shelf.book("Bay").title = "Zed"
        try shelf.book("Cedar").rating = 5
        let new = shelf.context.book("Aaa")
        try shelf.context.obtainPermanentIDs(for: [new])
        shelf.context.processPendingChanges()
        #expect(delegate.others == 0)
        let difference = try #require(delegate.all.first)
        #expect(before.applying(difference) == shelf.controller.fetchedObjects?.map(\.objectID))
        #expect(difference.insertions.count == 3)

        let sectioned = try BookShelf(["Ash", "Cedar"], sort: byPages, sections: "pages")
        let other = Differences()
        sectioned.controller.delegate = other
        try sectioned.book("Ash").rating = 5
        sectioned.context.processPendingChanges()
        #expect(other.all.isEmpty)
        #expect(other.others == 1)
    }

    @Test func aSnapshotIsEdited() {
        var snapshot = NSDiffableDataSourceSnapshot<String, Int>()
        snapshot.appendSections(["a", "b"])
        snapshot.appendItems([1, 2])
        snapshot.appendItems([3, 4, 5], toSection: "a")
        snapshot.insertItems([6], beforeItem: 3)
        snapshot.insertItems([7], afterItem: 5)
        #expect(snapshot.itemIdentifiers == [6, 3, 4, 5, 7, 1, 2])
        snapshot.deleteItems([4, 99])
        snapshot.moveItem(1, beforeItem: 3)
        snapshot.moveItem(6, afterItem: 2)
        #expect(snapshot.itemIdentifiers(inSection: "a") == [1, 3, 5, 7])
        #expect(snapshot.itemIdentifiers(inSection: "b") == [2, 6])
        #expect(snapshot.indexOfItem(6) == 5)
        #expect(snapshot.indexOfItem(4) == nil)
        #expect(snapshot.sectionIdentifier(containingItem: 1) == "a")
        snapshot.insertSections(["c"], beforeSection: "a")
        snapshot.insertSections(["d"], afterSection: "a")
        snapshot.moveSection("b", beforeSection: "c")
        snapshot.moveSection("c", afterSection: "d")
        #expect(snapshot.sectionIdentifiers == ["b", "a", "d", "c"])
        #expect(snapshot.indexOfSection("d") == 2)
        #expect(snapshot.indexOfItem(1) == 2)
        snapshot.reloadItems([1, 3])
        snapshot.reconfigureItems([5])
        snapshot.reloadSections(["a", "d"])
        snapshot.deleteItems([1])
        #expect(snapshot.reloadedItemIdentifiers == [3])
        snapshot.deleteSections(["a"])
        #expect(snapshot.reloadedSectionIdentifiers == ["d"])
        #expect(snapshot.reconfiguredItemIdentifiers.isEmpty)
        #expect(snapshot.numberOfItems == 2)
        snapshot.deleteAllItems()
        #expect(snapshot.numberOfSections == 0)
    }

    @Test func bothFormsOfASnapshotTurnIntoEachOther() {
        var snapshot = NSDiffableDataSourceSnapshot<String, Int>()
        snapshot.appendSections(["a", "b"])
        snapshot.appendItems([1, 2], toSection: "a")
        snapshot.reloadItems([2])
        let reference = snapshot as NSDiffableDataSourceSnapshotReference
        reference.appendItems(withIdentifiers: [3], intoSectionWithIdentifier: "b")
        #expect(reference.itemIdentifiers as? [Int] == [1, 2, 3])
        #expect(reference.index(ofItemIdentifier: 3) == 2)
        #expect(reference.index(ofItemIdentifier: 9) == NSNotFound)
        #expect(snapshot.numberOfItems == 2)
        snapshot.appendItems([3], toSection: "b")
        #expect(reference as NSDiffableDataSourceSnapshot<String, Int> == snapshot)
        let untyped: Any = reference
        #expect(untyped as? NSDiffableDataSourceSnapshot<Int, Int> == nil)
    }
}
