import Foundation
import Synchronization

/// Cancels the requests of a block when the task that waits for the block is cancelled.
///
/// A request that reads and can throw then throws `CancellationError`. Faults are still read, as
/// they cannot throw; completed saves stay saved.
package final class RequestCancellation: Sendable {
    private struct State {
        var isCancelled = false
        /// Interrupts the running statement.
        var endStatement: (@Sendable () -> Void)?
    }

    /// Thread-local key of the cancellation of the block that a thread runs.
    ///
    /// Not task-local: a task that the block starts is not cancelled with it.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    private static var current: RequestCancellation? {
        pthread_getspecific(key).map { Unretained<RequestCancellation>(pointer: $0).object }
    }

    /// Runs a block whose requests end when `cancel` is called.
    package func whileRunning<Value>(_ block: () throws -> Value) rethrows -> Value {
        let outer = pthread_getspecific(Self.key)
        pthread_setspecific(Self.key, Unretained(self).pointer)
        defer { pthread_setspecific(Self.key, outer) }
        return try withExtendedLifetime(self, block)
    }

    private let state = Mutex(State())

    package init() {}

    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    package func cancel() {
        // Within the lock: after `run` returns, another statement would be interrupted.
        state.withLock { state in
            state.isCancelled = true
            state.endStatement?()
        }
    }

    /// Runs a statement that `end` can interrupt from another thread.
    ///
    /// Outside a cancellable block, only runs the statement.
    ///
    /// - Throws: `CancellationError`, or what the statement throws.
    package static func run<Result>(
        ending end: @autoclosure () -> @Sendable () -> Void, _ statement: () throws -> Result
    ) throws -> Result {
        guard let current else { return try statement() }
        let end = end()
        let mayBegin = current.state.withLock { state in
            if !state.isCancelled { state.endStatement = end }
            return !state.isCancelled
        }
        guard mayBegin else { throw CancellationError() }
        defer { current.state.withLock { $0.endStatement = nil } }
        do { return try statement() } catch { throw current.isCancelled ? CancellationError() : error }
    }
}
