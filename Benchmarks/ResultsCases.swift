import CoreData
import Foundation

// Fetched results controllers: what one saved change costs over many objects, against what it costs
// over few.

extension Harness {
    func followResults() throws {
        let name = "R1 controller: 500 saved changes of 100,000 and of 1,000"
        guard wants(name) else { return }
        let (many, few) = (try FollowedResults(100_000, self), try FollowedResults(1000, self))
        try compare(name, bound: 1.5) {
            try many.changes(500)
        } raw: {
            try few.changes(500)
        }
        withExtendedLifetime((many, few)) {}
    }
}

/// A controller over a number of rows, and a delegate that counts its calls.
private final class FollowedResults: NSObject, NSFetchedResultsControllerDelegate {
    private let context: NSManagedObjectContext
    private let controller: NSFetchedResultsController<Wide>
    private var calls = 0
    private var next = 0

    init(_ count: Int, _ harness: Harness) throws {
        context = harness.context(try harness.wideStore(count).coordinator)
        let request = NSFetchRequest<Wide>(entityName: "Wide")
        request.predicate = NSPredicate(format: "a >= 0")
        request.sortDescriptors = [NSSortDescriptor(key: "b", ascending: true)]
        controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        super.init()
        controller.delegate = self
        try controller.performFetch()
    }

    /// The seconds that moves of objects take, each saved by itself.
    func changes(_ count: Int) throws -> Double {
        guard let first = controller.sections?.first else { return 0 }
        let size = first.numberOfObjects
        let before = calls
        let seconds = try Harness.time {
            for _ in 0..<count {
                next += 1
                let object = controller.object(at: IndexPath(item: next &* 7919 % size, section: 0))
                object.b = Int64(next &* 104_729 % (size &* 3))
                try context.save()
            }
        }
        precondition(calls - before == count, "A change was not told.")
        return seconds
    }

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {}

    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) { calls += 1 }
}
