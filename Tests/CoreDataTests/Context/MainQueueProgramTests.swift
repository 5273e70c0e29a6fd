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

/// Main-queue contexts in programs without a run loop: no arrangement of `perform` and
/// `performAndWait` hangs. Each test runs in a program of its own, which a signal ends after a
/// minute.
struct MainQueueProgramTests {
    private struct World: Sendable {
        let view: NSManagedObjectContext
        let background: NSManagedObjectContext

        init() throws {
            alarm(60)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
            try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
            view = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
            view.persistentStoreCoordinator = coordinator
            background = coordinator.newContext()
        }

        func expectOneAuthor() async throws {
            let names = try await view.perform { [view] in try view.names() }
            precondition(names == ["Ada"], "\(names)")
        }
    }

    @Test func anAsynchronousMainProgramAwaitsBlocksOfTheMainQueue() async {
        await #expect(processExitsWith: .success) {
            let world = try World()
            await Task { @MainActor in await world.view.perform { _ = world.view.author("Ada") } }.value
            try await world.expectOneAuthor()
            exit(0)
        }
    }

    @Test func theMainActorWaitsForBlocksOfTheMainQueue() async {
        await #expect(processExitsWith: .success) {
            let world = try World()
            await MainActor.run { world.view.performAndWait { _ = world.view.author("Ada") } }
            try await world.expectOneAuthor()
            exit(0)
        }
    }

    @Test func anotherThreadWaitsForTheMainQueueWhileTheMainProgramAwaits() async {
        await #expect(processExitsWith: .success) {
            let world = try World()
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    world.view.performAndWait { _ = world.view.author("Ada") }
                    continuation.resume()
                }
            }
            try await world.expectOneAuthor()
            exit(0)
        }
    }

    @Test func blocksOfBothContextsAreNested() async {
        await #expect(processExitsWith: .success) {
            let world = try World()
            await MainActor.run {
                world.view.performAndWait {
                    world.background.performAndWait {
                        world.view.performAndWait { _ = world.view.author("Ada") }
                    }
                }
            }
            try await world.expectOneAuthor()
            exit(0)
        }
    }

    @Test func theMainActorWaitsForAContextWhoseBlockWaitsForTheMainQueue() async {
        await #expect(processExitsWith: .success) {
            let world = try World()
            let (began, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            Thread.detachNewThread {
                world.background.performAndWait {
                    began.signal()
                    mayGoOn.wait()
                    world.view.performAndWait { _ = world.view.author("Ada") }
                }
            }
            await began.arrive()
            await MainActor.run {
                mayGoOn.signal()
                world.background.performAndWait {}
            }
            try await world.expectOneAuthor()
            exit(0)
        }
    }

    @Test func aChildOfTheMainQueuesContextSavesAndIsWaitedFor() async {
        await #expect(processExitsWith: .success) {
            let world = try World()
            let child = world.view.newChild()
            try await child.perform {
                child.author("Ada")
                try child.save()
            }
            try await MainActor.run {
                let names = try child.performAndWait { try child.names() }
                precondition(names == ["Ada"])
                try world.view.save()
            }
            try await world.expectOneAuthor()
            exit(0)
        }
    }

    /// The same in programs that are not asynchronous.
    @Test(arguments: ["dispatch", "run-loop"])
    func aProgramThatRunsItsMainQueueDoesAllOfIt(how: String) throws {
        let run = try ProgramRun(OtherProgram.url, ["main-queue", how])
        #expect(run.output == "Ada, Ida, Ina, Uma\n")
        #expect(run.status == 0)
    }

    @Test func aProgramWhoseMainThreadWaitsDoesWithoutTheMainQueue() throws {
        let run = try ProgramRun(OtherProgram.url, ["main-queue", "none"])
        #expect(run.output == "Ada, Ida\n")
        #expect(run.status == 0)
    }
}
