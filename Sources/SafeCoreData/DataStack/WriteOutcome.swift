import Synchronization

/// What a write that has its turn already will give, for the one task that waits for it.
final class WriteOutcome<Output: Sendable>: Sendable {
    private enum State {
        case pending
        case awaited(CheckedContinuation<Output, any Error>)
        case finished(Result<Output, any Error>)
    }

    private let state = Mutex(State.pending)

    /// Called once.
    func finish(_ result: Result<Output, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Output, any Error>? in
            defer { state = .finished(result) }
            if case .awaited(let continuation) = state { return continuation }
            return nil
        }
        continuation?.resume(with: result)
    }

    /// Called once.
    func wait() async throws -> Output {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state -> Result<Output, any Error>? in
                if case .finished(let result) = state { return result }
                state = .awaited(continuation)
                return nil
            }
            if let result { continuation.resume(with: result) }
        }
    }
}
