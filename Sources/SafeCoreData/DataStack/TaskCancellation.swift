/// Tells a request of a stack that nobody waits for it any more.
final class TaskCancellation: Sendable {
    /// Ends what the request fetches.
    let requests = RequestCancellation()

    var isCancelled: Bool { requests.isCancelled }

    func cancel() { requests.cancel() }

    func check() throws { if isCancelled { throw CancellationError() } }

    /// Runs an operation that is told here when its task is cancelled.
    ///
    /// It begins at once, on the actor of its caller: a closure that does not capture the caller's isolation would first change threads,
    /// and writes would overtake each other there.
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
