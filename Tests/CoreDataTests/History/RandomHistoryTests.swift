import CoreData
import TestSupport
import Testing

/// Random saves and batch requests, and random requests for their history, against a record that
/// the test keeps by itself.
@Suite(.stores(StoreKind.complete)) struct RandomHistoryTests {
    private struct Change: Hashable {
        var transaction: Int
        var kind: Int
        var entity: String
        var key: Int
    }

    private struct Transaction {
        var author: String?
        var changes: Set<Change> = []
    }

    /// A condition as a predicate and as a closure.
    private struct Condition {
        let predicate: NSPredicate
        let holds: (Change, String?) -> Bool
    }

    private final class Recorder {
        let stack: RecordedStack
        var transactions: [Transaction] = []
        var generator: SeededGenerator
        private var objects: [NSManagedObject] = []

        init(seed: UInt64) throws {
            stack = try RecordedStack()
            generator = SeededGenerator(seed: seed)
        }

        var objectIDs: [NSManagedObjectID] { objects.map(\.objectID) }

        private func change(_ object: NSManagedObject, _ kind: Int) -> Change {
            let uri = object.objectID.uriRepresentation().lastPathComponent
            return Change(
                transaction: transactions.count + 1, kind: kind, entity: object.entity.name ?? "",
                key: Int(uri.dropFirst()) ?? 0)
        }

        func step() throws {
            let author = ["app", "sync", nil].randomElement(using: &generator) ?? nil
            stack.context.transactionAuthor = author
            if Int.random(in: 0..<4, using: &generator) == 0 { return try batch(author) }
            var inserted: [NSManagedObject] = []
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let entity = ["Person", "Member", "Thing"].randomElement(using: &generator) ?? ""
                inserted.append(stack.insert(entity, ["name": "n\(objects.count)"]))
            }
            var touched: [NSManagedObject] = []
            for object in objects.shuffled(using: &generator).prefix(3) {
                object.setValue("m\(transactions.count)", forKey: "name")
                touched.append(object)
            }
            let gone = Int.random(in: 0..<2, using: &generator) == 0 ? objects.randomElement(using: &generator) : nil
            if let gone { stack.context.delete(gone) }
            try stack.context.save()
            var transaction = Transaction(author: author)
            for object in inserted { transaction.changes.insert(change(object, 0)) }
            for object in touched where object !== gone { transaction.changes.insert(change(object, 1)) }
            if let gone { transaction.changes.insert(change(gone, 2)) }
            transactions.append(transaction)
            objects += inserted
            objects.removeAll { $0 === gone }
        }

        private func batch(_ author: String?) throws {
            let token = stack.token
            let update = NSBatchUpdateRequest(entityName: "Thing")
            update.propertiesToUpdate = ["name": "b\(transactions.count)"]
            try stack.context.execute(update)
            let things = objects.filter { $0.entity.name == "Thing" }
            if things.isEmpty { return }
            transactions.append(Transaction(author: author, changes: Set(things.map { change($0, 1) })))
            for transaction in try stack.transactions(after: token) {
                stack.context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
            }
        }

        // MARK: Requests

        func condition(depth: Int = 0) throws -> Condition {
            let count = transactions.count
            switch Int.random(in: 0..<(depth < 3 ? 9 : 6), using: &generator) {
            case 0:
                let kind = Int.random(in: 0...2, using: &generator)
                return Condition(predicate: NSPredicate(format: "changeType == %d", kind)) { change, _ in
                    change.kind == kind
                }
            case 1:
                let entity = ["Person", "Member", "Thing"].randomElement(using: &generator) ?? ""
                let description = try #require(stack.coordinator.managedObjectModel.entitiesByName[entity])
                return Condition(predicate: NSPredicate(format: "changedEntity == %@", description)) { change, _ in
                    change.entity == entity
                }
            case 2:
                let ids = objectIDs.shuffled(using: &generator).prefix(3)
                let places = ids.map { id in
                    (id.entity.name ?? "", Int(id.uriRepresentation().lastPathComponent.dropFirst()) ?? 0)
                }
                return Condition(predicate: NSPredicate(format: "changedObjectID IN %@", Array(ids))) { change, _ in
                    places.contains { $0.0 == change.entity && $0.1 == change.key }
                }
            case 3:
                let number = Int.random(in: 0...count, using: &generator)
                return Condition(predicate: NSPredicate(format: "transactionNumber > %d", number)) { change, _ in
                    change.transaction > number
                }
            case 4:
                return Condition(predicate: NSPredicate(format: "transaction.author == 'app'")) { _, author in
                    author == "app"
                }
            case 5:
                return Condition(predicate: NSPredicate(format: "transaction.author == nil")) { _, author in
                    author == nil
                }
            case 6:
                let (first, second) = (try condition(depth: depth + 1), try condition(depth: depth + 1))
                let both = NSCompoundPredicate(andPredicateWithSubpredicates: [first.predicate, second.predicate])
                return Condition(predicate: both) { first.holds($0, $1) && second.holds($0, $1) }
            case 7:
                let (first, second) = (try condition(depth: depth + 1), try condition(depth: depth + 1))
                let either = NSCompoundPredicate(orPredicateWithSubpredicates: [first.predicate, second.predicate])
                return Condition(predicate: either) { first.holds($0, $1) || second.holds($0, $1) }
            default:
                let other = try condition(depth: depth + 1)
                return Condition(predicate: NSCompoundPredicate(notPredicateWithSubpredicate: other.predicate)) {
                    !other.holds($0, $1)
                }
            }
        }

        /// The changes that requests give, as the test keeps them.
        func changes(of found: [NSPersistentHistoryChange]) -> Set<Change> {
            Set(
                found.map { found in
                    Change(
                        transaction: Int(found.transaction?.transactionNumber ?? 0), kind: found.changeType.rawValue,
                        entity: found.changedObjectID.entity.name ?? "",
                        key: Int(found.changedObjectID.uriRepresentation().lastPathComponent.dropFirst()) ?? 0)
                })
        }
    }

    @Test(arguments: 1...(LongTests.areEnabled ? 6 : 2) as ClosedRange<UInt64>)
    func theHistoryIsWhatWasDone(seed: UInt64) throws {
        let recorder = try Recorder(seed: seed)
        let stack = recorder.stack
        for _ in 0..<25 { try recorder.step() }
        let all = try stack.transactions()
        #expect(all.map(\.author) == recorder.transactions.map(\.author))
        #expect(all.map { recorder.changes(of: $0.changes ?? []) } == recorder.transactions.map(\.changes))
        for _ in 0..<40 {
            let condition = try recorder.condition()
            let expected = Set(
                recorder.transactions.flatMap { transaction in
                    transaction.changes.filter { condition.holds($0, transaction.author) }
                })
            let request = try #require(NSPersistentHistoryChange.fetchRequest)
            request.predicate = condition.predicate
            let history = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: request)
            let found: [NSPersistentHistoryChange] = try stack.result(history)
            #expect(recorder.changes(of: found) == expected, "\(condition.predicate)")
            #expect(found.map(\.changeID) == found.map(\.changeID).sorted())
            #expect(try stack.result(history, .count) as Int == expected.count)
            let grouped: [NSPersistentHistoryTransaction] = try stack.result(history, .transactionsAndChanges)
            #expect(grouped.map { Int($0.transactionNumber) } == Set(expected.map(\.transaction)).sorted())
            #expect(recorder.changes(of: grouped.flatMap { $0.changes ?? [] }) == expected)
        }
    }

    /// Readers that stop anywhere see each transaction once, whatever is deleted behind them.
    @Test(arguments: 1...4 as ClosedRange<UInt64>) func readersMissNothing(seed: UInt64) throws {
        let recorder = try Recorder(seed: seed)
        let stack = recorder.stack
        var places: [NSPersistentHistoryToken?] = [nil, nil, nil]
        var seen: [[Int64]] = [[], [], []]
        for _ in 0..<40 {
            try recorder.step()
            let reader = Int.random(in: 0..<3, using: &recorder.generator)
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: places[reader])
            request.fetchRequest = NSPersistentHistoryTransaction.fetchRequest
            request.fetchRequest?.fetchLimit = Int.random(in: 1...5, using: &recorder.generator)
            let found: [NSPersistentHistoryTransaction] = try stack.result(request)
            seen[reader] += found.map(\.transactionNumber)
            if let last = found.last { places[reader] = last.token }
            // Only what all have seen is deleted.
            let least = seen.map { $0.last ?? 0 }.min() ?? 0
            if least > 1, let slowest = places.first(where: { $0?.number(of: stack) == least }) ?? nil {
                _ = try stack.result(.deleteHistory(before: slowest)) as Bool
            }
        }
        for reader in 0..<3 {
            let rest = try stack.transactions(after: places[reader])
            #expect(seen[reader] + rest.map(\.transactionNumber) == recorder.transactions.indices.map { Int64($0 + 1) })
        }
    }
}

extension NSPersistentHistoryToken {
    /// The number of the transaction, from the token's archive.
    fileprivate func number(of stack: RecordedStack) -> Int64? {
        let data = try? JSONEncoder().encode(self)
        let numbers = data.flatMap { try? JSONDecoder().decode([String: Int64].self, from: $0) }
        return numbers?[stack.store.identifier]
    }
}
