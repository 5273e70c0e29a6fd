import CoreData
import Synchronization
import TestSupport
import Testing

// How programs load their store without a stack of this package: a controller with a serial queue,
// and callbacks that get the context when it is ready.

/// Loads a store once, on a serial queue, and hands the context to everybody who asks.
final class StoreController: Sendable {
    typealias Callback = @Sendable (Result<NSManagedObjectContext, any Error>) -> Void

    private let container: NSPersistentContainer
    private let queue = DispatchQueue(label: "StoreController")
    private struct State {
        var loaded: Result<NSManagedObjectContext, any Error>?
        var loads = 0
    }
    /// Guards what the queue found out.
    private let state = Mutex(State())

    init(container: NSPersistentContainer) { self.container = container }

    var loads: Int { state.withLock { $0.loads } }

    /// Calls back on the controller's queue, in the order of the calls.
    func withContext(_ callback: @escaping Callback) {
        queue.async { callback(self.load()) }
    }

    private func load() -> Result<NSManagedObjectContext, any Error> {
        if let loaded = state.withLock({ $0.loaded }) { return loaded }
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = failure ?? error }
        let loaded: Result<NSManagedObjectContext, any Error> =
            if let failure { .failure(failure) } else { .success(container.newBackgroundContext()) }
        state.withLock { state in
            state.loaded = loaded
            state.loads += 1
        }
        return loaded
    }
}

/// A controller that programs write by hand.
struct StoreControllerTests {
    private func container(at url: URL) -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Shop", managedObjectModel: Shop.model())
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        return container
    }

    @Test func everyCallbackGetsTheContextInItsOrder() async throws {
        let folder = try TemporaryFolder()
        let controller = StoreController(container: container(at: folder.file("shop.sqlite")))
        let log = Log()
        await withCheckedContinuation { continuation in
            for number in 1...50 {
                controller.withContext { result in
                    guard case .success(let context) = result else { return }
                    context.performAndWait {
                        let item = ShopItem(context: context)
                        item.name = "\(number)"
                    }
                    log.add("\(number)")
                }
            }
            controller.withContext { result in
                if case .success(let context) = result {
                    context.performAndWait { #expect(throws: Never.self) { try context.save() } }
                }
                continuation.resume()
            }
        }
        #expect(log.all == (1...50).map { "\($0)" })
        #expect(controller.loads == 1)
        #expect(try itemNames(in: folder.file("shop.sqlite")).count == 50)
    }

    @Test func everyCallbackGetsTheError() async throws {
        let folder = try TemporaryFolder()
        let url = folder.file("shop.sqlite")
        try Data(repeating: 65, count: 5000).write(to: url)
        let controller = StoreController(container: container(at: url))
        let log = Log()
        await withCheckedContinuation { continuation in
            for number in 1...10 {
                controller.withContext { result in
                    if case .failure(let error) = result { log.add((error as NSError).domain) }
                    if number == 10 { continuation.resume() }
                }
            }
        }
        #expect(log.all == Array(repeating: NSCocoaErrorDomain, count: 10))
        #expect(controller.loads == 1)
    }
}
