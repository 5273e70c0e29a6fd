import Synchronization

/// Whether a context is reading the rows of its objects again.
///
/// Reads run one at a time, so that an earlier read is also merged earlier. One more read follows
/// for all notifications that arrive meanwhile.
final class RereadingTurn: Sendable {
    private struct State {
        var isReading = false
        var changed = ChangedStores()
    }

    private let state = Mutex(State())

    /// Notes that stores were changed.
    ///
    /// - Returns: Whether the caller must read.
    func begin(_ changed: ChangedStores) -> Bool {
        state.withLock { state in
            state.changed.add(changed)
            defer { state.isReading = true }
            return !state.isReading
        }
    }

    /// Returns what is to be read; nil when the turn is over.
    func next() -> ChangedStores? {
        state.withLock { state in
            state.isReading = !state.changed.isEmpty
            defer { state.changed = ChangedStores() }
            return state.isReading ? state.changed : nil
        }
    }
}
