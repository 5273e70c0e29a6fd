import CoreData
import Synchronization
import TestSupport
import Testing

/// Blocks on the queues of contexts.
@Suite(.everyStore) struct QueueTests {
    let library: Library

    init() throws { library = try Library() }

    /// `perform(_:)` without waiting, which in an asynchronous function would be its asynchronous
    /// form.
    private func enqueue(in context: NSManagedObjectContext, _ block: @escaping @Sendable () -> Void) {
        context.perform(block)
    }

    @Test func performRunsLaterAndProcessesPendingChanges() async throws {  // 146
        let context = library.context
        let log = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: context)
        let started = Mutex(false)
        let gate = DispatchSemaphore(value: 0)
        enqueue(in: context) {
            gate.wait()
            started.withLock { $0 = true }
            context.author("Ada")
        }
        #expect(started.withLock { !$0 })
        gate.signal()
        context.performAndWait {}
        #expect(started.withLock { $0 })
        #expect(log.count == 1)
        #expect(log.all.first?.objects(NSInsertedObjectsKey).count == 1)
    }

    @Test func performAndWaitMayBeNested() {  // 146
        let context = library.context
        var order: [Int] = []
        context.performAndWait {
            order.append(1)
            context.performAndWait { order.append(2) }
            order.append(3)
        }
        #expect(order == [1, 2, 3])
    }

    @Test func performAndWaitLeavesPendingChangesAlone() throws {  // 147
        let context = library.context
        let log = NotificationLog(NSManagedObjectContext.didChangeObjectsNotification, from: context)
        context.performAndWait { _ = context.author("Ada") }
        #expect(log.count == 0)
        try context.performAndWait { try context.save() }
        #expect(log.count == 1)
    }

    @Test func blocksReturnValuesAndRethrowErrors() async throws {  // 148
        struct Refusal: Error {}
        let context = library.context
        #expect(context.performAndWait { 7 } == 7)
        #expect(throws: Refusal.self) { try context.performAndWait { throw Refusal() } }
        #expect(await context.perform { 8 } == 8)
        await #expect(throws: Refusal.self) { try await context.perform { throw Refusal() } }
        #expect(await context.perform(schedule: .enqueued) { 9 } == 9)
    }

    @Test func enqueuedBlocksRunInOrder() async {  // 149
        let context = library.context
        let order = Mutex<[Int]>([])
        for number in 0..<50 { enqueue(in: context) { order.withLock { $0.append(number) } } }
        await context.perform(schedule: .enqueued) { order.withLock { $0.append(50) } }
        #expect(order.withLock { $0 } == Array(0...50))
    }

    @Test func blocksOfOneContextNeverRunAtOnce() async {  // 146
        let context = library.context
        let running = Counter()
        let overlaps = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    await context.perform {
                        if running.increase() > 1 { overlaps.increase() }
                        running.increase(by: -1)
                    }
                }
            }
        }
        #expect(overlaps.value == 0)
    }

    @Test func aMainQueueContextRunsItsBlocksOnTheMainQueue() async {  // 150
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = library.coordinator
        // With an asynchronous entry point, as in tests, other threads than the main one may serve
        // the main queue.
        await context.perform { dispatchPrecondition(condition: .onQueue(.main)) }
        await library.context.perform { dispatchPrecondition(condition: .notOnQueue(.main)) }
        context.performAndWait { dispatchPrecondition(condition: .onQueue(.main)) }
    }

    @Test func aMainQueueContextMayBeUsedByTheMainActorAtOnce() async {  // 146, 150
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = library.coordinator
        let value = await MainActor.run {
            context.performAndWait { context.performAndWait { 7 } }
        }
        #expect(value == 7)
    }

    @Test func aRequestExecutesInTheContextOfItsBlock() throws {  // 151
        let context = library.context
        try context.performAndWait {
            context.author("Ada")
            let found = try NSFetchRequest<LibraryAuthor>(entityName: "Author").execute()
            #expect(found.map(\.name) == ["Ada"])
            #expect(found.first?.managedObjectContext === context)
        }
        #expect(throws: (any Error).self) { try NSFetchRequest<LibraryAuthor>(entityName: "Author").execute() }
    }

    @Test func managedObjectsMayBeReadInManyContextsAtOnce() async throws {  // 128
        for number in 0..<50 { library.context.book("\(number)", pages: Int32(number)) }
        try library.context.save()
        let sums = try await withThrowingTaskGroup(of: Int32.self) { group in
            for _ in 0..<6 {
                group.addTask { [coordinator = library.coordinator] in
                    let context = coordinator.newContext()
                    return try await context.perform { try context.books().reduce(0) { $0 + $1.pages } }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(sums == Array(repeating: 1225, count: 6))
    }
}

extension QueueTests {
    /// As with Apple's newer SDKs: what is given to another queue need not be sent there by the
    /// main actor.
    @MainActor @Test func blocksOfOtherQueuesAreGivenFromTheMainActor() async throws {
        let library = try Library()
        let context = library.context
        let name = try await context.perform {
            let author = context.author("Ada")
            try context.save()
            return author.name
        }
        #expect(name == "Ada")
        let hasChanges = await context.perform(schedule: .enqueued) { context.hasChanges }
        #expect(!hasChanges)
    }
}
