import Dispatch
import Synchronization

/// A serial queue that is created when it is first used, and that knows its own blocks.
///
/// Dispatch needs a thread to end a queue with such knowledge; it ends the process if it can get
/// none. A coordinator that never ran a block has no queue to end.
final class CoordinatorQueue: Sendable {
    private let key = DispatchSpecificKey<Bool>()
    private let made = Mutex<DispatchQueue?>(nil)

    private var isRunning: Bool { DispatchQueue.getSpecific(key: key) == true }

    /// Runs a block and waits for it; at once in a block of the queue.
    func run<Result, Failure>(_ block: () throws(Failure) -> Result) throws(Failure) -> Result {
        if isRunning { return try block() }
        // `sync` runs the block once before it returns, on this thread.
        var outcome: Swift.Result<Result, Failure>?
        MainQueue.whileWaiting { queue.sync { outcome = Swift.Result(running: block) } }
        guard let outcome else { preconditionFailure("the coordinator's queue did not run a block") }
        return try outcome.get()
    }

    var queue: DispatchQueue {
        made.withLock { made in
            if let made { return made }
            let queue = DispatchQueue(label: "CoreData.NSPersistentStoreCoordinator")
            queue.setSpecific(key: key, value: true)
            made = queue
            return queue
        }
    }
}
