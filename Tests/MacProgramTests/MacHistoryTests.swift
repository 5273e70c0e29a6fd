import CoreData
import Synchronization
import TestSupport
import Testing

/// Programs that follow a store by its history, as Apple's articles on it do, in our own words.
struct MacHistoryTests: MacModelKit {
    /// An application whose view shows some of the objects, while imports go on beside it.
    private final class Shop: @unchecked Sendable {
        // Sendable: the token is used on `historyQueue` alone, everything else does not change.

        let container: NSPersistentContainer
        private let tokenFile: URL
        private let historyQueue = OperationQueue()
        private var lastToken: NSPersistentHistoryToken? {
            didSet {
                guard let token = lastToken,
                    let data = try? NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
                else { return }
                try? data.write(to: tokenFile)
            }
        }

        init(_ url: URL, tokenFile: URL) throws {
            historyQueue.maxConcurrentOperationCount = 1
            self.tokenFile = tokenFile
            container = NSPersistentContainer(name: "Shop", managedObjectModel: MacHistoryTests.model())
            let description = NSPersistentStoreDescription(url: url)
            description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
            description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
            container.persistentStoreDescriptions = [description]
            var failure: (any Error)?
            container.loadPersistentStores { failure = $1 }
            if let failure { throw failure }
            container.viewContext.transactionAuthor = "view"
            if let data = try? Data(contentsOf: tokenFile) {
                lastToken = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data)
            }
        }

        /// Merges what others have done to items, and remembers the place. Returns the number of
        /// transactions that it has seen.
        func followHistory() throws -> Int {
            let outcome = Mutex(Result<Int, any Error>.success(0))
            historyQueue.addOperations(
                [
                    BlockOperation {
                        let seen = Result { try self.processHistory() }
                        outcome.withLock { $0 = seen }
                    }
                ], waitUntilFinished: true)
            return try outcome.withLock { $0 }.get()
        }

        private func processHistory() throws -> Int {
            let context = container.newBackgroundContext()
            return try context.performAndWait {
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: lastToken)
                let others = try #require(NSPersistentHistoryTransaction.fetchRequest)
                others.predicate = NSPredicate(format: "author != %@", "view")
                request.fetchRequest = others
                let result = try context.execute(request) as? NSPersistentHistoryResult
                let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
                let view = container.viewContext
                for transaction in transactions
                where transaction.changes?.contains(where: { $0.changedObjectID.entity.name == "Item" }) == true {
                    view.performAndWait { view.mergeChanges(fromContextDidSave: transaction.objectIDNotification()) }
                }
                if let last = transactions.last { lastToken = last.token }
                return transactions.count
            }
        }

        func clean(before date: Date) throws {
            let context = container.newBackgroundContext()
            try context.performAndWait {
                _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: date))
            }
        }
    }

    private static func model() -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        let sku = attribute("sku")
        sku.preservesValueInHistoryOnDeletion = true
        model.entities = [entity("Item", [sku, attribute("name")]), entity("Log", [attribute("text")])]
        return model
    }

    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func shop() throws -> Shop { try Shop(folder.file("shop.sqlite"), tokenFile: folder.file("token")) }

    private func imported(_ shop: Shop, _ skus: [String]) throws {
        let context = shop.container.newBackgroundContext()
        try context.performAndWait {
            context.transactionAuthor = "import"
            let rows = skus.map { ["sku": $0, "name": "new"] as [String: Any] }
            try context.execute(NSBatchInsertRequest(entityName: "Item", objects: rows))
        }
    }

    @Test func theViewFollowsAnImport() throws {
        let shop = try shop()
        let view = shop.container.viewContext
        let log = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: view)
        try imported(shop, ["b", "a"])
        #expect(log.count == 0)
        #expect(try shop.followHistory() == 1)
        let inserted = view.performAndWait {
            view.processPendingChanges()
            return log.all.flatMap { $0.objects(NSInsertedObjectsKey) }.compactMap {
                $0.value(forKey: "sku") as? String
            }
        }
        #expect(inserted.sorted() == ["a", "b"])
        #expect(try shop.followHistory() == 0)
    }

    @Test func theViewPassesOverItsOwnSaves() throws {
        let shop = try shop()
        NSEntityDescription.insertNewObject(forEntityName: "Item", into: shop.container.viewContext)
        try shop.container.viewContext.save()
        #expect(try shop.followHistory() == 0)
    }

    @Test func aProgramGoesOnWhereItWas() throws {
        do {
            let shop = try shop()
            try imported(shop, ["a"])
            #expect(try shop.followHistory() == 1)
            try imported(shop, ["b"])
        }
        let again = try shop()
        #expect(try again.followHistory() == 1)
        #expect(try again.followHistory() == 0)
    }

    @Test func aProgramThatWasAwayTooLongIsTold() throws {
        let shop = try shop()
        try imported(shop, ["a"])
        #expect(try shop.followHistory() == 1)
        try imported(shop, ["b"])
        try shop.clean(before: .distantFuture)
        let error = #expect(throws: CocoaError.self) { try shop.followHistory() }
        #expect(error?.code.rawValue == NSPersistentHistoryTokenExpiredError)
    }

    @Test func anUploaderLearnsWhatWasDeleted() throws {
        let shop = try shop()
        try imported(shop, ["a", "b"])
        let context = shop.container.newBackgroundContext()
        try context.performAndWait {
            let all = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
            for item in all where item.value(forKey: "sku") as? String == "b" { context.delete(item) }
            try context.save()
            let deletions = try #require(NSPersistentHistoryChange.fetchRequest)
            deletions.predicate = NSPredicate(
                format: "changeType == %d", NSPersistentHistoryChangeType.delete.rawValue)
            let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: deletions)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let changes = try #require(result?.result as? [NSPersistentHistoryChange])
            #expect(changes.map { $0.tombstone?["sku"] as? String } == ["b"])
        }
    }
}
