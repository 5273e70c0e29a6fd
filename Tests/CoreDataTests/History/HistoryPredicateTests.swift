import CoreData
import TestSupport
import Testing

/// Requests for history with a fetch request (behaviour 254).
@Suite(.stores(StoreKind.complete)) struct HistoryPredicateTests {
    let stack: RecordedStack
    let person: NSManagedObject
    let member: NSManagedObject
    let thing: NSManagedObject

    init() throws {
        stack = try RecordedStack()
        person = stack.insert("Person", ["name": "Ada"])
        try stack.save(as: "app")
        member = stack.insert("Member", ["name": "Bob"])
        thing = stack.insert("Thing", ["name": "t"])
        try stack.save(as: "sync")
        try stack.save(as: nil) { [person, thing] in
            person.setValue("Cid", forKey: "name")
            thing.setValue("u", forKey: "name")
        }
        try stack.save(as: "app") { [stack, thing] in stack.context.delete(thing) }
    }

    private func numbers(_ format: String, _ arguments: Any...) throws -> [Int64] {
        let request = try #require(NSPersistentHistoryTransaction.fetchRequest)
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        let found: [NSPersistentHistoryTransaction] = try stack.result(.fetchHistory(withFetch: request))
        return found.map(\.transactionNumber)
    }

    @Test("254: transactions are found by their properties") func transactionsAreFound() throws {
        let all = try stack.transactions()
        #expect(try numbers("author == 'app'") == [1, 4])
        #expect(try numbers("author != %@", "app") == [2, 3])
        #expect(try numbers("author == nil") == [3])
        #expect(try numbers("author BEGINSWITH 's' OR transactionNumber == 4") == [2, 4])
        #expect(try numbers("token > %@", all[1].token) == [3, 4])
        #expect(try numbers("%@ < token", all[1].token) == [3, 4])
        #expect(try numbers("token == %@", all[0].token) == [1])
        #expect(try numbers("token IN %@", [all[0].token, all[3].token]) == [1, 4])
        #expect(try numbers("timestamp > %@", all[2].timestamp) == [4])
        #expect(try numbers("processID == %@", ProcessInfo.processInfo.processName) == [1, 2, 3, 4])
        #expect(try numbers("ANY changes.changeType == 2") == [4])
        #expect(try numbers("changes.@count == 2") == [2, 3])
        #expect(try numbers("FALSEPREDICATE") == [])
    }

    @Test("254: a fetch of transactions gives all changes of each") func allChangesOfATransactionAreGiven() throws {
        let found = try stack.transactions("author == 'sync'")
        #expect(found.first?.changes?.count == 2)
    }

    @Test("254: changes are found by kind, entity and object") func changesAreFound() throws {
        let (ada, bob, t) = (person.objectID, member.objectID, thing.objectID)
        #expect(try stack.texts("changeType == 2") == ["4 delete Thing/p1"])
        #expect(try stack.texts("changedObjectID == %@", ada) == ["1 insert Person/p1", "3 update Person/p1"])
        #expect(try stack.texts("%@ == changedObjectID AND changeType == 0", bob) == ["2 insert Member/p2"])
        #expect(
            try stack.texts("changedObjectID IN %@", [ada, t]) == [
                "1 insert Person/p1", "2 insert Thing/p1", "3 update Person/p1", "3 update Thing/p1",
                "4 delete Thing/p1",
            ])
        #expect(try stack.texts("changedObjectID != %@ AND changedObjectID != %@", ada, t) == ["2 insert Member/p2"])
        #expect(try stack.texts("changedObjectID IN %@", [] as NSArray) == [])
        let entities = NSPersistentStoreCoordinator(managedObjectModel: RecordedStack.model()).managedObjectModel
            .entitiesByName
        // Of exactly this entity, as on a Mac.
        #expect(
            try stack.texts("changedEntity == %@", try #require(entities["Person"])) == [
                "1 insert Person/p1", "3 update Person/p1",
            ])
        #expect(try stack.texts("changedObjectID.entity == %@", bob.entity) == ["2 insert Member/p2"])
        #expect(try stack.texts("transaction.author == 'app'") == ["1 insert Person/p1", "4 delete Thing/p1"])
        #expect(try stack.texts("token > %@", try stack.transactions()[2].token) == ["4 delete Thing/p1"])
        #expect(
            try stack.transactions("SUBQUERY(changes, $c, $c.changedObjectID == %@).@count > 0", ada)
                .map(\.transactionNumber) == [1, 3])
    }

    @Test("254: a fetch of changes gives transactions with what matches") func matchingChangesAreGiven() throws {
        let request = try #require(NSPersistentHistoryChange.fetchRequest)
        request.predicate = NSPredicate(format: "changeType == 1 AND changedObjectID == %@", person.objectID)
        let history = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: request)
        #expect(history.resultType == .changesOnly)
        let found: [NSPersistentHistoryTransaction] = try stack.result(history, .transactionsAndChanges)
        #expect(found.map(\.transactionNumber) == [3])
        #expect(found.first?.changes?.map(\.words) == ["3 update Person/p1"])
        #expect(try stack.result(history, .count) as Int == 1)
        #expect(try stack.result(history, .objectIDs) as [NSManagedObjectID] == [person.objectID])
    }

    @Test("254: a token and a fetch request apply together") func bothConditionsApply() throws {
        let all = try stack.transactions()
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: all[0].token)
        request.fetchRequest = NSPersistentHistoryTransaction.fetchRequest
        request.fetchRequest?.predicate = NSPredicate(format: "author == 'app'")
        #expect(try stack.result(request) == [all[3]])
        request.fetchRequest = NSPersistentHistoryChange.fetchRequest
        request.fetchRequest?.predicate = NSPredicate(format: "changeType == 0")
        let changes: [NSPersistentHistoryChange] = try stack.result(request, .changesOnly)
        #expect(changes.map(\.words).sorted() == ["2 insert Member/p2", "2 insert Thing/p1"])
        let dated = NSPersistentHistoryChangeRequest.fetchHistory(after: all[2].timestamp)
        dated.fetchRequest = NSPersistentHistoryChange.fetchRequest
        #expect(
            (try stack.result(dated, .changesOnly) as [NSPersistentHistoryChange]).map(\.words) == [
                "4 delete Thing/p1"
            ])
    }

    @Test func orderLimitAndOffsetApply() throws {
        let request = try #require(NSPersistentHistoryTransaction.fetchRequest)
        request.sortDescriptors = [NSSortDescriptor(key: "transactionNumber", ascending: false)]
        request.fetchLimit = 2
        request.fetchOffset = 1
        let history = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: request)
        let found: [NSPersistentHistoryTransaction] = try stack.result(history)
        #expect(found.map(\.transactionNumber) == [3, 2])
        #expect(found.map { $0.changes?.count } == [2, 2])
        #expect(try stack.result(history, .count) as Int == 2)
    }

    @Test func theEntitiesHaveTheNamesOfTheProperties() throws {
        let transaction = try #require(NSPersistentHistoryTransaction.entityDescription(with: stack.context))
        #expect(transaction === NSPersistentHistoryTransaction.entityDescription)
        #expect(
            Set(transaction.attributesByName.keys) == [
                "author", "bundleID", "contextName", "processID", "timestamp", "token", "transactionNumber",
            ])
        let change = try #require(NSPersistentHistoryChange.entityDescription(with: stack.context))
        #expect(change === NSPersistentHistoryChange.entityDescription)
        #expect(Set(change.attributesByName.keys).isSuperset(of: ["changedEntity", "changedID", "changeType"]))
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = transaction
        request.predicate = NSPredicate(format: "author == 'sync'")
        let found: [NSPersistentHistoryTransaction] = try stack.result(.fetchHistory(withFetch: request))
        #expect(found.map(\.transactionNumber) == [2])
    }

    @Test(arguments: ["Person", nil] as [String?]) func anotherEntityIsRefused(name: String?) throws {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        if let name { request.entity = stack.coordinator.managedObjectModel.entitiesByName[name] }
        let error = #expect(throws: CocoaError.self) {
            try stack.context.execute(NSPersistentHistoryChangeRequest.fetchHistory(withFetch: request))
        }
        #expect(error?.localizedDescription.hasPrefix("A request for history fetches") == true)
    }

    @Test(arguments: [
        "changedObjectID > %@", "ANY changedObjectID == %@", "changedObjectID == 'text' OR changedObjectID == %@",
        "changedObjectID == changedID OR changedObjectID == %@", "colour == %@",
    ]) func whatCannotBeComparedIsRefused(format: String) throws {
        #expect(throws: CocoaError.self) { try stack.texts(format, person.objectID) }
    }

    /// Only a store in memory calls a comparator, which is anyone's code.
    @Test func aComparatorMayAskForHistoryItself() throws {
        if StoreKind.current != .inMemory { return }
        let request = try #require(NSPersistentHistoryTransaction.fetchRequest)
        request.sortDescriptors = [
            NSSortDescriptor(key: "transactionNumber", ascending: false) { [stack] first, second in
                #expect((try? stack.transactions().count) == 4)
                return (first as? NSNumber ?? 0).compare(second as? NSNumber ?? 0)
            }
        ]
        let found: [NSPersistentHistoryTransaction] = try stack.result(.fetchHistory(withFetch: request))
        #expect(found.map(\.transactionNumber) == [4, 3, 2, 1])
    }

    @Test func aContextReadsItsOwnIDs() throws {
        let ids: [NSManagedObjectID] = try stack.result(.fetchHistory(after: .distantPast), .objectIDs)
        #expect(Set(ids) == [person.objectID, member.objectID, thing.objectID])
    }
}
