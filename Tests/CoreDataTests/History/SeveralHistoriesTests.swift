import CoreData
import TestSupport
import Testing

/// Requests for the histories of several stores at once.
@Suite(.stores(StoreKind.complete)) struct SeveralHistoriesTests {
    private let folder: TemporaryFolder
    private let context: NSManagedObjectContext
    private let coordinator: NSPersistentStoreCoordinator

    /// Six transactions with the authors "0" to "5", in turn in two stores.
    init() throws {
        folder = try TemporaryFolder()
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: RecordedStack.model())
        context = coordinator.newContext()
        let kind = StoreKind.current
        let stores = try ["a", "b"].map {
            try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: nil, at: kind.url(folder.file("\($0).sqlite")),
                options: RecordedStack.tracking)
        }
        for number in 0..<6 {
            let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            context.assign(thing, to: stores[number % 2])
            context.transactionAuthor = "\(number)"
            try context.save()
        }
    }

    private func result(
        of fetch: NSFetchRequest<any NSFetchRequestResult>?, _ type: NSPersistentHistoryResultType,
        _ settings: (NSFetchRequest<any NSFetchRequestResult>) -> Void
    ) throws -> Any? {
        let fetch = try #require(fetch)
        settings(fetch)
        let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
        request.resultType = type
        return (try context.execute(request) as? NSPersistentHistoryResult)?.result
    }

    private func authors(_ settings: (NSFetchRequest<any NSFetchRequestResult>) -> Void) throws -> [String?] {
        let found = try result(of: NSPersistentHistoryTransaction.fetchRequest, .transactionsAndChanges, settings)
        let transactions = try #require(found as? [NSPersistentHistoryTransaction])
        #expect(transactions.allSatisfy { $0.changes?.count == 1 })
        return transactions.map(\.author)
    }

    @Test func withoutAnOrderTheyComeByDate() throws {
        #expect(try authors { _ in } == ["0", "1", "2", "3", "4", "5"])
        #expect(try authors { $0.fetchLimit = 2 } == ["0", "1"])
        #expect(try authors { $0.fetchOffset = 5 } == ["5"])
    }

    @Test func theOrderAndTheLimitsAreThoseOfAll() throws {
        let newest = NSSortDescriptor(key: "timestamp", ascending: false)
        #expect(try authors { $0.sortDescriptors = [newest] } == ["5", "4", "3", "2", "1", "0"])
        let some = try authors {
            ($0.sortDescriptors, $0.fetchOffset, $0.fetchLimit) = ([newest], 1, 3)
        }
        #expect(some == ["4", "3", "2"])
        let byAuthor = NSSortDescriptor(key: "author", ascending: false)
        #expect(try authors { ($0.sortDescriptors, $0.fetchLimit) = ([byAuthor], 1) } == ["5"])
    }

    @Test func changesAreOrderedTogether() throws {
        let found = try result(of: NSPersistentHistoryChange.fetchRequest, .changesOnly) {
            $0.sortDescriptors = [NSSortDescriptor(key: "transaction.timestamp", ascending: false)]
            $0.fetchLimit = 3
        }
        let changes = try #require(found as? [NSPersistentHistoryChange])
        #expect(changes.map { $0.transaction?.author } == ["5", "4", "3"])
    }

    @Test func theCountIsWithinTheLimits() throws {
        func count(_ offset: Int, _ limit: Int) throws -> Int? {
            try result(of: NSPersistentHistoryTransaction.fetchRequest, .count) {
                ($0.fetchOffset, $0.fetchLimit) = (offset, limit)
            } as? Int
        }
        #expect(try count(0, 2) == 2)
        #expect(try count(5, 2) == 1)
        #expect(try count(1, 0) == 5)
        #expect(try count(7, 0) == 0)
    }
}
