import CoreData
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The checks that `OPENCOREDATA_CONCURRENCY_DEBUG` turns on. Each test runs in a process of its
/// own, which sets the variable before the framework looks at it.
struct ConcurrencyDebugTests {
    /// The output of a process that was stopped.
    private func complaint(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    private static func debuggedLibrary() throws -> Library {
        setenv("OPENCOREDATA_CONCURRENCY_DEBUG", "1", 1)
        let library = try Library()
        library.context.name = "importer"
        return library
    }

    @Test func aReadOffTheQueueStopsTheProgramAndNamesTheObject() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let library = try Self.debuggedLibrary()
            let ada = library.context.performAndWait { library.context.author("Ada") }
            _ = ada.name
        }
        let text = complaint(result)
        for part in ["Concurrency violation", "Author.name", "private queue", "importer", "Called by"] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
    }

    @Test func aWriteOffTheQueueStopsTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let library = try Self.debuggedLibrary()
            let ada = library.context.performAndWait { library.context.author("Ada") }
            ada.born = 1815
        }
        #expect(complaint(result).contains("Concurrency violation"))
    }

    @Test func aRelationshipReadOnTheQueueOfAnotherContextStopsTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let library = try Self.debuggedLibrary()
            let ada = library.context.performAndWait { library.context.author("Ada") }
            let other = library.newContext()
            other.name = "reader"
            other.performAndWait { _ = ada.books }
        }
        let text = complaint(result)
        #expect(text.contains("Author.books"), "\(text)")
        #expect(text.contains("the queue of another context \"reader\""), "\(text)")
    }

    @Test func theMessageNamesTheQueueOfTheWrongUse() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let library = try Self.debuggedLibrary()
            let ada = library.context.performAndWait { library.context.author("Ada") }
            nonisolated(unsafe) let object = ada
            DispatchQueue.global().sync { _ = object.name }
        }
        #expect(complaint(result).contains("the queue 'com.apple.root.default-qos'"), "\(complaint(result))")
    }

    @Test func aFetchOffTheQueueStopsTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let library = try Self.debuggedLibrary()
            _ = try library.context.authors()
        }
        #expect(complaint(result).contains("asked to fetch"))
    }

    @Test func workOnTheRightQueueGoesOn() async {
        await #expect(processExitsWith: .success) {
            let library = try Self.debuggedLibrary()
            let context = library.context
            try context.performAndWait {
                let ada = context.author("Ada", born: 1815)
                let notes = context.book("Notes", pages: 3, by: ada, tags: [context.tag("red")])
                try context.save()
                context.refreshAllObjects()
                precondition(ada.name == "Ada" && ada.born == 1815 && ada.books == [notes])
                precondition(notes.tags.count == 1 && notes.author === ada)
                notes.pages = 4
                context.delete(ada)
                try context.save()
                let titles = try context.titles("pages == 4")
                precondition(titles == ["Notes"])
            }
            let other = library.newContext()
            other.automaticallyMergesChangesFromParent = true
            let count = try other.performAndWait { try other.books().count }
            precondition(count == 1)
            let found = try await other.perform {
                let request = NSFetchRequest<LibraryBook>(entityName: "Book")
                request.fetchBatchSize = 1
                return try other.fetch(request).map(\.title)
            }
            precondition(found == ["Notes"])
            exit(0)
        }
    }

    @Test func withoutTheVariableNothingIsChecked() async {
        await #expect(processExitsWith: .success) {
            setenv("OPENCOREDATA_CONCURRENCY_DEBUG", "0", 1)
            let library = try Library()
            let ada = library.context.performAndWait { library.context.author("Ada") }
            precondition(ada.name == "Ada")
            exit(0)
        }
    }
}
