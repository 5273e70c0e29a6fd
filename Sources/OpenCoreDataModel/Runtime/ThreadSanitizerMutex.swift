#if THREAD_SANITIZER
    import Foundation

    /// A replacement for the `Mutex` of the Synchronization module in builds for Thread Sanitizer.
    ///
    /// On Linux that mutex waits in the kernel, which the sanitizer does not see: it reports every
    /// contended lock as a race. The sanitizer knows the mutexes of pthreads.
    package final class Mutex<Value: ~Copyable>: @unchecked Sendable {
        // Sendable: the value is reached under the lock only.
        private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        private var value: Value

        package init(_ value: consuming sending Value) {
            self.value = value
            pthread_mutex_init(lock, nil)
        }

        deinit {
            pthread_mutex_destroy(lock)
            lock.deallocate()
        }

        package func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return try body(&value)
        }

        package func _unsafeLock() { pthread_mutex_lock(lock) }

        package func _unsafeUnlock() { pthread_mutex_unlock(lock) }
    }
#endif
