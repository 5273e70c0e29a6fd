import Foundation
import TestSupport
import Testing

@testable import CoreData

/// The requests of a fetch to stores, and its results, with rows that a test has written.
struct FetchExecutorTests {
    private func request(_ resultType: NSFetchRequestResultType = .managedObjectResultType) -> NSFetchRequest<
        NSFetchRequestResult
    > {
        let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Author")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.resultType = resultType
        return request
    }

    private func names(_ fetched: FetchExecutor<NSFetchRequestResult>.Fetched) -> [String?] {
        guard case .objects(let objects) = fetched else { return [] }
        return objects.map { $0.value(forKey: "name") as? String }
    }

    @Test func eachResultTypeAsksForNoMoreThanItNeeds() throws {
        let stack = try ScriptedStack()
        func shape(_ request: NSFetchRequest<NSFetchRequestResult>) throws -> StoreFetch.Shape? {
            _ = try FetchExecutor(request, in: stack.context).run()
            return stack.rows.fetches.last?.shape
        }
        #expect(try shape(request()) == .rows)
        #expect(try shape(request(.managedObjectIDResultType)) == .references)
        #expect(try shape(request(.dictionaryResultType)) == .dictionaries)
        #expect(try shape(request(.countResultType)) == .count)
        #expect(stack.rows.fetches.last?.sortDescriptors.isEmpty == true)
        let faults = request()
        faults.includesPropertyValues = false
        #expect(try shape(faults) == .references)
        #expect(stack.rows.fetches.count == 5)
    }

    @Test func rowsBecomeTheContextsObjectsInTheirOrder() throws {
        let stack = try ScriptedStack()
        let known = try stack.author(7, "Ann")
        stack.rows.rows.append(try stack.rows.row("Author", 3, ["name": .string("Bob")]))
        guard case .objects(let objects) = try FetchExecutor(request(), in: stack.context).run() else {
            Issue.record("expected objects")
            return
        }
        #expect(objects.map(\.key) == [7, 3])
        #expect(objects.first === known)
    }

    @Test func unsavedChangesAreLaidOverWhatTheStoreKnows() throws {
        let stack = try ScriptedStack()
        let (ann, zoe) = (try stack.author(1, "Ann"), try stack.author(2, "Zoe"))
        stack.context.author("Mia")
        zoe.name = "Abe"
        stack.context.delete(ann)
        #expect(try names(FetchExecutor(request(), in: stack.context).run()) == ["Abe", "Mia"])
        let counted = try FetchExecutor(request(), in: stack.context).count()
        #expect(counted == 2)
        // A limit counts what is left once the changes are known.
        let limited = request()
        limited.fetchOffset = 1
        limited.fetchLimit = 1
        #expect(try names(FetchExecutor(limited, in: stack.context).run()) == ["Mia"])
    }

    @Test func aRequestThatWantsNoUnsavedChangesHandsItsLimitToTheStore() throws {
        let stack = try ScriptedStack()
        _ = try stack.author(1, "Ann")
        stack.context.author("Mia")
        let request = request()
        request.includesPendingChanges = false
        (request.fetchLimit, request.fetchOffset) = (5, 2)
        let executor = try FetchExecutor(request, in: stack.context)
        #expect(try executor.plan().overlay == nil)
        #expect(names(try executor.run()) == ["Ann"])
        let asked = try #require(stack.rows.fetches.last)
        #expect((asked.limit, asked.offset) == (5, 2))
    }

    @Test func severalStoresAreMergedInOrderAndCutOnce() throws {
        let stack = try ScriptedStack(stores: 2)
        let (first, second) = (try #require(stack.stores[0].rows), try #require(stack.stores[1].rows))
        first.rows = try [(1, "Ann"), (2, "Eve")].map { try first.row("Author", $0, ["name": .string($1)]) }
        second.rows = try [(1, "Bob"), (2, "Mia")].map { try second.row("Author", $0, ["name": .string($1)]) }
        let request = request()
        (request.fetchLimit, request.fetchOffset) = (2, 1)
        #expect(try names(FetchExecutor(request, in: stack.context).run()) == ["Bob", "Eve"])
        // Each of them may have all of the first three.
        for rows in [first, second] {
            let asked = try #require(rows.fetches.last)
            #expect((asked.limit, asked.offset) == (3, 0))
        }
        #expect(try FetchExecutor(request, in: stack.context).count() == 2)
    }

    @Test func onlyTheNamedStoresAreAsked() throws {
        let stack = try ScriptedStack(stores: 2)
        let request = request()
        request.affectedStores = [stack.stores[1]]
        _ = try FetchExecutor(request, in: stack.context).run()
        #expect(stack.stores.map { $0.rows?.fetches.count } == [0, 1])
    }

    @Test func resultsOfAnotherTypeThanDeclaredAreRefusedByName() throws {
        let stack = try ScriptedStack()
        _ = try stack.author(1, "Ann")
        let request = NSFetchRequest<LibraryBook>(entityName: "Author")
        let executor = try FetchExecutor(request, in: stack.context)
        let error = try #require(errorThrown { _ = try executor.results() })
        #expect(error.localizedDescription.contains("LibraryAuthor"))
        #expect(error.localizedDescription.contains("LibraryBook"))
    }

    @Test func namesThatTheModelLacksAreFoundBeforeAStoreIsAsked() throws {
        let stack = try ScriptedStack()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Autor")
        let error = try #require(errorThrown { _ = try FetchExecutor(request, in: stack.context).results() })
        #expect(error.localizedDescription.contains("Autor"))
        #expect(error.localizedRecoverySuggestion?.contains("Author") == true)
        #expect(stack.rows.fetches.isEmpty)
    }
}
