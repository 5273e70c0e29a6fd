import Foundation
import Synchronization

/// A point that threads and tasks pass only together.
final class Meeting: Sendable {
    private let size: Int
    private let condition = NSCondition()
    /// How many have come; changed under the condition.
    private let count = Mutex(0)

    init(of size: Int) { self.size = size }

    /// Waits for the others on this thread, in groups of the meeting's size.
    ///
    /// - Returns: false when they have not come in 30 seconds.
    func wait() -> Bool {
        condition.lock()
        defer { condition.unlock() }
        let number = count.withLock { count in
            count += 1
            return count
        }
        let wanted = (number + size - 1) / size * size
        condition.broadcast()
        let deadline = Date(timeIntervalSinceNow: 30)
        while count.withLock({ $0 }) < wanted {
            if !condition.wait(until: deadline) { return false }
        }
        return true
    }

    /// Waits for the others while the task's thread does other work.
    func attend() async -> Bool {
        await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: self.wait()) }.start()
        }
    }
}
