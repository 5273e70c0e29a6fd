import CoreData
import TestSupport
import Testing

struct AwaitingTests {
    @Test("148: awaiting perform waits for a block that gives no value") func performWaits() async throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let counter = Counter()
        let gate = DispatchSemaphore(value: 0)
        Thread.detachNewThread { gate.signal() }
        await context.perform {
            gate.wait()
            counter.increase()
        }
        #expect(counter.value == 1)
    }

    @Test("148: perform without await returns at once") func performEnqueues() {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let gate = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        context.perform {
            gate.wait()
            done.signal()
        }
        gate.signal()
        #expect(done.wait(timeout: .now() + 60) == .success)
    }
}
