import CoreData
import TestSupport
import Testing

/// How much of a history is kept.
@Suite(.stores(StoreKind.complete)) struct HistoryRetentionTests {
    private func stack(_ retention: HistoryRetention?) throws -> RecordedStack {
        try RecordedStack(options: Self.options(retention))
    }

    private static func options(_ retention: HistoryRetention?) -> [AnyHashable: Any] {
        let description = NSPersistentStoreDescription()
        description.historyRetention = retention
        #expect(description.historyRetention == retention)
        return RecordedStack.tracking.merging(description.options) { $1 }
    }

    private func save(_ count: Int, _ stack: RecordedStack) throws {
        for _ in 0..<count { try stack.save { stack.insert("Thing") } }
    }

    private func numbers(_ stack: RecordedStack) throws -> [Int64] {
        try stack.transactions().map(\.transactionNumber)
    }

    /// The transactions, which end with the last one and have no gap.
    private func expectKept(_ stack: RecordedStack, _ count: ClosedRange<Int>, of all: Int) throws {
        let kept = try numbers(stack)
        #expect(count.contains(kept.count), "\(kept.count) of \(all)")
        #expect(kept == Array(Int64(all - kept.count + 1)...Int64(all)))
    }

    @Test func aHistoryIsWholeWithoutARetention() throws {
        let stack = try stack(nil)
        try save(100, stack)
        try expectKept(stack, 100...100, of: 100)
    }

    @Test func theLastTransactionsAreKept() throws {
        let stack = try stack(HistoryRetention(maximumCount: 10))
        try save(100, stack)
        try expectKept(stack, 10...26, of: 100)
    }

    @Test func youngTransactionsAreKept() throws {
        let stack = try stack(HistoryRetention(maximumAge: 3600))
        try save(100, stack)
        try expectKept(stack, 100...100, of: 100)
    }

    @Test func oldTransactionsAreDeleted() throws {
        let stack = try stack(HistoryRetention(maximumAge: 0))
        try save(96, stack)
        // The last one stays: it shows that the store has a history.
        try expectKept(stack, 1...1, of: 96)
    }

    @Test func batchRequestsAreStepsToo() throws {
        let stack = try stack(HistoryRetention(maximumCount: 10))
        for _ in 1...100 {
            _ = try stack.context.execute(NSBatchInsertRequest(entityName: "Thing", objects: [["name": "t"]]))
        }
        try expectKept(stack, 10...26, of: 100)
    }

    @Test func rowsStay() throws {
        let stack = try stack(HistoryRetention(maximumCount: 1))
        try save(40, stack)
        #expect(try stack.newContext().count(for: NSFetchRequest<NSManagedObject>(entityName: "Thing")) == 40)
    }

    @Test func largeTransactionsAreDeletedOneByOne() throws {
        let stack = try stack(HistoryRetention(maximumCount: 1))
        for _ in 1...4 { try stack.save { for _ in 1...6_000 { stack.insert("Thing") } } }
        try save(12, stack)
        // The first step deletes one of them and stops.
        #expect(try numbers(stack).first == 2)
        try save(16, stack)
        #expect(try numbers(stack).first == 3)
    }

    // MARK: - Readers

    @Test func whatAReaderHasNotReadIsKept() throws {
        let stack = try stack(HistoryRetention(maximumAge: 0, maximumCount: 1, deletesReadTransactions: true))
        try save(5, stack)
        let read = try #require(stack.token)
        try stack.coordinator.setHistoryToken(read, forReader: "slow")
        try save(100, stack)
        #expect(try numbers(stack) == Array(6...105))
        try stack.coordinator.setHistoryToken(nil, forReader: "slow")
        try save(20, stack)
        try expectKept(stack, 0...17, of: 125)
    }

    @Test func whatAllReadersHaveReadIsDeleted() throws {
        let stack = try stack(HistoryRetention(deletesReadTransactions: true))
        try save(20, stack)
        try expectKept(stack, 20...20, of: 20)
        try stack.coordinator.setHistoryToken(stack.token, forReader: "fast")
        let places = try numbers(stack)
        let slow = try stack.transactions()[places.count - 6].token
        try stack.coordinator.setHistoryToken(slow, forReader: "slow")
        try save(20, stack)
        try expectKept(stack, 25...25, of: 40)
        try stack.coordinator.setHistoryToken(stack.token, forReader: "slow")
        try stack.coordinator.setHistoryToken(stack.token, forReader: "fast")
        try save(20, stack)
        try expectKept(stack, 4...20, of: 60)
    }

    @Test func aReaderHasAPlaceOfItsOwn() throws {
        let stack = try stack(nil)
        #expect(try stack.coordinator.historyToken(forReader: "a") == nil)
        try save(1, stack)
        let first = try #require(stack.token)
        try stack.coordinator.setHistoryToken(first, forReader: "a")
        try save(1, stack)
        try stack.coordinator.setHistoryToken(stack.token, forReader: "b")
        #expect(try stack.coordinator.historyToken(forReader: "a") == first)
        #expect(try stack.coordinator.historyToken(forReader: "b") == stack.token)
        try stack.coordinator.setHistoryToken(nil, forReader: "a")
        #expect(try stack.coordinator.historyToken(forReader: "a") == nil)
        #expect(try stack.coordinator.historyToken(forReader: "b") == stack.token)
    }

    @Test func readersOfOtherStoresAreRefused() throws {
        let (stack, other) = (try stack(nil), try stack(nil))
        try save(1, other)
        let error = #expect(throws: CocoaError.self) {
            try stack.coordinator.setHistoryToken(other.token, forReader: "a")
        }
        #expect(error?.code == .persistentStoreOperation)
        #expect(error?.localizedDescription.contains("'a'") == true)
        #expect(try stack.coordinator.historyToken(forReader: "a") == nil)
    }

    /// Random saves, readers that move, come and go, and requests that delete by hand.
    @Test(arguments: 1...(LongTests.areEnabled ? 40 : 4)) func randomReadersMissNothing(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let stack = try stack(
            HistoryRetention(
                maximumAge: seed % 3 == 0 ? 0 : nil, maximumCount: seed % 2 == 0 ? 5 : nil,
                deletesReadTransactions: true))
        var places: [String: Int64] = [:]
        var last: Int64 = 0
        for _ in 1...(LongTests.areEnabled ? 300 : 75) {
            let name = "reader \(Int.random(in: 1...3, using: &generator))"
            switch Int.random(in: 0..<12, using: &generator) {
            case 0:
                try stack.coordinator.setHistoryToken(nil, forReader: name)
                places[name] = nil
            case 1...3:
                let token = try stack.coordinator.historyToken(forReader: name)
                #expect((token == nil) == (places[name] == nil))
                // Throws where a transaction that it has not read is gone.
                let next = try stack.transactions(after: token)
                if let place = places[name] { #expect(next.map(\.transactionNumber) == Array(place + 1..<last + 1)) }
                guard let read = next.prefix(Int.random(in: 1...8, using: &generator)).last else { continue }
                try stack.coordinator.setHistoryToken(read.token, forReader: name)
                places[name] = read.transactionNumber
            default:
                try save(1, stack)
                last += 1
            }
        }
        let kept = try numbers(stack)
        #expect(kept == Array((kept.first ?? last + 1)..<last + 1))
        for place in places.values { #expect(place + 1 >= kept.first ?? last + 1) }
    }
}

/// The places of readers in the metadata of a store.
@Suite(.stores(StoreKind.persistent)) struct HistoryReaderTests {
    private func insert(_ stack: RecordedStack) throws -> NSPersistentHistoryToken {
        try stack.save { stack.insert("Thing") }
        return try #require(stack.token)
    }

    @Test func aPlaceSurvivesClosing() throws {
        let stack = try RecordedStack()
        let token = try insert(stack)
        try stack.coordinator.setHistoryToken(token, forReader: "uploader")
        try stack.coordinator.remove(stack.store)
        let other = try #require(try stack.newStackContext().persistentStoreCoordinator)
        #expect(try other.historyToken(forReader: "uploader") == token)
    }

    @Test func coordinatorsSeeEachOthersPlaces() throws {
        let stack = try RecordedStack()
        let other = try #require(try stack.newStackContext().persistentStoreCoordinator)
        let token = try insert(stack)
        try stack.coordinator.setHistoryToken(token, forReader: "a")
        #expect(try other.historyToken(forReader: "a") == token)
        let later = try insert(stack)
        try other.setHistoryToken(later, forReader: "b")
        #expect(try stack.coordinator.historyToken(forReader: "b") == later)
        #expect(try stack.coordinator.historyToken(forReader: "a") == token)
    }

    @Test func metadataOfAProgramLeaveReadersAlone() throws {
        let stack = try RecordedStack()
        let token = try insert(stack)
        try stack.coordinator.setHistoryToken(token, forReader: "a")
        stack.coordinator.setMetadata(["mine": "1"], for: stack.store)
        let later = try insert(stack)
        #expect(try stack.coordinator.historyToken(forReader: "a") == token)
        try stack.coordinator.setHistoryToken(later, forReader: "a")
        stack.coordinator.setMetadata(["mine": "2"], for: stack.store)
        _ = try insert(stack)
        #expect(try stack.coordinator.historyToken(forReader: "a") == later)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: stack.store.type, at: #require(stack.url), options: nil)
        #expect(metadata["mine"] as? String == "2")
    }

    @Test func aMigrationKeepsPlaces() throws {
        let stack = try RecordedStack()
        let token = try insert(stack)
        try stack.coordinator.setHistoryToken(token, forReader: "a")
        try stack.coordinator.remove(stack.store)
        let model = RecordedStack.model()
        model.entitiesByName["Thing"]?.properties.append(NSAttributeDescription("weight", .doubleAttributeType))
        let other = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try other.addPersistentStore(
            ofType: StoreKind.current.type, configurationName: nil, at: stack.url,
            options: RecordedStack.tracking.merging([
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            ]) { $1 })
        #expect(try other.historyToken(forReader: "a") == token)
        #expect(other.currentPersistentHistoryToken(fromStores: nil) == token)
    }

    @Test func aPlaceIsKeptWhereTheMetadataWereLost() throws {
        if StoreKind.current != .sqlite { return }
        let stack = try RecordedStack()
        let token = try insert(stack)
        try SQLiteFile(#require(stack.url)).run("DELETE FROM Z_METADATA")
        try stack.coordinator.setHistoryToken(token, forReader: "a")
        #expect(try stack.coordinator.historyToken(forReader: "a") == token)
        try stack.coordinator.remove(stack.store)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: stack.store.type, at: #require(stack.url), options: nil)
        #expect(RecordedStack.model().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(metadata[NSStoreUUIDKey] as? String == stack.store.identifier)
    }

    @Test func aCopyHasAHistoryOfItsOwn() throws {
        let stack = try RecordedStack()
        let token = try insert(stack)
        try stack.coordinator.setHistoryToken(token, forReader: "a")
        let url = try #require(StoreKind.current.url(stack.file("copy.sqlite")))
        _ = try stack.coordinator.migratePersistentStore(
            stack.store, to: url, options: RecordedStack.tracking, withType: StoreKind.current.type)
        #expect(try stack.coordinator.historyToken(forReader: "a") == nil)
    }

    @Test func aLongHistoryBecomesShorter() throws {
        let stack = try RecordedStack()
        for _ in 1...600 { _ = try insert(stack) }
        try stack.coordinator.remove(stack.store)
        let description = NSPersistentStoreDescription(url: try #require(stack.url))
        description.type = StoreKind.current.type
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        description.historyRetention = HistoryRetention(maximumCount: 10)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: RecordedStack.model())
        var failure: (any Error)?
        coordinator.addPersistentStore(with: description) { failure = $1 }
        if let failure { throw failure }
        let context = coordinator.newContext()
        var counts: [Int] = []
        for _ in 1...49 {
            _ = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            try context.save()
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: .distantPast)
            request.resultType = .count
            counts.append((try context.execute(request) as? NSPersistentHistoryResult)?.result as? Int ?? -1)
        }
        #expect(counts[0] == 601 - 256)
        #expect(counts[48] == 10)
    }

    @Test func descriptionsCompareTheirRetentions() {
        let description = NSPersistentStoreDescription()
        description.historyRetention = HistoryRetention(maximumCount: 3)
        let copy = description.copy() as? NSPersistentStoreDescription
        #expect(copy?.historyRetention == HistoryRetention(maximumCount: 3))
        #expect(copy == description)
        copy?.historyRetention = nil
        #expect(copy != description)
    }
}
