import Synchronization

/// Whether a context is reading the rows of its objects again.
///
/// Reads run one at a time, so that an earlier read is also merged earlier. One more read follows
/// for all notifications that arrive meanwhile.
final class RereadingTurn: Sendable {
    private enum State {
        case idle, reading, readingAndTold
    }

    private let state = Mutex(State.idle)

    /// - Returns: Whether the caller must read.
    func begin() -> Bool {
        state.withLock { state in
            defer { state = state == .idle ? .reading : .readingAndTold }
            return state == .idle
        }
    }

    /// - Returns: Whether the caller must read once more.
    func end() -> Bool {
        state.withLock { state in
            defer { state = state == .readingAndTold ? .reading : .idle }
            return state == .readingAndTold
        }
    }
}
