/// Notifies a request of a stack that its task was cancelled.
final class TaskCancellation: Sendable {
    /// Interrupts the fetches of the request.
    let requests = RequestCancellation()

    var isCancelled: Bool { requests.isCancelled }

    func cancel() { requests.cancel() }

    func check() throws { if isCancelled { throw CancellationError() } }

    /// Runs an operation and forwards the cancellation of its task to this object.
    ///
    /// The operation begins immediately, on the actor of the caller. A closure that does not
    /// capture the caller's isolation would first change threads, and writes could overtake each
    /// other there.
    func whileRunning<Output: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ operation: nonisolated(nonsending) () async throws -> Output
    ) async throws -> Output {
        try await withTaskCancellationHandler(
            operation: {
                _ = isolation
                return try await operation()
            }, onCancel: { cancel() }, isolation: isolation)
    }
}
