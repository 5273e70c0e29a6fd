import Foundation

// The lock for programs that were written before queues.

extension NSPersistentStoreCoordinator {
    /// Locks the coordinator for the calling thread, for code that was written before queues. The
    /// framework itself never waits for this lock.
    public func lock() { userLock.lock() }

    /// Undoes one `lock()`.
    public func unlock() { userLock.unlock() }

    /// Locks the coordinator if no other thread has locked it.
    public func tryLock() -> Bool { userLock.try() }
}
