import Dispatch
import Synchronization

/// A serial queue that is created when it is first used, and that knows its own blocks.
///
/// Dispatch needs a thread to end a queue with such knowledge; it ends the process if it can get
/// none. A coordinator that never ran a block has no queue to end.
final class CoordinatorQueue: Sendable {
    private let key = DispatchSpecificKey<Bool>()
    private let made = Mutex<DispatchQueue?>(nil)

    var isRunning: Bool { DispatchQueue.getSpecific(key: key) == true }

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
