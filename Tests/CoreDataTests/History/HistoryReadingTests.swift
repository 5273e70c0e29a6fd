import CoreData
import TestSupport
import Testing

/// What the history says of saves and batch requests (behaviours 245 to 251).
@Suite(.stores(StoreKind.complete)) struct HistoryReadingTests {
    let stack: RecordedStack

    init() throws { stack = try RecordedStack() }

    @Test("245: each save is one transaction with its changes") func eachSaveIsOneTransaction() throws {
        let person = stack.insert("Person", ["name": "Ada"])
        stack.insert("Thing")
        try stack.save()
        person.setValue("Bob", forKey: "name")
        try stack.save()
        stack.context.delete(person)
        try stack.save()
        let transactions = try stack.transactions()
        #expect(transactions.map(\.transactionNumber) == [1, 2, 3])
        #expect(
            transactions.map { $0.changes?.map(\.words).sorted() } == [
                ["1 insert Person/p1", "1 insert Thing/p1"], ["2 update Person/p1"], ["3 delete Person/p1"],
            ])
    }

    @Test("246: a transaction says when, where and by whom") func aTransactionSaysWhenAndByWhom() throws {
        stack.context.name = "main"
        let before = Date()
        try stack.save(as: "app") { stack.insert("Thing") }
        stack.context.name = nil
        try stack.save { stack.insert("Thing") }
        let transactions = try stack.transactions()
        #expect(transactions.map(\.author) == ["app", nil])
        #expect(transactions.map(\.contextName) == ["main", nil])
        #expect(transactions.allSatisfy { $0.storeID == stack.store.identifier })
        #expect(transactions.allSatisfy { $0.processID == ProcessInfo.processInfo.processName })
        #expect(transactions.allSatisfy { !$0.bundleID.isEmpty })
        #expect(transactions.allSatisfy { $0.timestamp >= before.addingTimeInterval(-0.001) && $0.timestamp <= Date() })
        #expect(transactions.last?.token == stack.token)
    }

    @Test("247: without a token all transactions come, the oldest first") func withoutATokenAllCome() throws {
        for _ in 1...3 { try stack.save { stack.insert("Thing") } }
        let all: [NSPersistentHistoryTransaction] = try stack.result(.fetchHistory(after: .distantPast))
        #expect(all.map(\.transactionNumber) == [1, 2, 3])
        #expect(try stack.transactions() == all)
        let first: NSPersistentHistoryTransaction? = nil
        #expect(try stack.result(.fetchHistory(after: first)) == all)
        #expect(try stack.result(.fetchHistory(after: all[0])) == Array(all[1...]))
        #expect(try stack.transactions(after: all[1].token) == [all[2]])
        #expect(try stack.result(.fetchHistory(after: all[1].timestamp)) == [all[2]])
        #expect(try stack.transactions(after: stack.token).isEmpty)
    }

    @Test("248: tokens of one place are equal and survive archives") func tokensSurviveArchives() throws {
        try stack.save { stack.insert("Thing") }
        let token = try #require(stack.token)
        #expect(try stack.transactions().last?.token == token)
        let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data))
        #expect(read == token)
        #expect(read.hash == token.hash)
        let decoded = try JSONDecoder().decode(NSPersistentHistoryToken.self, from: JSONEncoder().encode(token))
        #expect(decoded == token)
        try stack.save { stack.insert("Thing") }
        let later = try #require(stack.token)
        #expect(later != token)
        #expect(token.isEarlier(than: later))
        #expect(!later.isEarlier(than: token))
        #expect(!token.isEarlier(than: token))
        #expect(try stack.transactions(after: decoded).map(\.token) == [later])
    }

    @Test("250: the result has the form that was asked for") func theResultHasItsForm() throws {
        let person = stack.insert("Person")
        try stack.save { stack.insert("Thing") }
        try stack.save { person.setValue("Ada", forKey: "name") }
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: .distantPast)
        #expect(request.resultType == .transactionsAndChanges)
        #expect(try stack.result(request, .statusOnly) as Bool)
        #expect(try stack.result(request, .count) as Int == 2)
        let only: [NSPersistentHistoryTransaction] = try stack.result(request, .transactionsOnly)
        #expect(only.map { $0.changes?.count } == [nil, nil])
        let changes: [NSPersistentHistoryChange] = try stack.result(request, .changesOnly)
        #expect(changes.count == 3)
        #expect(changes.map(\.changeID) == [1, 2, 3])
        let ids: [NSManagedObjectID] = try stack.result(request, .objectIDs)
        #expect(ids.count == 2)
        #expect(Set(ids).contains(person.objectID))
        let both: [NSPersistentHistoryTransaction] = try stack.result(request, .transactionsAndChanges)
        #expect(both.flatMap { $0.changes ?? [] } == changes)
        #expect(both.map { $0.changes?.count } == [2, 1])
        #expect(changes.last?.transaction == both.last)
    }

    @Test("251: an update names the properties that it changed") func anUpdateNamesItsProperties() throws {
        let person = stack.insert("Person", ["name": "Ada", "address": ["city": "Oslo"]])
        let thing = stack.insert("Thing")
        try stack.save()
        try stack.save {
            person.setValue("Bob", forKey: "name")
            person.setValue("Bergen", forKeyPath: "address.city")
            thing.setValue(person, forKey: "owner")
        }
        let changes = try stack.changes("changeType == 1")
        let names = Dictionary(
            uniqueKeysWithValues: changes.map {
                ($0.changedObjectID.entity.name, Set(($0.updatedProperties ?? []).map(\.name)))
            })
        #expect(names == ["Person": ["name", "address", "things"], "Thing": ["owner"]])
        let owners = Set(changes.flatMap { ($0.updatedProperties ?? []).map { ObjectIdentifier($0.entity) } })
        #expect(owners == Set(changes.map { ObjectIdentifier($0.changedObjectID.entity) }))
        #expect(try stack.changes("changeType != 1").allSatisfy { $0.updatedProperties == nil })
        #expect(changes.allSatisfy { $0.tombstone == nil })
    }

    private let id = UUID()
    private let born = Date(timeIntervalSinceReferenceDate: 12.5)

    @Test("251: a deletion keeps the preserved values, as they were at last") func aDeletionKeepsValues() throws {
        let member = stack.insert(
            "Member",
            ["name": "Ada", "born": born, "id": id, "level": 3, "address": ["city": "Oslo"], "note": "secret"])
        let person = stack.insert("Person")
        let thing = stack.insert("Thing", ["name": "t"])
        try stack.save()
        try stack.save {
            member.setValue(NSDecimalNumber(string: "1234567.25"), forKey: "pay")
            for object in [member, person, thing] { stack.context.delete(object) }
        }
        let changes = try stack.changes("changeType == 2")
        let tombstones = Dictionary(
            uniqueKeysWithValues: changes.map { ($0.changedObjectID.entity.name ?? "", $0.tombstone) })
        let values = try #require(tombstones["Member"] ?? nil)
        #expect(Set(values.keys.map { $0.base as? String }) == ["name", "born", "id", "level", "address", "pay"])
        #expect(values["name"] as? String == "Ada")
        #expect(values["born"] as? Date == born)
        #expect(values["id"] as? UUID == id)
        #expect(values["level"] as? NSNumber == 3)
        #expect(values["address"] as? [String: String] == ["city": "Oslo"])
        #expect(values["pay"] as? NSDecimalNumber == NSDecimalNumber(string: "1234567.25"))
        #expect(tombstones["Person"]??.isEmpty == true)
        #expect(changes.filter { $0.tombstone == nil }.map(\.changedObjectID) == [thing.objectID])
    }

    @Test("245: batch requests are transactions with an author") func batchRequestsAreRecorded() throws {
        stack.context.transactionAuthor = "import"
        let rows = (1...3).map { ["name": "p\($0)"] as [String: Any] }
        try stack.context.execute(NSBatchInsertRequest(entityName: "Person", objects: rows))
        let update = NSBatchUpdateRequest(entityName: "Person")
        update.predicate = NSPredicate(format: "name == 'p2'")
        update.propertiesToUpdate = ["note": "n"]
        try stack.context.execute(update)
        let old = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
        old.predicate = NSPredicate(format: "name != 'p2'")
        try stack.context.execute(NSBatchDeleteRequest(fetchRequest: old))
        let transactions = try stack.transactions()
        #expect(transactions.map(\.author) == ["import", "import", "import"])
        #expect(
            transactions.map { $0.changes?.map(\.words).sorted() } == [
                ["1 insert Person/p1", "1 insert Person/p2", "1 insert Person/p3"], ["2 update Person/p2"],
                ["3 delete Person/p1", "3 delete Person/p3"],
            ])
        #expect(transactions[1].changes?.first?.updatedProperties?.map(\.name) == ["note"])
        let names = transactions[2].changes?.compactMap { $0.tombstone?["name"] as? String }
        #expect(names?.sorted() == ["p1", "p3"])
    }

    @Test("245: a save of a child is recorded with its parent's save") func aChildIsRecordedWithItsParent() throws {
        let child = stack.context.newChild()
        NSEntityDescription.insertNewObject(forEntityName: "Thing", into: child)
        try child.save()
        #expect(try stack.transactions().isEmpty)
        try stack.save()
        #expect(try stack.transactions().map { $0.changes?.count } == [1])
        // A child asks the stores, whatever it reads otherwise.
        let seen: [NSPersistentHistoryTransaction] = try stack.result(.fetchHistory(after: .distantPast), in: child)
        #expect(seen.first?.changes?.map(\.words) == ["1 insert Thing/p1"])
    }

    @Test func aFailedSaveIsNotRecorded() throws {
        let thing = stack.insert("Thing", ["name": "t"])
        try stack.save()
        let other = stack.newContext()
        try #require(try other.existingObject(with: thing.objectID) as NSManagedObject?).setValue("u", forKey: "name")
        try other.save()
        thing.setValue("v", forKey: "name")
        #expect(throws: (any Error).self) { try stack.context.save() }
        #expect(try stack.transactions().count == 2)
        stack.context.rollback()
        try stack.save { stack.insert("Thing") }
        #expect(try stack.transactions().map(\.transactionNumber) == [1, 2, 3])
    }

    @Test func thingsOfTheHistoryMayCrossThreads() async throws {
        try stack.save { stack.insert("Thing") }
        let transactions = try stack.transactions()
        let words = await Task.detached { transactions.flatMap { $0.changes ?? [] }.map(\.words) }.value
        #expect(words == ["1 insert Thing/p1"])
    }
}
