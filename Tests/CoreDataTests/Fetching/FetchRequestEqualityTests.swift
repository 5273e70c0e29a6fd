import CoreData
import TestSupport
import Testing

struct FetchRequestEqualityTests {
    private func request() -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.predicate = NSPredicate(format: "name == %@", "Ada")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.propertiesToFetch = ["name"]
        return request
    }

    @Test("343: requests that say the same are equal, whatever they give") func requestsThatSayTheSameAreEqual() {
        let (first, second) = (request(), request())
        #expect(first == second)
        #expect(first.hash == second.hash)
        #expect(first.copy() as? NSFetchRequest<NSManagedObject> == second)
        let other = NSFetchRequest<any NSFetchRequestResult>(entityName: "Author")
        #expect(!other.isEqual(first))
        other.predicate = first.predicate
        other.sortDescriptors = first.sortDescriptors
        other.propertiesToFetch = first.propertiesToFetch
        #expect(other.isEqual(first))
        #expect(first.isEqual(other))
        #expect(other.hash == first.hash)
        #expect(!first.isEqual(NSObject()))
    }

    @Test("343: executing one makes it no other") func executingOneMakesItNoOther() throws {
        let library = try Library()
        let (first, second) = (request(), request())
        for request in [first, second] {
            request.resultType = .dictionaryResultType
            request.propertiesToGroupBy = ["name"]
        }
        _ = try library.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author"))
        #expect(first == second)
        _ = try library.context.execute(first)
        #expect(first == second)
        #expect(second == first)
    }

    @Test("343: one that differs in anything is another") func oneThatDiffersIsAnother() throws {
        let store = try Library().store
        let changes: [(NSFetchRequest<NSManagedObject>) -> Void] = [
            { $0.predicate = nil }, { $0.sortDescriptors = nil }, { $0.fetchLimit = 1 }, { $0.fetchOffset = 1 },
            { $0.fetchBatchSize = 1 },
            { $0.resultType = .managedObjectIDResultType }, { $0.includesSubentities = false },
            { $0.includesPendingChanges = false },
            { $0.includesPropertyValues = false }, { $0.returnsObjectsAsFaults = false },
            { $0.shouldRefreshRefetchedObjects = true },
            { $0.relationshipKeyPathsForPrefetching = ["books"] }, { $0.propertiesToFetch = ["born"] },
            { $0.propertiesToGroupBy = ["name"] },
            { $0.havingPredicate = NSPredicate(value: true) }, { $0.returnsDistinctResults = true },
            { $0.affectedStores = [store] },
        ]
        for (index, change) in changes.enumerated() {
            let changed = request()
            change(changed)
            #expect(changed != request(), "change \(index)")
            let same = request()
            change(same)
            #expect(changed == same, "change \(index)")
        }
        #expect(
            NSFetchRequest<NSManagedObject>(entityName: "Author") != NSFetchRequest<NSManagedObject>(entityName: "Book")
        )
    }
}
