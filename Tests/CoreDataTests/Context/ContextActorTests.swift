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

/// An actor that owns a context with one author.
private actor Register: ContextActor {
    let context: NSManagedObjectContext
    private var author: LibraryAuthor?
    private(set) var count = 0

    init(_ context: NSManagedObjectContext) { self.context = context }

    func add(_ name: String) throws {
        author = context.author(name)
        try context.save()
    }

    func addWithoutSaving(_ name: String) { context.author(name) }

    /// Raises the author's number, which takes a moment.
    func raise() {
        guard let author else { return }
        let born = author.born
        sched_yield()
        author.born = born + 1
    }

    var born: Int16? { author?.born }

    func note() { count += 1 }

    /// The same from code that runs on the actor's executor already.
    nonisolated func noteHere() { assumeIsolated { $0.note() } }

    func nested() throws -> Int { try context.performAndWait { try context.authors().count } }

    func namesAfterABlock(_ name: String) async throws -> [String?] {
        let context = context
        await context.perform { _ = context.author(name) }
        return try context.names()
    }

    func isOnMainActor() -> Bool {
        MainActor.assertIsolated()
        return true
    }
}

struct ContextActorTests {
    let library: Library

    init() throws { library = try Library() }

    private func mainContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = library.coordinator
        return context
    }

    @Test func methodsUseTheContextWithoutPerform() async throws {
        try await Register(library.context).add("Ada")
        #expect(library.file.column("SELECT ZNAME FROM ZAUTHOR") == ["Ada"])
    }

    @Test func methodsAndBlocksOfTheContextExcludeEachOther() async throws {
        let context = library.context
        let register = Register(context)
        try await register.add("Ada")
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<400 {
                if number.isMultiple(of: 2) {
                    group.addTask { await register.raise() }
                } else {
                    group.addTask { await context.perform { register.assumeIsolated { $0.raise() } } }
                }
            }
        }
        #expect(await register.born == 400)
    }

    @Test func twoActorsOfOneContextExcludeEachOther() async throws {
        let (first, second) = (Register(library.context), Register(library.context))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask { await first.note() }
                group.addTask { await second.note() }
            }
        }
        library.context.performAndWait {
            #expect(first.assumeIsolated { $0.count } == 200)
            #expect(second.assumeIsolated { $0.count } == 200)
        }
    }

    @Test func aMethodMayCallPerformAndWaitOfItsContext() async throws {
        let register = Register(library.context)
        try await register.add("Ada")
        #expect(try await register.nested() == 1)
    }

    @Test func aMethodMayAwaitABlockOfItsContext() async throws {
        #expect(try await Register(library.context).namesAfterABlock("Ida") == ["Ida"])
    }

    @Test func pendingChangesAreProcessedWhenAMethodReturns() async throws {
        let log = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: library.context)
        await Register(library.context).addWithoutSaving("Ada")
        library.context.performAndWait {}
        #expect(log.count == 1)
    }

    @Test func aBlockOfTheContextIsIsolatedToTheActor() async {
        let register = Register(library.context)
        library.context.performAndWait { register.noteHere() }
        #expect(await register.count == 1)
    }

    @Test func anActorOfTheMainQueuesContextRunsOnTheMainActor() async {
        #expect(await Register(mainContext()).isOnMainActor())
    }

    @Test @MainActor func theMainActorIsIsolatedToAnActorOfTheMainQueuesContext() async {
        let register = Register(mainContext())
        register.noteHere()
        #expect(await register.count == 1)
    }

    @Test func anActorOfAChildSavesToTheMainQueuesContext() async throws {
        let main = mainContext()
        try await Register(main.newChild()).add("Ada")
        #expect(try await main.perform { try main.names() } == ["Ada"])
        #expect(library.file.column("SELECT ZNAME FROM ZAUTHOR").isEmpty)
    }

    @Test func anActorMayOutliveEveryOtherReferenceToItsContext() async throws {
        let register = Register(library.coordinator.newContext())
        try await register.add("Ada")
        #expect(await register.born == 0)
    }

    @Test func assumingIsolationOffTheQueueStopsTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let library = try Library()
            library.context.name = "importer"
            let register = Register(library.context)
            DispatchQueue(label: "elsewhere").sync { register.noteHere() }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("importer"), "\(text)")
    }

    @Test func methodsPassTheCheckOfQueues() async {
        await #expect(processExitsWith: .success) {
            setenv("OPENCOREDATA_CONCURRENCY_DEBUG", "1", 1)
            let library = try Library()
            let register = Register(library.context)
            try await register.add("Ada")
            await register.raise()
            let born = await register.born
            precondition(born == 1)
            exit(0)
        }
    }
}
