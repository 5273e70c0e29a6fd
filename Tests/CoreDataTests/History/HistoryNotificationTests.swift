import CoreData
import TestSupport
import Testing

/// Tokens in notifications, and what other contexts do with the history (behaviours 249, 255 to
/// 258).
@Suite(.stores(StoreKind.complete)) struct HistoryNotificationTests {
    @Test("255: a context merges the notification of a transaction") func aContextMergesATransaction() throws {
        let stack = try RecordedStack()
        let (kept, gone) = (stack.insert("Person", ["name": "a"]), stack.insert("Person", ["name": "b"]))
        try stack.save()
        let other = stack.newContext()
        let objects = try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
        let seen = Dictionary(uniqueKeysWithValues: objects.map { ($0.objectID, $0) })
        _ = objects.map { $0.value(forKey: "name") }
        let token = stack.token
        try stack.save {
            kept.setValue("c", forKey: "name")
            stack.context.delete(gone)
            stack.insert("Person", ["name": "d"])
        }
        let transaction = try #require(try stack.transactions(after: token).first)
        let notification = transaction.objectIDNotification()
        #expect((notification.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID>)?.count == 1)
        other.mergeChanges(fromContextDidSave: notification)
        #expect(seen[kept.objectID]?.value(forKey: "name") as? String == "c")
        #expect(seen[gone.objectID]?.isDeleted == true)
        let left = try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
        #expect(left.compactMap { $0.value(forKey: "name") as? String }.sorted() == ["c", "d"])
    }

    @Test("255: batch requests reach contexts by the history") func batchRequestsReachContexts() throws {
        let stack = try RecordedStack()
        let person = stack.insert("Person", ["name": "a"])
        try stack.save()
        let token = stack.token
        let update = NSBatchUpdateRequest(entityName: "Person")
        update.propertiesToUpdate = ["name": "b"]
        try stack.newContext().execute(update)
        #expect(person.value(forKey: "name") as? String == "a")
        for transaction in try stack.transactions(after: token) {
            stack.context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
        }
        #expect(person.value(forKey: "name") as? String == "b")
    }

    @Test("256: a save's notifications have the token of its transaction") func aSaveTellsItsToken() throws {
        let stack = try RecordedStack()
        let names = [
            NSManagedObjectContext.didSaveObjectsNotification, NSManagedObjectContext.didSaveObjectIDsNotification,
        ]
        let logs = names.map { NotificationLog($0, from: stack.context) }
        try stack.save { stack.insert("Thing") }
        for log in logs {
            #expect(log.all.last?.userInfo?["newChangeToken"] as? NSPersistentHistoryToken == stack.token)
        }
        try stack.save { stack.insert("Thing") }
        for log in logs {
            #expect(log.all.last?.userInfo?["newChangeToken"] as? NSPersistentHistoryToken == stack.token)
        }
    }

    @Test("256: without history there is no token") func withoutHistoryThereIsNoToken() throws {
        let stack = try RecordedStack(options: [:])
        let log = NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: stack.context)
        try stack.save { stack.insert("Thing") }
        #expect(log.count == 1)
        #expect(log.all.last?.userInfo?["newChangeToken"] == nil)
        #expect(stack.token == nil)
        #expect(try stack.transactions() == [])
        #expect(try stack.result(.fetchHistory(after: .distantPast), .count) as Int == 0)
        #expect(try stack.result(.deleteHistory(before: .distantFuture)) as Bool)
    }

    @Test("249: the current token covers all stores") func theCurrentTokenCoversAllStores() throws {
        let stack = try RecordedStack()
        try stack.save { stack.insert("Thing") }
        let folder = try TemporaryFolder()
        let kind = StoreKind.current
        let second = try stack.coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: kind.url(folder.file("second.sqlite")),
            options: RecordedStack.tracking)
        try stack.save { stack.context.assign(stack.insert("Thing"), to: second) }
        let all = try #require(stack.token)
        #expect(stack.coordinator.currentPersistentHistoryToken(fromStores: []) == all)
        let one = try #require(stack.coordinator.currentPersistentHistoryToken(fromStores: [second]))
        #expect(one != all)
        #expect(try stack.transactions(after: all).isEmpty)
        // The token of one store says nothing of the other.
        #expect(try stack.transactions(after: one).map(\.storeID) == [stack.store.identifier])
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: .distantPast)
        #expect(try stack.result(request, .count) as Int == 2)
        request.affectedStores = [second]
        let found: [NSPersistentHistoryTransaction] = try stack.result(request, .transactionsAndChanges)
        #expect(found.map(\.storeID) == [second.identifier])
        #expect(found.first?.changes?.first?.changedObjectID.persistentStore === second)
    }
}

/// The same of several coordinators with one store, as several processes have it.
@Suite(.stores(StoreKind.persistent)) struct SharedHistoryTests {
    let stack: RecordedStack

    init() throws { stack = try RecordedStack() }

    @Test("248: tokens of two coordinators are equal") func tokensOfTwoCoordinatorsAreEqual() throws {
        let other = try stack.newStackContext()
        try stack.save { stack.insert("Thing") }
        #expect(other.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil) == stack.token)
        NSEntityDescription.insertNewObject(forEntityName: "Thing", into: other)
        try other.save()
        #expect(other.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil) == stack.token)
        #expect(try stack.transactions().map(\.transactionNumber) == [1, 2])
    }

    @Test("255: another coordinator's changes are merged") func anotherCoordinatorsChangesAreMerged() throws {
        let person = stack.insert("Person", ["name": "a"])
        try stack.save()
        let other = try stack.newStackContext()
        let same = try #require(try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).first)
        let token = stack.token
        same.setValue("b", forKey: "name")
        try other.save()
        for transaction in try stack.transactions(after: token) {
            stack.context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
        }
        #expect(person.value(forKey: "name") as? String == "b")
        #expect(try stack.changes("changedObjectID == %@", same.objectID).count == 2)
    }

    @Test("257: a remote change has the token of the save") func aRemoteChangeHasAToken() async throws {
        let options = RecordedStack.tracking.merging(
            [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true]) { $1 }
        let stack = try RecordedStack(options: options)
        let other = try stack.newStackContext(options)
        let changes = NotificationCenter.default.notifications(
            named: .NSPersistentStoreRemoteChange, object: stack.coordinator)
        var iterator = changes.makeAsyncIterator()
        try stack.save { stack.insert("Thing") }
        let first = stack.token
        NSEntityDescription.insertNewObject(forEntityName: "Thing", into: other)
        try other.save()
        var tokens: [NSPersistentHistoryToken?] = []
        // The other coordinator writes twice: it takes a key before it saves.
        while tokens.last != stack.token, let change = await iterator.next() {
            let token = change.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
            if tokens.last != token { tokens.append(token) }
        }
        #expect(tokens == [first, stack.token])
    }

    @Test("258: without the option a recorded store is only read, with its history") func aRecordedStoreIsRead() throws
    {
        try stack.save { stack.insert("Thing") }
        let reader = try stack.newStackContext([:])
        NSEntityDescription.insertNewObject(forEntityName: "Thing", into: reader)
        #expect(throws: (any Error).self) { try reader.save() }
        let found: [NSPersistentHistoryTransaction] = try stack.result(.fetchHistory(after: .distantPast), in: reader)
        #expect(try found == stack.transactions())
        #expect(throws: (any Error).self) {
            try reader.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: .distantFuture))
        }
        #expect(try stack.transactions().count == 1)
    }

    @Test func theHistoryOfAPinnedContextIsTheNewest() throws {
        // Contexts cannot be pinned to a state of a server.
        if StoreKind.current != .sqlite { return }
        try stack.save { stack.insert("Thing") }
        let reader = stack.newContext()
        try reader.setQueryGenerationFrom(.current)
        #expect(try reader.count(for: NSFetchRequest<NSManagedObject>(entityName: "Thing")) == 1)
        try stack.save { stack.insert("Thing") }
        #expect(try reader.count(for: NSFetchRequest<NSManagedObject>(entityName: "Thing")) == 1)
        let found: [NSPersistentHistoryTransaction] = try stack.result(.fetchHistory(after: .distantPast), in: reader)
        #expect(found.count == 2)
    }

    @Test func aTokenIsOfUseAfterTheStoreWasOpenedAgain() throws {
        try stack.save { stack.insert("Thing") }
        let token = stack.token
        try stack.save { stack.insert("Thing") }
        try stack.coordinator.remove(stack.store)
        let again = try stack.newStackContext()
        let found: [NSPersistentHistoryTransaction] = try stack.result(.fetchHistory(after: token), in: again)
        #expect(found.map(\.transactionNumber) == [2])
    }

    @Test func transactionsOutliveTheirStore() throws {
        try stack.save { stack.insert("Thing") }
        let transactions = try stack.transactions()
        try stack.coordinator.remove(stack.store)
        #expect(transactions.first?.changes?.map(\.words) == ["1 insert Thing/p1"])
        #expect(transactions.first?.storeID.isEmpty == false)
    }

    /// The rows are those of a store that never had more.
    @Test func aPurgeLeavesWholeTransactions() throws {
        if StoreKind.current != .sqlite { return }
        for _ in 1...3 { try stack.save { stack.insert("Person") } }
        _ = try stack.result(.deleteHistory(before: try stack.transactions()[2])) as Bool
        let file = SQLiteFile(try #require(stack.url))
        #expect(file.column("SELECT Z_PK FROM ATRANSACTION") == ["3"])
        #expect(file.column("SELECT ZTRANSACTIONID FROM ACHANGE") == ["3"])
        #expect(file.value("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'TRANSACTION'") == "3")
        try stack.save { stack.insert("Person") }
        #expect(file.column("SELECT Z_PK FROM ATRANSACTION") == ["3", "4"])
    }
}
