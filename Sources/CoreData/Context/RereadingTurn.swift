import Synchronization

/// Whether a context is reading again what it holds. It does so once at a time, so that what was read earlier is taken over earlier,
/// and once more for all that it is told meanwhile.
final class RereadingTurn: Sendable {
    private enum State {
        case idle, reading, readingAndTold
    }

    private let state = Mutex(State.idle)

    /// - Returns: whether the caller is to read.
    func begin() -> Bool {
        state.withLock { state in
            defer { state = state == .idle ? .reading : .readingAndTold }
            return state == .idle
        }
    }

    /// - Returns: whether the caller is to read once more.
    func end() -> Bool {
        state.withLock { state in
            defer { state = state == .readingAndTold ? .reading : .idle }
            return state == .readingAndTold
        }
    }
}
