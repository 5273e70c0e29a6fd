import CoreData
import TestSupport
import Testing

/// Fetches that read while the context's queue is free (behaviour 193).
@Suite(.serialized) struct AsynchronousFetchTests {
    private func library(_ kind: StoreKind) throws -> Library {
        let library = try Library(kind)
        let ada = library.context.author("Ada")
        for (title, pages) in [("Analysis", 90), ("Notes", 20), ("Sketches", 300)] {
            library.context.book(title, pages: Int32(pages), by: ada)
        }
        try library.context.save()
        return library
    }

    private func request(_ format: String? = nil, _ arguments: [Any] = []) -> NSFetchRequest<LibraryBook> {
        let request = NSFetchRequest<LibraryBook>(entityName: "Book")
        request.predicate = format.map { NSPredicate(format: $0, argumentArray: arguments) }
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return request
    }

    /// Runs an asynchronous fetch and gives what `body` makes of its result on the context's queue.
    private func fetched<ResultType, Value: Sendable>(
        _ request: NSFetchRequest<ResultType>, in context: NSManagedObjectContext,
        before: (NSAsynchronousFetchResult<ResultType>) -> Void = { _ in },
        _ body: @escaping (NSAsynchronousFetchResult<ResultType>) -> Value
    ) async throws -> Value {
        let outcome = AsyncStream.makeStream(of: Value.self)
        let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { result in
            outcome.continuation.yield(body(result))
            outcome.continuation.finish()
        }
        let result = try #require(try context.execute(asynchronous) as? NSAsynchronousFetchResult<ResultType>)
        before(result)
        for await value in outcome.stream { return value }
        throw CancellationError()
    }

    @Test(arguments: StoreKind.allCases)
    func theCompletionGetsTheObjectsOnTheContextsQueue(_ kind: StoreKind) async throws {  // 193
        let library = try library(kind)
        let context = library.newContext()
        let outcome = try await fetched(request("pages > 50"), in: context) { result in
            let objects = result.finalResult ?? []
            return (
                titles: objects.map(\.title),
                isOnQueue: (try? NSFetchRequest<LibraryBook>(entityName: "Book").execute()) != nil,
                error: result.operationError == nil,
                areOfContext: objects.allSatisfy { $0.managedObjectContext === context }
            )
        }
        #expect(outcome.titles == ["Analysis", "Sketches"])
        #expect(outcome.isOnQueue)
        #expect(outcome.error)
        #expect(outcome.areOfContext)
    }

    @Test func theResultNamesItsRequestAndContext() async throws {  // 193
        let library = try library(.sqlite)
        let context = library.newContext()
        var early: NSAsynchronousFetchResult<LibraryBook>?
        let titles = try await fetched(
            request(), in: context,
            before: { result in
                early = result
                #expect(result.fetchRequest.fetchRequest.entityName == "Book")
            }
        ) { $0.finalResult?.count }
        #expect(titles == 3)
        #expect(early?.managedObjectContext === context)
        withExtendedLifetime(library) {}
    }

    @Test func theResultIsEmptyUntilTheQueueIsFree() throws {  // 193
        let library = try library(.sqlite)
        let context = library.newContext()
        let done = DispatchSemaphore(value: 0)
        try context.performAndWait {
            let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request()) { _ in done.signal() }
            let result = try #require(try context.execute(asynchronous) as? NSAsynchronousFetchResult<LibraryBook>)
            // The objects are made on the queue, which this block holds.
            #expect(result.finalResult == nil)
        }
        done.wait()
    }

    @Test func unsavedChangesCount() async throws {  // 174, 193
        let library = try library(.sqlite)
        let context = library.newContext()
        try context.performAndWait {
            context.book("Yet unsaved", pages: 400)
            try #require(try context.books("title == 'Notes'").first).pages = 500
        }
        let titles = try await fetched(request("pages > 100"), in: context) { $0.finalResult?.map(\.title) }
        #expect(titles == ["Notes", "Sketches", "Yet unsaved"])
    }

    /// Also where the context had other changes when the store was asked.
    @Test(arguments: [false, true])
    func changesMadeWhileTheStoreIsReadCount(hasEarlierChanges: Bool) throws {  // 174, 193
        let library = try library(.sqlite)
        let context = library.newContext()
        let done = DispatchSemaphore(value: 0)
        let found = Titles()
        try context.performAndWait {
            let limited = request("pages > 100")
            limited.fetchLimit = 1
            if hasEarlierChanges { context.book("Too short", pages: 1) }
            _ = try context.execute(
                NSAsynchronousFetchRequest(fetchRequest: limited) { result in
                    found.values = result.finalResult?.map { $0.title ?? "" } ?? []
                    done.signal()
                })
            context.book("A new one", pages: 400)
        }
        done.wait()
        #expect(found.values == ["A new one"])
    }

    /// Titles that one thread writes before another reads them.
    private final class Titles: @unchecked Sendable {
        var values: [String] = []
    }

    @Test func objectsInPredicatesAreFound() async throws {  // 193
        let library = try library(.sqlite)
        let context = library.newContext()
        let predicates = try context.performAndWait {
            let ada = try #require(try context.authors().first)
            return [
                NSPredicate(format: "author == %@", ada), NSPredicate(format: "author IN %@", [ada]),
                NSPredicate(format: "author IN %@ AND pages < 100", Set([ada])),
            ]
        }
        var counts: [Int?] = []
        for predicate in predicates {
            let request = request()
            request.predicate = predicate
            counts.append(try await fetched(request, in: context) { $0.finalResult?.count })
        }
        #expect(counts == [3, 3, 2])
    }

    @Test func otherResultTypesAreFetchedToo() async throws {  // 193
        let library = try library(.sqlite)
        let context = library.newContext()
        let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Book")
        ids.resultType = .managedObjectIDResultType
        #expect(try await fetched(ids, in: context) { $0.finalResult?.count } == 3)
        let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Book")
        dictionaries.resultType = .dictionaryResultType
        dictionaries.propertiesToFetch = ["title"]
        #expect(try await fetched(dictionaries, in: context) { $0.finalResult?.count } == 3)
    }

    @Test func aCancelledFetchEndsWithNoObjectsAndNoError() throws {  // 193
        let library = try library(.sqlite)
        let context = library.newContext()
        let done = DispatchSemaphore(value: 0)
        let calls = Counter()
        let result = try context.performAndWait {
            let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request()) { _ in
                calls.increase()
                done.signal()
            }
            let result = try #require(try context.execute(asynchronous) as? NSAsynchronousFetchResult<LibraryBook>)
            result.cancel()
            return result
        }
        done.wait()
        #expect(result.finalResult == [])
        #expect(result.operationError == nil)
        #expect(calls.value == 1)
    }

    @Test func theProgressOfTheCallerCoversTheFetchAndCancelsIt() throws {  // 193
        let library = try library(.sqlite)
        let context = library.newContext()
        let done = DispatchSemaphore(value: 0)
        let whole = Progress(totalUnitCount: 1)
        let result = try context.performAndWait {
            whole.becomeCurrent(withPendingUnitCount: 1)
            defer { whole.resignCurrent() }
            let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request()) { _ in done.signal() }
            asynchronous.estimatedResultCount = 3
            let result = try #require(try context.execute(asynchronous) as? NSAsynchronousFetchResult<LibraryBook>)
            #expect(result.progress?.totalUnitCount == 3)
            return result
        }
        done.wait()
        #expect(result.progress?.completedUnitCount == 3)
        #expect(result.finalResult?.count == 3)
    }

    @Test func aStoreThatFailsIsReportedToTheCompletion() async throws {  // 193
        let library = try library(.sqlite)
        let context = library.newContext()
        library.file.execute("DROP TABLE ZBOOK")
        let outcome = try await fetched(request(), in: context) { ($0.finalResult == nil, $0.operationError != nil) }
        #expect(outcome == (true, true))
    }

    @Test func aRequestThatMakesNoSenseIsRefusedAtOnce() throws {  // 193
        let library = try library(.sqlite)
        let unknown = NSFetchRequest<LibraryBook>(entityName: "Nothing")
        let error = errorThrown {
            try library.context.execute(NSAsynchronousFetchRequest(fetchRequest: unknown))
        }
        #expect(error?.localizedDescription.contains("Nothing") == true)
    }
}
